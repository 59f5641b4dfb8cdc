//! What every payload of `fixtures/payloads` becomes, as a table that is reviewed: `fixtures/translations.txt`.
//! After a change on purpose: run this test with `PAYONCE_WRITE_TRANSLATIONS=1`, and read the difference.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use application::Envelope;
use application::ports::provider::{IntakeRefusal, Provider, SignedRequest, Trust, WebhookRequest};
use application::testing::dead_letters::letter;
use application::testing::envelope;
use domain::{Effect, EventId, NoEffect, PaymentChange, PaymentEvent};
use serde_json::{Value, json};

use super::harness::{NOW, settings};
use super::registry;
use super::settings::Mode;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
/// 32 characters, hexadecimal, so that it is a secret for every provider.
const SECRET: &str = "00112233445566778899aabbccddeeff";

const NATIVE: &str = r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"payment_intent":"pi_1","amount_cents":4999,"currency":"usd","status":"succeeded"}}"#;

/// The source that takes a fixture, by the start of its path.
fn source_of(path: &str, mode: Mode) -> Arc<dyn Provider> {
    let (provider, options): (&str, Vec<(&str, Value)>) = match path {
        path if path.starts_with("adyen/platform/") => ("adyen", vec![("platform", json!(true))]),
        path if path.starts_with("flutterwave/v4/") => ("flutterwave", vec![("scheme", json!("v4"))]),
        path if path.starts_with("flutterwave/") => ("flutterwave", vec![("scheme", json!("v3"))]),
        path if path.starts_with("mollie/next-gen") => ("mollie", vec![("scheme", json!("next-gen"))]),
        path if path.starts_with("mollie/") => ("mollie", vec![("scheme", json!("classic"))]),
        path if path.starts_with("paypal/") => ("paypal", vec![("webhook_id", json!("1AB23456CD789012E"))]),
        path if path.starts_with("square/") => {
            ("square", vec![("notification_url", json!("https://example.com/webhooks/square"))])
        }
        path => (path.split('/').next().expect("a path has a first part"), Vec::new()),
    };
    let unsigned = provider == "paypal" || (provider == "mollie" && !path.starts_with("mollie/next-gen"));
    let secrets: &[&str] = if unsigned { &[] } else { &[SECRET] };
    let mut settings = settings(secrets, &options);
    settings.mode = mode;
    let build = registry::find(provider).unwrap_or_else(|| panic!("{provider} is a pack"));
    build(&settings).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every fixture's path below `fixtures/payloads`, sorted.
fn fixtures() -> Vec<String> {
    let root = Path::new(FIXTURES).join("payloads");
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the fixtures are there") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let below = path.strip_prefix(&root).expect("below the root");
                found.push(below.to_str().expect("a plain name").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The fixture as a request of its provider, and the ids of its events.
fn request(source: &dyn Provider, body: &[u8]) -> (Result<Vec<EventId>, IntakeRefusal>, SignedRequest) {
    let Ok(signed) = source.sign(body, NOW) else {
        // Only the provider can sign it; its event id is the body's.
        let id = serde_json::from_slice::<Value>(body).expect("it is JSON")["id"].clone();
        let id = EventId::parse(id.as_str().expect("it has an id")).expect("a valid id");
        return (Ok(vec![id]), SignedRequest { body: body.to_vec(), headers: vec![], query: String::new() });
    };
    let headers: Vec<_> =
        signed.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
    let request = WebhookRequest { body: &signed.body, headers: &headers, query: &signed.query };
    (source.intake(&request, NOW).map(|intake| intake.events), signed)
}

fn told(path: &str) -> String {
    let body = std::fs::read(Path::new(FIXTURES).join("payloads").join(path)).expect("a readable file");
    let source = source_of(path, Mode::Live);
    let (ids, signed) = request(source.as_ref(), &body);
    let mut text = format!("{path}\n");
    match ids {
        Ok(ids) if ids.is_empty() => text.push_str("  no event\n"),
        Ok(ids) => ids.iter().for_each(|id| text.push_str(&told_of(path, &signed, id))),
        Err(IntakeRefusal::Malformed(problems)) => {
            for problem in problems {
                writeln!(text, "  refused: {:?} {}", problem.pointer, problem.code).expect("it is a String");
            }
        }
        Err(other) => panic!("{path}: {other:?}"),
    }
    text
}

fn told_of(path: &str, signed: &SignedRequest, id: &EventId) -> String {
    let mut sent: Envelope = envelope(id.as_str(), signed.body.clone());
    sent.headers.clone_from(&signed.headers);
    let live = source_of(path, Mode::Live).translate(&sent);
    let (mode, translated) = match live {
        Ok(PaymentEvent { effect: Effect::Nothing(NoEffect::OtherMode), .. }) => {
            ("test", source_of(path, Mode::Test).translate(&sent))
        }
        live => ("live", live),
    };
    let mut text = format!("  {id}\n");
    match translated {
        Err(error) => writeln!(text, "    dead letter: {}", error.0).expect("it is a String"),
        Ok(event) => {
            let at = event.occurred_at.map_or("-".to_owned(), |at| at.as_secs().to_string());
            writeln!(text, "    {} ({mode}, at {at})", event.kind).expect("it is a String");
            text.push_str(&told_effect(&event));
        }
    }
    text
}

fn told_effect(event: &PaymentEvent) -> String {
    match &event.effect {
        Effect::Nothing(reason) => format!("    recorded: {reason:?}\n"),
        Effect::Change(PaymentChange { payment, merchant, facts }) => {
            let of = merchant.as_ref().map_or(String::new(), |merchant| format!(" of {merchant}"));
            let mut text = format!("    {payment}{of}\n");
            for fact in facts {
                let amount = fact.amount().map_or(String::new(), |amount| {
                    format!(" {} {}", amount.minor_units(), amount.currency())
                });
                let key = fact.key(event.occurred_at);
                let name = fact.announced_as().unwrap_or("-");
                writeln!(text, "      {key}{amount} ({name})").expect("it is a String");
            }
            text
        }
    }
}

#[test]
fn every_payload_becomes_what_the_reviewed_table_says() {
    let found: String = fixtures().iter().map(|path| told(path)).collect();
    let table = PathBuf::from(FIXTURES).join("translations.txt");
    if std::env::var_os("PAYONCE_WRITE_TRANSLATIONS").is_some() {
        std::fs::write(&table, &found).expect("the table can be written");
    }
    let reviewed = std::fs::read_to_string(&table).expect("the table is there");
    for (found, reviewed) in found.lines().zip(reviewed.lines()) {
        assert_eq!(found, reviewed);
    }
    assert_eq!(found.lines().count(), reviewed.lines().count());
}

/// The age of a signature is judged once, on arrival: neither the worker nor whoever replays a dead letter judges it
/// again.
#[test]
fn what_is_given_up_and_replayed_a_week_later_means_what_it_meant() {
    for path in fixtures() {
        let body = std::fs::read(Path::new(FIXTURES).join("payloads").join(&path)).expect("a readable file");
        let source = source_of(&path, Mode::Live);
        let (Ok(ids), signed) = request(source.as_ref(), &body) else { continue };
        for id in ids {
            let mut sent = envelope(id.as_str(), signed.body.clone());
            sent.headers.clone_from(&signed.headers);
            let mut given_up = letter(1, id.as_str());
            given_up.summary.key = Some(sent.key.clone());
            given_up.summary.received_at = Some(sent.received_at);
            given_up.summary.cause.dead_lettered_at = NOW.plus(Duration::from_hours(7 * 24));
            given_up.content.payload = sent.payload.clone();
            given_up.content.headers.clone_from(&sent.headers);
            given_up.content.content_type.clone_from(&sent.content_type);
            let replayed_at = NOW.plus(Duration::from_hours(7 * 24));
            let replayed = given_up.to_envelope(replayed_at).expect("it can be read");
            sent.queued_at = replayed_at;
            assert_eq!(replayed, sent, "{path}");
            assert_eq!(source.translate(&replayed), source.translate(&sent), "{path}");
        }
    }
}

#[test]
fn what_signs_its_time_would_be_refused_a_week_later() {
    for (provider, body) in
        [("stripe", "{\"id\":\"evt_1\"}"), ("native", NATIVE), ("standard-webhooks", "{}")]
    {
        let build = registry::find(provider).expect("a pack");
        let source = build(&settings(&[SECRET], &[])).expect("it can be set up");
        let signed = source.sign(body.as_bytes(), NOW).expect("it is signed");
        let headers: Vec<_> =
            signed.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
        let request = WebhookRequest { body: &signed.body, headers: &headers, query: &signed.query };
        let judged = source.intake(&request, NOW.plus(Duration::from_hours(7 * 24)));
        assert_eq!(judged, Err(IntakeRefusal::Unauthentic("signature_too_old")), "{provider}");
    }
}

/// Where the signature binds the body, the same values in other bytes are refused.
#[test]
fn what_is_written_anew_is_refused() {
    let mut tried = std::collections::BTreeSet::new();
    for path in fixtures() {
        let source = source_of(&path, Mode::Live);
        let binds_bytes = source.describe().trust == Trust::Signature
            && (!path.starts_with("adyen/") || path.starts_with("adyen/platform/"));
        let body = std::fs::read(Path::new(FIXTURES).join("payloads").join(&path)).expect("a readable file");
        let (Ok(value), Ok(signed)) = (serde_json::from_slice::<Value>(&body), source.sign(&body, NOW))
        else {
            continue;
        };
        let mut again = serde_json::to_vec(&value).expect("it is JSON");
        if again == signed.body {
            again = serde_json::to_vec_pretty(&value).expect("it is JSON");
        }
        if !binds_bytes || again == signed.body {
            continue;
        }
        let headers: Vec<_> =
            signed.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
        let request = WebhookRequest { body: &again, headers: &headers, query: &signed.query };
        let judged = source.intake(&request, NOW);
        assert!(matches!(judged, Err(IntakeRefusal::Unauthentic(_))), "{path}: {judged:?}");
        tried.insert(source.describe().provider);
    }
    assert!(tried.len() >= 11, "{tried:?}");
}
