//! What a Stripe event costs: verifying and identifying it, as the receiver does, and translating it, as the
//! worker does.
//!
//! `cargo bench -p adapters --bench stripe_event` prints the median of many batches in microseconds. Without
//! `--bench`, as when all targets are tested, it judges one event and measures nothing.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use adapters::providers::settings::{Mode, SourceSettings, TOLERANCE};
use adapters::providers::stripe;
use application::Envelope;
use application::envelope::TraceContext;
use application::ports::provider::{Provider, WebhookRequest};
use domain::{EventKey, SourceName, Timestamp};

/// How many events make a batch: enough that the clock's own cost does not show.
const BATCH: u32 = 500;

/// How many batches are run; the median of them is what is told.
const BATCHES: usize = 201;

/// About how large an event's body is, in bytes.
const BODY_BYTES: usize = 4_096;

/// When the request arrives.
const NOW: Timestamp = Timestamp::from_micros(1_746_093_600_000_000);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = SourceSettings {
        secrets: vec!["whsec_0f1e2d3c4b5a69788796a5b4c3d2e1f0".into()],
        tolerance: TOLERANCE,
        mode: Mode::Live,
        trust: None,
        production: true,
        options: serde_json::Map::new(),
    };
    let provider = stripe::build(&settings)?;
    let body = body();
    let headers: Vec<(String, Vec<u8>)> = provider
        .sign(body.as_bytes(), NOW)?
        .headers
        .into_iter()
        .map(|(name, value)| (name, value.into_bytes()))
        .collect();
    let request = WebhookRequest { body: body.as_bytes(), headers: &headers, query: "" };
    let intake = provider.intake(&request, NOW).map_err(|refusal| format!("{refusal:?}"))?;
    let id = intake.events.into_iter().next().ok_or("the request has no event")?;
    let envelope = Envelope {
        key: EventKey { source: SourceName::parse("stripe")?, event_id: id },
        received_at: NOW,
        queued_at: NOW,
        content_type: None,
        headers: Vec::new(),
        trace: TraceContext::default(),
        payload: body.clone().into(),
    };
    let event = provider.translate(&envelope)?;
    if event.change().is_none() {
        return Err("the event changes nothing".into());
    }
    if std::env::args().any(|argument| argument == "--bench") {
        report(&*provider, &request, &envelope);
    }
    Ok(())
}

fn report(provider: &dyn Provider, request: &WebhookRequest<'_>, envelope: &Envelope) {
    let received = median(|| drop(black_box(provider.intake(black_box(request), NOW))));
    let translated = median(|| drop(black_box(provider.translate(black_box(envelope)))));
    let bytes = request.body.len();
    println!("a Stripe event of {bytes} bytes, median of {BATCHES} batches of {BATCH}:");
    println!("  verify and identify {:>7.2} µs", micros(received));
    println!("  translate           {:>7.2} µs", micros(translated));
    println!("  together            {:>7.2} µs", micros(received + translated));
}

/// The median time of one call.
fn median(call: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            (0..BATCH).for_each(|_| call());
            start.elapsed() / BATCH
        })
        .collect();
    times.sort_unstable();
    times.get(BATCHES / 2).copied().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000_000.0
}

/// A charge that succeeded, dense as Stripe's are: many short members, most of them null, and some metadata.
fn body() -> String {
    let nulls = [
        "application",
        "application_fee",
        "application_fee_amount",
        "calculated_statement_descriptor",
        "customer",
        "description",
        "destination",
        "dispute",
        "failure_balance_transaction",
        "failure_code",
        "failure_message",
        "invoice",
        "on_behalf_of",
        "order",
        "receipt_email",
        "receipt_number",
        "review",
        "shipping",
        "source",
        "source_transfer",
        "statement_descriptor",
        "statement_descriptor_suffix",
        "transfer_data",
        "transfer_group",
    ]
    .iter()
    .map(|name| format!("\"{name}\":null,"))
    .collect::<Vec<_>>()
    .concat();
    let card = r#"{"brand":"visa","checks":{"address_line1_check":null,"address_postal_code_check":"pass","cvc_check":"pass"},"country":"US","exp_month":3,"exp_year":2031,"fingerprint":"Xt5EWLLDS7FJjR1c","funding":"credit","installments":null,"last4":"4242","mandate":null,"network":"visa","three_d_secure":null,"wallet":null}"#;
    let head = format!(
        r#"{{"id":"evt_3RBench","object":"event","api_version":"2025-03-31.basil","created":1746093600,"data":{{"object":{{"id":"ch_3RBench","object":"charge","amount":2000,"amount_captured":2000,"amount_refunded":0,{nulls}"balance_transaction":"txn_3RBench","billing_details":{{"address":{{"city":"Paris","country":"FR","line1":"1 rue du Bac","line2":null,"postal_code":"75007","state":null}},"email":"payer@example.com","name":"A Payer","phone":null}},"captured":true,"created":1746093599,"currency":"usd","disputed":false,"fraud_details":{{}},"livemode":true,"outcome":{{"network_status":"approved_by_network","reason":null,"risk_level":"normal","risk_score":2,"seller_message":"Payment complete.","type":"authorized"}},"paid":true,"payment_intent":"pi_3RBench","payment_method":"pm_1RBench","payment_method_details":{{"card":{card},"type":"card"}},"refunded":false,"status":"succeeded","metadata":{{"#
    );
    let tail = r#"}}},"livemode":true,"pending_webhooks":1,"request":{"id":"req_Bench","idempotency_key":"9a1e8a5b-0f1c-4f3f-8f52-0f3b2f6f7a10"},"type":"charge.succeeded"}"#;
    let mut metadata = String::from(r#""order":"6735""#);
    let mut place = 0_u32;
    while head.len() + metadata.len() + tail.len() < BODY_BYTES {
        // Writing to a String never fails.
        write!(metadata, r#","key_{place}":"value {place}""#).ok();
        place += 1;
    }
    format!("{head}{metadata}{tail}")
}
