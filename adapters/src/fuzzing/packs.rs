//! Requests of every provider. The first byte of an input says whether the rest is a request as anybody could send it
//! or a body to be signed as the provider would, the second one which source it comes to.

use std::sync::{Arc, LazyLock};

use application::ports::provider::{Intake, IntakeRefusal, Provider, SignedRequest, Trust, WebhookRequest};
use application::{Envelope, TraceContext};
use bytes::Bytes;
use domain::{Effect, EventId, EventKey, SourceName, Timestamp};
use serde_json::{Map, Value, json};

use super::meaning;
use crate::providers::registry;
use crate::providers::settings::{Mode, SourceSettings, TOLERANCE};

/// When requests arrive.
const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
/// 32 characters, hexadecimal, so that it is a secret for every provider.
const SECRET: &str = "00112233445566778899aabbccddeeff";

/// What of a body its signature binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binds {
    /// Every byte.
    Body,
    /// What it means: the same may be written in other bytes.
    Meaning,
    /// Nothing.
    Nothing,
}

/// A source to which requests come.
struct Source {
    parser: &'static str,
    provider: Arc<dyn Provider>,
    /// The headers that an arbitrary request has, by lower-case name.
    headers: Vec<String>,
    binds: Binds,
}

fn settings(secrets: &[&str], options: Value) -> SourceSettings {
    let options = if let Value::Object(options) = options { options } else { Map::new() };
    SourceSettings {
        secrets: secrets.iter().map(|secret| (*secret).into()).collect(),
        tolerance: TOLERANCE,
        mode: Mode::Live,
        trust: None,
        production: true,
        options,
    }
}

/// The source of that pack, which also reads these headers.
fn source(parser: &'static str, secrets: &[&str], options: Value, further: &[&str]) -> Source {
    // A pack that speaks to its provider makes its client when it is built; the second one finds it installed.
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    let build = registry::find(parser).unwrap_or_else(|| panic!("{parser} is a pack"));
    let provider = build(&settings(secrets, options)).unwrap_or_else(|error| panic!("{parser}: {error}"));
    let described = provider.describe();
    let further = further.iter().map(|name| (*name).to_owned());
    Source {
        parser,
        headers: described.signature_headers.into_iter().chain(further).collect(),
        binds: if described.trust == Trust::Signature { Binds::Body } else { Binds::Nothing },
        provider,
    }
}

impl Source {
    fn binding_meaning(mut self) -> Self {
        self.binds = Binds::Meaning;
        self
    }

    /// A request whose headers are a line each, then a line that is its query, then its body.
    fn check_arbitrary(&self, data: &[u8]) {
        let mut lines = data.splitn(self.headers.len() + 2, |byte| *byte == b'\n');
        let headers: Vec<(String, Vec<u8>)> = self
            .headers
            .iter()
            .filter_map(|name| Some((name.clone(), lines.next().filter(|value| !value.is_empty())?.to_vec())))
            .collect();
        let query = String::from_utf8_lossy(lines.next().unwrap_or_default());
        let body = lines.next().unwrap_or_default();
        let request = WebhookRequest { body, headers: &headers, query: &query };
        let judged = self.provider.intake(&request, NOW);
        assert_eq!(judged, self.provider.intake(&request, NOW), "{}: another verdict", self.parser);
        let _answer = self.provider.challenge(&query);
        match judged {
            Ok(Intake { events, .. }) => self.check_events(&events, &headers, body),
            // Nobody can sign it by chance, so what is in it is looked at all the same.
            Err(_) => self.check_events(&[any_id()], &headers, body),
        }
    }

    /// A body that is signed, after three bytes that say which bit of it is turned over.
    fn check_signed(&self, data: &[u8]) {
        let [high, low, bit, body @ ..] = data else { return };
        let Ok(signed) = self.provider.sign(body, NOW) else {
            // Only the provider can sign it, or it is not what the provider would send.
            return self.check_events(&[any_id()], &[], body);
        };
        let SignedRequest { body, headers, query } = signed;
        let headers: Vec<(String, Vec<u8>)> =
            headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
        let request = WebhookRequest { body: &body, headers: &headers, query: &query };
        let judged = self.provider.intake(&request, NOW);
        let later = NOW.plus(TOLERANCE);
        assert_eq!(judged, self.provider.intake(&request, later), "{}: another verdict later", self.parser);
        match &judged {
            Ok(Intake { events, .. }) => self.check_events(events, &headers, &body),
            Err(IntakeRefusal::Malformed(problems)) => {
                assert!(!problems.is_empty(), "{}: refused without a problem", self.parser);
            }
            Err(other) => panic!("{}: its own signature is refused: {other:?}", self.parser),
        }
        let place = usize::from(u16::from_be_bytes([*high, *low]));
        if !body.is_empty() {
            self.check_flip(&request, judged.ok(), place % body.len(), bit % 8);
        }
    }

