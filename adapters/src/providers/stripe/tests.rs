use application::testing::envelope;
use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{
    NOW, headers, ids, never_panics, refuses_every_flip, settings, translated, verdict_at,
};

mod accounts;
mod amounts;
mod meaning;
mod signed;

const SECRET: &str = "whsec_0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/// A payment intent that is paid, in the shape of 2025.
const SUCCEEDED: &str = r#"{"id":"evt_1","object":"event","api_version":"2025-03-31.basil","created":1746093600,"data":{"object":{"id":"pi_1","object":"payment_intent","amount":2000,"amount_capturable":0,"amount_received":2000,"currency":"usd","last_payment_error":null,"latest_charge":"ch_1","livemode":true,"metadata":{"id":"m","amount_received":"1"},"status":"succeeded"}},"livemode":true,"pending_webhooks":1,"request":{"id":"req_1","idempotency_key":null},"type":"payment_intent.succeeded"}"#;

fn pack(secrets: &[&str]) -> Stripe {
    Stripe::of(&settings(secrets, &[])).unwrap()
}

/// A live event `evt_1` of that type about that object.
fn event(kind: &str, object: &str) -> String {
    format!(
        r#"{{"id":"evt_1","object":"event","created":1746093600,"data":{{"object":{object}}},"livemode":true,"type":"{kind}"}}"#
    )
}

/// The payment and the facts that an event of that type about that object tells, each with its key and its
/// amount; `None` where it has no effect.
fn told(kind: &str, object: &str) -> Option<(String, Vec<String>)> {
    told_by(&event(kind, object))
}

/// [`told`], by the whole event.
fn told_by(payload: &str) -> Option<(String, Vec<String>)> {
    match translated(&pack(&[SECRET]), payload).effect {
        Effect::Change(_) => Some(crate::providers::harness::told(&pack(&[SECRET]), payload)),
        Effect::Nothing(reason) => {
            assert_eq!(reason, NoEffect::Kind);
            None
        }
    }
}

/// What [`told`] gives for these: nothing where there is no fact.
fn that(payment: &str, facts: &[&str]) -> Option<(String, Vec<String>)> {
    let told = || (payment.to_owned(), facts.iter().map(|fact| (*fact).to_owned()).collect());
    (!facts.is_empty()).then(told)
}

#[test]
fn the_id_is_the_events_own() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    assert_eq!(ids(&*provider, SUCCEEDED, &[]), Ok(vec!["evt_1".to_owned()]));
    let odd = r#"{"x":"\ud83d\u0000","\udc00":1e999,"id":"evt\u005f1","data":[],"object":"event","object":"event"}"#;
    assert_eq!(ids(&*provider, odd, &[]), Ok(vec!["evt_1".to_owned()]));
}

#[test]
fn an_event_without_a_usable_id_is_told_with_its_place() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    for (body, pointer, code) in [
        ("", "", "not_json"),
        ("{", "", "not_json"),
        ("{}{}", "", "not_json"),
        ("[]", "", "wrong_type"),
        ("7", "", "wrong_type"),
        ("{}", "/id", "missing"),
        (r#"{"id":null}"#, "/id", "missing"),
        (r#"{"id":7}"#, "/id", "wrong_type"),
        (r#"{"id":""}"#, "/id", "invalid"),
        (r#"{"id":"","account":"acct_1"}"#, "/id", "invalid"),
        (r#"{"id":"a\nb"}"#, "/id", "invalid"),
        (r#"{"id":"\ud83d"}"#, "/id", "invalid"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Err(vec![(pointer.to_owned(), code)]), "{body}");
    }
}

#[test]
fn a_redelivery_with_another_count_means_the_same() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    let again = SUCCEEDED.replace("\"pending_webhooks\":1", "\"pending_webhooks\":2");
    let fingerprint = |payload: &str| {
        let event = provider.translate(&envelope("evt_1", payload.to_owned())).unwrap();
        event.fingerprint()
    };
    assert_eq!(fingerprint(SUCCEEDED), fingerprint(&again));
    assert_ne!(
        fingerprint(SUCCEEDED),
        fingerprint(&SUCCEEDED.replace("\"amount_received\":2000", "\"amount_received\":2001"))
    );
}

#[test]
fn a_payload_is_translated_only_under_its_own_id() {
    assert!(pack(&[SECRET]).translate(&envelope("evt_2", SUCCEEDED)).is_err());
}

#[test]
fn a_secret_is_needed_and_there_are_no_options() {
    assert!(build(&settings(&[], &[])).is_err());
    assert!(build(&settings(&[SECRET, " "], &[])).is_err());
    assert!(build(&settings(&[SECRET], &[("account", "acct_1".into())])).is_err());
}

#[test]
fn nothing_that_comes_makes_it_panic() {
    let refunded = event(
        "charge.refunded",
        r#"{"id":"ch_1","amount":2000,"amount_captured":1500,"amount_refunded":700,"captured":true,"currency":"usd"}"#,
    );
    let failed = event(
        "payment_intent.payment_failed",
        r#"{"id":"pi_1","last_payment_error":{"charge":"ch_1"},"charges":{"data":[{"id":"ch_1"}]}}"#,
    );
    never_panics(&pack(&[SECRET]), &[signature::HEADER], &[SUCCEEDED, &refunded, &failed]);
}
