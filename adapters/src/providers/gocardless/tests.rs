use application::testing::envelope;
use domain::{Effect, Fact, NoEffect, PaymentChange, Progress};

use super::*;
use crate::providers::harness::{self, NOW, headers, never_panics, refuses_every_flip, verdict};

const SEVERAL: &str = include_str!("fixtures/several.json");
const SECRET: &str = "gocardless fixture secret";

/// A known answer: the secret, the body and the signature that the provider's own libraries are tested with.
const KNOWN_SECRET: &str = "ED7D658C-D8EB-4941-948B-3973214F2D49";
const KNOWN_BODY: &str = r#"{"events":[{"id":"EV00BD05S5VM2T","created_at":"2018-07-05T09:13:51.404Z","resource_type":"subscriptions","action":"created","links":{"subscription":"SB0003JJQ2MR06"},"details":{"origin":"api","cause":"subscription_created","description":"Subscription created via the API."},"metadata":{}},{"id":"EV00BD05TB8K63","created_at":"2018-07-05T09:13:56.893Z","resource_type":"mandates","action":"created","links":{"mandate":"MD000AMA19XGEC"},"details":{"origin":"api","cause":"mandate_created","description":"Mandate created via the API."},"metadata":{}}]}"#;
const KNOWN_SIGNATURE: &str = "2693754819d3e32d7e8fcb13c729631f316c6de8dc1cf634d6527f1c07276e7e";

fn gocardless(secrets: &[&str]) -> GoCardless {
    pack(&harness::settings(secrets, &[])).unwrap()
}

fn ids(body: &str) -> Result<Vec<String>, Vec<(String, &'static str)>> {
    let provider = build(&harness::settings(&[SECRET], &[])).unwrap();
    harness::ids(provider.as_ref(), body, &[])
}

/// What the event of that id in the body means.
fn translated(id: &str, body: &str) -> Result<Translation, Untranslatable> {
    gocardless(&[SECRET]).translate(&envelope(id, body.to_owned()))
}

fn one(resource: &str, action: &str) -> String {
    format!(
        r#"{{"events":[{{"id":"EV1","created_at":"2026-03-04T12:15:30Z","resource_type":"{resource}","action":"{action}","links":{{"payment":"PM1","refund":"RF1","payout":"PO1"}}}}]}}"#
    )
}

fn change(resource: &str, action: &str) -> PaymentChange {
    match translated("EV1", &one(resource, action)).unwrap().effect {
        Effect::Change(change) => change,
        Effect::Nothing(reason) => panic!("{resource}.{action}: {reason:?}"),
    }
}

#[test]
fn a_known_signature_verifies_and_its_forgeries_do_not() {
    for (secret, body, expected) in [
        (KNOWN_SECRET, KNOWN_BODY.to_owned(), Ok(Some(0))),
        ("anotherkey", KNOWN_BODY.to_owned(), Err("wrong_signature")),
        (KNOWN_SECRET, format!("{KNOWN_BODY}\n"), Err("wrong_signature")),
        (KNOWN_SECRET, KNOWN_BODY.replace("\":", "\": "), Err("wrong_signature")),
    ] {
        let headers = headers(&[(SIGNATURE_HEADER, KNOWN_SIGNATURE.as_bytes())]);
        assert_eq!(verdict(&gocardless(&[secret]), &headers, body.as_bytes()), expected, "{secret}");
    }
}

#[test]
fn an_odd_header_is_refused_by_what_is_wrong_with_it() {
    let pack = gocardless(&[KNOWN_SECRET]);
    assert_eq!(verdict(&pack, &[], KNOWN_BODY.as_bytes()), Err("missing_signature"));
    for odd in [&b""[..], b"zz", b"\xff\xfe", &[b'a'; 5_000]] {
        let headers = headers(&[(SIGNATURE_HEADER, odd)]);
        assert_eq!(verdict(&pack, &headers, KNOWN_BODY.as_bytes()), Err("malformed_signature"));
    }
}

#[test]
fn the_signature_of_either_secret_is_taken_and_its_place_is_told() {
    let headers = headers(&[(SIGNATURE_HEADER, KNOWN_SIGNATURE.as_bytes())]);
    let pack = gocardless(&["new", KNOWN_SECRET]);
    assert_eq!(verdict(&pack, &headers, KNOWN_BODY.as_bytes()), Ok(Some(1)));
}

#[test]
fn a_source_needs_a_secret_and_has_no_option() {
    assert!(matches!(build(&harness::settings(&[], &[])), Err(SetupError::NoSecret(_))));
    assert!(matches!(build(&harness::settings(&[" "], &[])), Err(SetupError::BlankSecret)));
    let odd = harness::settings(&["a"], &[("scheme", "x".into())]);
    assert!(matches!(build(&odd), Err(SetupError::BadOption(_))));
}

#[test]
fn each_event_of_a_request_has_its_id() {
    assert_eq!(ids(SEVERAL).unwrap(), ["EVFIX1", "EVFIX2", "EVFIX3"]);
    assert_eq!(ids(KNOWN_BODY).unwrap(), ["EV00BD05S5VM2T", "EV00BD05TB8K63"]);
}