    /// That a request with one bit of its body turned over is refused, or says the same.
    fn check_flip(&self, request: &WebhookRequest<'_>, whole: Option<Intake>, place: usize, bit: u8) {
        let mut body = request.body.to_vec();
        body[place] ^= 1 << bit;
        let judged = self.provider.intake(&WebhookRequest { body: &body, ..*request }, NOW);
        let refused = matches!(judged, Err(IntakeRefusal::Unauthentic(_)));
        match self.binds {
            Binds::Nothing => {}
            Binds::Body => {
                assert!(refused, "{}: bit {bit} of byte {place} turned over is taken", self.parser);
            }
            Binds::Meaning => {
                if let (Ok(judged), Some(whole)) = (judged, whole) {
                    assert_eq!(judged.events, whole.events, "{}: other ids, same signature", self.parser);
                    for id in &judged.events {
                        let (before, after) =
                            (self.effect(id, request.body.to_vec()), self.effect(id, body.clone()));
                        if let (Some(before), Some(after)) = (before, after) {
                            assert_eq!(before, after, "{}: another effect, same signature", self.parser);
                        }
                    }
                }
            }
        }
    }

    /// What the event of that id changes, where it changes anything.
    fn effect(&self, id: &EventId, body: Vec<u8>) -> Option<Effect> {
        let event = self.provider.translate(&self.envelope(id, &[], body)).ok()?;
        // Adyen does not sign the mode, by which an event has an effect or none.
        Some(event.effect).filter(|effect| matches!(effect, Effect::Change(_)))
    }

    fn check_events(&self, ids: &[EventId], headers: &[(String, Vec<u8>)], body: &[u8]) {
        meaning::check_ids(self.parser, ids);
        // Each costs a translation of the whole body, so a few stand for all.
        for id in ids.iter().take(8) {
            let envelope = self.envelope(id, headers, body.to_vec());
            if let Some(event) = meaning::check(self.parser, self.provider.as_ref(), &envelope) {
                let again = self.provider.translate(&envelope).map(|again| again.fingerprint());
                assert_eq!(again, Ok(event.fingerprint()), "{}: another fingerprint", self.parser);
            }
        }
    }

    fn envelope(&self, id: &EventId, headers: &[(String, Vec<u8>)], body: Vec<u8>) -> Envelope {
        let kept = headers.iter().filter(|(name, _)| self.provider.keeps_header(name));
        let text = |value: &[u8]| std::str::from_utf8(value).ok().map(str::to_owned);
        Envelope {
            key: EventKey { source: source_name(), event_id: id.clone() },
            received_at: NOW,
            queued_at: NOW,
            content_type: None,
            headers: kept.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect(),
            trace: TraceContext::default(),
            payload: Bytes::from(body),
        }
    }
}

fn source_name() -> SourceName {
    SourceName::parse("shop").expect("a valid name")
}

fn any_id() -> EventId {
    EventId::parse("evt_1").expect("a valid id")
}

fn check(sources: &[Source], data: &[u8]) {
    let [mode, which, rest @ ..] = data else { return };
    let source = &sources[usize::from(*which) % sources.len()];
    if mode % 2 == 0 { source.check_arbitrary(rest) } else { source.check_signed(rest) }
}

/// Stripe.
pub fn stripe(data: &[u8]) {
    static SOURCES: LazyLock<[Source; 1]> = LazyLock::new(|| [source("stripe", &[SECRET], json!({}), &[])]);
    check(&*SOURCES, data);
}

/// Adyen's standard and platform webhooks, with either way to capture.
pub fn adyen(data: &[u8]) {
    static SOURCES: LazyLock<[Source; 3]> = LazyLock::new(|| {
        let standard =
            |capture: &str| source("adyen", &[SECRET], json!({ "capture": capture }), &[]).binding_meaning();
        [
            standard("automatic"),
            standard("manual"),
            source("adyen", &[SECRET], json!({ "platform": true }), &[]),
        ]
    });
    check(&*SOURCES, data);
}

/// PayPal. Nobody else can sign, so what it sends is translated as it stands.
pub fn paypal(data: &[u8]) {
    static SOURCES: LazyLock<[Source; 1]> =
        LazyLock::new(|| [source("paypal", &[], json!({ "webhook_id": "1AB23456CD789012E" }), &[])]);
    check(&*SOURCES, data);
}

/// Braintree.
pub fn braintree(data: &[u8]) {
    static SOURCES: LazyLock<[Source; 1]> = LazyLock::new(|| {
        [source("braintree", &[SECRET], json!({ "public_key": "public" }), &[]).binding_meaning()]
    });
    check(&*SOURCES, data);
}

/// The native source, signed.
pub fn native(data: &[u8]) {
    static SOURCES: LazyLock<[Source; 1]> = LazyLock::new(|| [source("native", &[SECRET], json!({}), &[])]);
    check(&*SOURCES, data);
}

