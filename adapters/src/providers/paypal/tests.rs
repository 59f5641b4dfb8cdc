use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use url::Url;

use super::fetch::FetchError;
use super::*;
use crate::providers::harness;
use crate::providers::moment::rfc3339_text;

mod known;
mod meaning;
mod set_up;

use known::Known;

/// Certificates without a network.
#[derive(Default)]
pub struct Stub {
    pub answers: HashMap<String, Result<Vec<u8>, FetchError>>,
    pub fetches: AtomicUsize,
}

#[async_trait]
impl CertificateSource for Stub {
    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        // Whoever else wants the same gets a chance to want it at the same time.
        tokio::task::yield_now().await;
        self.answers.get(url.as_str()).cloned().unwrap_or(Err(FetchError::Status(404)))
    }
}

impl Stub {
    /// The only certificate that there is.
    pub fn of(url: &str, pem: &[u8]) -> Arc<Self> {
        Arc::new(Self { answers: HashMap::from([(url.to_owned(), Ok(pem.to_vec()))]), ..Self::default() })
    }
}

fn settings(webhook_id: &str, further: &[(&str, Value)]) -> SourceSettings {
    let options: Vec<_> = [("webhook_id", json!(webhook_id))].into_iter().chain(further.to_vec()).collect();
    SourceSettings { production: false, ..harness::settings(&[], &options) }
}

/// A source of that webhook id, in the mode of the transmission, for which its certificate is to be had.
fn source(known: &Known, webhook_id: &str) -> (PayPal, Arc<Stub>) {
    let mode = if known.url.contains("sandbox") { Mode::Test } else { Mode::Live };
    let settings = SourceSettings { mode, ..settings(webhook_id, &[("allow_simulator", json!(true))]) };
    let stub = Stub::of(known.url, known.certificate);
    (pack(&settings, stub.clone()).unwrap(), stub)
}

fn headers(known: &Known) -> Vec<(String, Vec<u8>)> {
    let values = [known.id, known.time, known.signature, known.url, "SHA256withRSA"];
    transmission::HEADERS.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value.into())).collect()
}

fn sent_at(known: &Known) -> Timestamp {
    rfc3339_text(known.time).unwrap()
}

fn with_header(headers: &[(String, Vec<u8>)], name: &str, value: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut changed = headers.to_vec();
    changed.iter_mut().filter(|(other, _)| other == name).for_each(|(_, old)| *old = value.to_vec());
    assert_ne!(changed, headers, "{name}");
    changed
}

/// What the source says of a request, as the receiver asks it.
async fn verdict(
    paypal: &PayPal,
    headers: &[(String, Vec<u8>)],
    body: &[u8],
    now: Timestamp,
) -> Result<Option<usize>, String> {
    let request = WebhookRequest { body, headers, query: "" };
    match paypal.prepare(&request, now).await {
        Ok(()) => paypal.verify(&request, now).map_err(str::to_owned),
        Err(IntakeRefusal::Unauthentic(reason)) => Err(reason.to_owned()),
        Err(IntakeRefusal::Undecided(why)) => Err(format!("undecided: {why}")),
        Err(IntakeRefusal::Malformed(problems)) => panic!("{problems:?}"),
    }
}

#[tokio::test]
async fn known_transmissions_verify() {
    for known in [
        known::SALE_2015,
        known::OTHER_SALE_2015,
        known::SALE_2016,
        known::PLAN_2017,
        known::SIM_2024_PENDING,
        known::SIM_2024_COMPLETED,
        known::SIM_2024_REFUNDED,
        known::SIM_2024_REVERSED,
        known::SIM_2024_DECLINED,
    ] {
        let (paypal, _) = source(&known, known.webhook_id);
        let told = verdict(&paypal, &headers(&known), known.body, sent_at(&known)).await;
        assert_eq!(told, Ok(None), "{}", known.id);
    }
}