#[test]
fn a_request_without_events_is_accepted_without_ids() {
    assert_eq!(ids(r#"{"events":[],"meta":{"webhook_id":"WB1"}}"#), Ok(Vec::new()));
}

#[test]
fn an_event_that_is_there_twice_is_one() {
    assert_eq!(ids(r#"{"events":[{"id":"EV1"},{"id":"EV2"},{"id":"EV1"}]}"#).unwrap(), ["EV1", "EV2"]);
}

#[test]
fn a_full_request_of_250_events_is_taken() {
    let events: Vec<String> = (0..250).map(|number| format!(r#"{{"id":"EV{number}"}}"#)).collect();
    let body = format!(r#"{{"events":[{}]}}"#, events.join(","));
    assert_eq!(ids(&body).unwrap().len(), 250);
    assert_eq!(translated("EV249", &body).unwrap().kind.as_str(), "unknown");
}

#[test]
fn everything_that_is_wrong_with_a_request_is_told_at_once() {
    let wrong = ids(r#"{"events":[{"id":"EV1"},{},7,{"id":"a\u0000"},{"id":null}]}"#).unwrap_err();
    let places: Vec<_> = wrong.iter().map(|(place, code)| (place.as_str(), *code)).collect();
    assert_eq!(
        places,
        [
            ("/events/1/id", "missing"),
            ("/events/2", "wrong_type"),
            ("/events/3/id", "invalid"),
            ("/events/4/id", "missing")
        ]
    );
    for (body, place) in [("{}", "/events"), (r#"{"events":{}}"#, "/events"), ("[]", ""), ("", "")] {
        assert_eq!(ids(body).unwrap_err()[0].0, place, "{body}");
    }
}

#[test]
fn each_event_is_translated_by_itself() {
    let failed = translated("EVFIX2", SEVERAL).unwrap();
    assert_eq!(failed.kind.as_str(), "payments.failed");
    assert_eq!(failed.occurred_at.unwrap().as_micros(), 1_772_626_529_000_000);
    let Effect::Change(change) = failed.effect else { panic!("{failed:?}") };
    assert_eq!(change.payment.as_str(), "PMFIX2");
    assert_eq!(change.merchant.unwrap().as_str(), "ORFIX1");
    let confirmed = translated("EVFIX1", SEVERAL).unwrap();
    assert_eq!(confirmed.effect, Effect::Nothing(NoEffect::Unconfirmed));
    let refund = translated("EVFIX3", SEVERAL).unwrap();
    assert_eq!((refund.occurred_at, refund.kind.as_str()), (None, "refunds.paid"));
    assert!(translated("EVFIX4", SEVERAL).unwrap_err().0.starts_with("/events has no event"));
}

#[test]
fn what_needs_no_amount_counts() {
    let progressed = |progress| vec![Fact::Progressed { progress }];
    assert_eq!(change("payments", "created").facts, progressed(Progress::Created));
    for action in ["submitted", "customer_approval_granted", "resubmission_requested"] {
        assert_eq!(change("payments", action).facts, progressed(Progress::Processing), "{action}");
    }
    for action in ["cancelled", "customer_approval_denied"] {
        assert_eq!(change("payments", action).facts, [Fact::Canceled], "{action}");
    }
}

#[test]
fn two_failures_of_one_payment_are_two_attempts() {
    let attempt = |id: &str| {
        let body = one("payments", "failed").replace("EV1", id);
        let Effect::Change(change) = translated(id, &body).unwrap().effect else { panic!("{id}") };
        change.facts[0].key(None)
    };
    assert_ne!(attempt("EV1"), attempt("EV2"));
}

#[test]
fn money_without_an_amount_is_a_hint() {
    for (resource, actions) in [
        (
            "payments",
            &["confirmed", "paid_out", "charged_back", "chargeback_cancelled", "surcharge_fee_debited"][..],
        ),
        ("refunds", &["created", "paid", "failed", "bounced", "funds_returned"]),
        ("payouts", &["paid"]),
    ] {
        for action in actions {
            let event = translated("EV1", &one(resource, action)).unwrap();
            assert_eq!(event.effect, Effect::Nothing(NoEffect::Unconfirmed), "{resource}.{action}");
        }
    }
}

#[test]
fn what_moves_nothing_has_no_effect() {
    for (resource, action) in [
        ("payments", "chargeback_settled"),
        ("payments", "late_failure_settled"),
        ("refunds", "refund_settled"),
        ("mandates", "created"),
        ("subscriptions", "cancelled"),
        ("dreams", "failed"),
    ] {
        let event = translated("EV1", &one(resource, action)).unwrap();
        assert_eq!(event.effect, Effect::Nothing(NoEffect::Kind), "{resource}.{action}");
        assert_eq!(event.kind.as_str(), format!("{resource}.{action}"));
    }
}

#[test]
fn a_payment_event_without_its_payment_is_untranslatable_by_place() {
    let without = one("payments", "failed").replace("\"payment\"", "\"was\"");
    assert!(translated("EV1", &without).unwrap_err().0.starts_with("/events/0/links/payment is not"));
    let without = one("payments", "failed").replace("\"links\"", "\"was\"");
    assert!(translated("EV1", &without).unwrap_err().0.starts_with("/events/0/links is not"));
}

#[test]
fn a_signed_request_is_taken() {
    let signed = gocardless(&[SECRET]).sign(SEVERAL.as_bytes(), NOW).unwrap();
    let headers: Vec<_> =
        signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    assert_eq!(verdict(&gocardless(&["old", SECRET]), &headers, SEVERAL.as_bytes()), Ok(Some(1)));
}

#[test]
fn every_changed_bit_is_refused() {
    refuses_every_flip(&gocardless(&[SECRET]), SEVERAL, true);
}

#[test]
fn nothing_that_may_come_panics() {
    let as_asked_for = SEVERAL.replace("EVFIX1", "evt_1");
    never_panics(&gocardless(&[SECRET]), &[SIGNATURE_HEADER], &[&as_asked_for, KNOWN_BODY]);
}