/// Custom sources of several schemes.
pub fn custom(data: &[u8]) {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
        custom_sources()
            .into_iter()
            .map(|options| source("custom", &[SECRET], options, &["x-id", "x-kind"]))
            .collect()
    });
    check(&SOURCES, data);
}

fn custom_sources() -> Vec<Value> {
    let kinds = json!({
        "created": "created", "authorised": "authorised", "paid": "captured", "part": "captured_partly",
        "failed": "failed", "refunded": "refunded", "refund_failed": "refund_failed", "opened": "dispute_opened",
        "won": "dispute_won", "lost": "dispute_lost", "payout": "payout_paid",
    });
    let places = json!({
        "id": "/id", "kind": "/kind", "payment": "/payment", "amount": "/amount", "currency": "/currency",
        "merchant": "/account", "capture": "/capture", "refund": "/refund", "dispute": "/list/0/dispute",
        "occurred_at": "/at", "kinds": kinds,
    });
    let with = |further: Value| {
        let mut all = places.clone();
        for (name, value) in further.as_object().into_iter().flatten() {
            all[name] = value.clone();
        }
        all
    };
    vec![
        with(json!({
            "algorithm": "hmac-sha256", "signature_header": "X-Sig", "signature_prefix": "sha256=",
            "amount_unit": "major", "time_format": "rfc3339",
        })),
        with(json!({
            "algorithm": "hmac-sha512", "signature_header": "X-Sig", "signature_separator": ",",
            "signature_prefix": "v1=", "timestamp_header": "X-Sig", "timestamp_prefix": "t=",
            "signed": "{timestamp}.{body}", "encoding": "base64", "amount_unit": "minor", "time_format": "unix-ms",
        })),
        with(json!({
            "algorithm": "hmac-sha1", "signature_header": "X-Sig", "signed": "{id}|{header:X-Kind}|{body}",
            "id": "header:X-Id", "kind": ["header:X-Kind", "/kind"], "amount_unit": "minor", "time_format": "unix",
        })),
        with(json!({
            "algorithm": "token", "signature_header": "X-Sig", "amount_unit": "major", "time_format": "unix",
        })),
    ]
}

/// A custom source of options that somebody has written, a line of JSON, and a body for it.
pub fn custom_options(data: &[u8]) {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (options, body) = (&data[..end], &data[end + 1..]);
    let Ok(options) = serde_json::from_slice::<Map<String, Value>>(options) else { return };
    let build = registry::find("custom").expect("a pack");
    let mut all = json!({
        "algorithm": "hmac-sha256", "signature_header": "X-Sig", "id": "/id", "kind": "/kind",
    });
    for (name, value) in options {
        all[name] = value;
    }
    let Ok(provider) = build(&settings(&[SECRET], all)) else { return };
    let Ok(SignedRequest { body, headers, query }) = provider.sign(body, NOW) else { return };
    let headers: Vec<(String, Vec<u8>)> =
        headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    let source = Source { parser: "custom", headers: Vec::new(), binds: Binds::Nothing, provider };
    let request = WebhookRequest { body: &body, headers: &headers, query: &query };
    if let Ok(Intake { events, .. }) = source.provider.intake(&request, NOW) {
        source.check_events(&events, &headers, &body);
    }
}

/// All the others, by the second byte.
pub fn others(data: &[u8]) {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
        let key = &[SECRET][..];
        let square = json!({ "notification_url": "https://example.com/webhooks/square" });
        let request_id = json!({ "scheme": "classic", "request_id_header": "x-request-id" });
        vec![
            source("chapa", key, json!({}), &["chapa-signature"]),
            source("chapa", key, json!({ "custom_webhook": true }), &[]),
            source("checkout", key, json!({}), &[]),
            source("coinbase-commerce", key, json!({}), &[]),
            source("flutterwave", key, json!({ "scheme": "v3" }), &[]),
            source("flutterwave", key, json!({ "scheme": "v4" }), &[]),
            source("github", key, json!({}), &["x-github-delivery", "x-github-event"]),
            source("gocardless", key, json!({}), &[]),
            source("mercado-pago", key, json!({}), &[]),
            source("mollie", &[], request_id, &["x-request-id"]),
            source("mollie", key, json!({ "scheme": "next-gen", "counts": "payments" }), &[]),
            source("mpesa", key, json!({}), &[]),
            source("paystack", key, json!({}), &[]),
            source("razorpay", key, json!({}), &["x-razorpay-event-id"]),
            source(
                "shopify",
                key,
                json!({}),
                &["x-shopify-event-id", "x-shopify-topic", "x-shopify-shop-domain"],
            ),
            source("square", key, square, &[]),
            source("standard-webhooks", key, json!({}), &["svix-id", "svix-timestamp", "svix-signature"]),
            source("xendit", key, json!({}), &[]),
        ]
    });
    check(&SOURCES, data);
}