#[tokio::test]
async fn the_webhook_id_is_the_sources_own() {
    for known in [known::SALE_2015, known::PLAN_2017, known::SIM_2024_COMPLETED] {
        let (paypal, _) = source(&known, "1JE4291016473214C");
        let told = verdict(&paypal, &headers(&known), known.body, sent_at(&known)).await;
        assert_eq!(told, Err("wrong_signature".to_owned()));
    }
}

#[tokio::test]
async fn another_body_is_refused() {
    let known = known::PLAN_2017;
    let (paypal, _) = source(&known, known.webhook_id);
    for body in [&include_bytes!("fixtures/known/2017-invalid.json")[..], b"", known::SALE_2016.body] {
        let told = verdict(&paypal, &headers(&known), body, sent_at(&known)).await;
        assert_eq!(told, Err("wrong_signature".to_owned()));
    }
}

#[tokio::test]
async fn a_forged_body_under_a_genuine_transmission_is_refused_once_that_has_come() {
    let (genuine, forged) = (known::SALE_2015, known::FORGED_2015);
    let (paypal, _) = source(&genuine, genuine.webhook_id);
    let (headers, now) = (headers(&genuine), sent_at(&genuine));
    for _ in 0..2 {
        assert_eq!(verdict(&paypal, &headers, genuine.body, now).await, Ok(None));
        let told = verdict(&paypal, &headers, forged.body, now).await;
        assert_eq!(told, Err("transmission_id_reused".to_owned()));
    }
    // What is not signed is not remembered: it would keep the genuine one out.
    let (paypal, _) = source(&genuine, genuine.webhook_id);
    assert!(verdict(&paypal, &headers, b"{}", now).await.is_err());
    assert_eq!(verdict(&paypal, &headers, genuine.body, now).await, Ok(None));
}

#[tokio::test]
async fn a_certificate_that_anybody_could_name_is_not_fetched() {
    let known = known::SALE_2015;
    let (paypal, stub) = source(&known, known.webhook_id);
    for url in [
        "https://api.paypal.com@evil.example/v1/notifications/certs/CERT-1",
        "http://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77",
        "https://169.254.169.254/latest/meta-data",
        "not a URL",
    ] {
        let headers = with_header(&headers(&known), "paypal-cert-url", url.as_bytes());
        let told = verdict(&paypal, &headers, known.body, sent_at(&known)).await.unwrap_err();
        // White space in a header is no URL at all.
        assert!(["untrusted_certificate", "malformed_signature"].contains(&told.as_str()), "{told}");
    }
    assert_eq!(stub.fetches.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_certificate_of_the_other_mode_is_not_trusted() {
    let known = known::SALE_2015;
    let stub = Stub::of(known.url, known.certificate);
    let live = pack(&settings(known.webhook_id, &[]), stub).unwrap();
    let told = verdict(&live, &headers(&known), known.body, sent_at(&known)).await;
    assert_eq!(told, Err("untrusted_certificate".to_owned()));
}

#[tokio::test]
async fn the_sender_shall_send_again_when_the_certificate_cannot_be_had() {
    let known = known::SALE_2015;
    let (paypal, stub) =
        source(&Known { url: "https://api.sandbox.paypal.com/other", ..known }, known.webhook_id);
    let (headers, now) = (headers(&known), sent_at(&known));
    let told = verdict(&paypal, &headers, known.body, now).await.unwrap_err();
    assert_eq!(told, "undecided: PayPal's certificate cannot be had: the answer has status 404");
    // Nothing was fetched for it, so nothing is known of it.
    let unknown = source(&known, known.webhook_id)
        .0
        .verify(&WebhookRequest { body: known.body, headers: &headers, query: "" }, now);
    assert_eq!(unknown, Err("unknown_certificate"));
    assert_eq!(stub.fetches.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_transmission_is_taken_for_four_days_and_not_from_the_future() {
    let known = known::SALE_2015;
    let sent = sent_at(&known).as_secs();
    for (now, expected) in [
        (sent + 4 * 86_400, Ok(None)),
        (sent + 4 * 86_400 + 1, Err("signature_too_old".to_owned())),
        (sent - 300, Ok(None)),
        (sent - 301, Err("signature_too_new".to_owned())),
    ] {
        let (paypal, stub) = source(&known, known.webhook_id);
        let now = Timestamp::from_micros(now * 1_000_000);
        assert_eq!(verdict(&paypal, &headers(&known), known.body, now).await, expected);
        // What is refused anyway costs no fetch.
        assert_eq!(stub.fetches.load(Ordering::SeqCst), usize::from(expected.is_ok()));
    }
}

#[tokio::test]
async fn an_odd_header_is_refused_with_its_reason() {
    let known = known::SALE_2015;
    let (paypal, stub) = source(&known, known.webhook_id);
    let (good, now) = (headers(&known), sent_at(&known));
    for name in transmission::HEADERS {
        let without: Vec<_> = good.iter().filter(|(other, _)| other != name).cloned().collect();
        assert_eq!(verdict(&paypal, &without, known.body, now).await, Err("missing_signature".to_owned()));
        let twice: Vec<_> =
            good.iter().chain(good.iter().filter(|(other, _)| other == name)).cloned().collect();
        assert_eq!(verdict(&paypal, &twice, known.body, now).await, Err("malformed_signature".to_owned()));
        for odd in [&b""[..], b"\xff\xfe", b"a b", "\u{e9}".as_bytes(), &[b'a'; 5_000]] {
            let odd = with_header(&good, name, odd);
            assert_eq!(verdict(&paypal, &odd, known.body, now).await, Err("malformed_signature".to_owned()));
        }
    }
    for (name, value, reason) in [
        ("paypal-auth-algo", "SHA1withRSA", "no_known_signature"),
        ("paypal-auth-algo", "none", "no_known_signature"),
        ("paypal-transmission-time", "2015-19-18T15:45:13Z", "malformed_signature"),
        ("paypal-transmission-time", "1431963913", "malformed_signature"),
        ("paypal-transmission-sig", "AAAA====", "malformed_signature"),
        ("paypal-transmission-sig", "AAAA", "wrong_signature"),
        ("paypal-transmission-id", "other", "wrong_signature"),
    ] {
        let headers = with_header(&good, name, value.as_bytes());
        assert_eq!(verdict(&paypal, &headers, known.body, now).await, Err(reason.to_owned()), "{value}");
    }
    assert_eq!(stub.fetches.load(Ordering::SeqCst), 1);
}

#[test]
fn every_changed_bit_is_refused() {
    let known = known::SALE_2016;
    let (paypal, _) = source(&known, known.webhook_id);
    let (good, now) = (headers(&known), sent_at(&known));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (wrong, body) = (with_header(&good, "paypal-transmission-sig", b"AAAA"), known.body);
    // So that the certificate is known.
    assert!(runtime.block_on(verdict(&paypal, &wrong, body, now)).is_err());
    proptest!(|(header in 0_usize..4, place: Index, bit in 0_u32..8)| {
        let mut body = body.to_vec();
        let at = place.index(body.len());
        body[at] ^= 1 << bit;
        let request = WebhookRequest { body: &body, headers: &good, query: "" };
        prop_assert_eq!(paypal.verify(&request, now), Err("wrong_signature"));

        let mut headers = good.clone();
        let value = &mut headers[header].1;
        let at = place.index(value.len());
        value[at] ^= 1 << bit;
        // The case of a host does not matter.
        prop_assume!(!(header == 3 && value.eq_ignore_ascii_case(&good[3].1)));
        let request = WebhookRequest { body: known.body, headers: &headers, query: "" };
        prop_assert!(paypal.verify(&request, now).is_err());
    });
}
