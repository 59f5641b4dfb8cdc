use application::ports::provider::IntakeRefusal;
use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{
    self, NOW, headers, never_panics, refuses_every_flip, told, translated, untranslatable, verdict,
};

const CAPTURED: &str = include_str!("fixtures/payment_captured.json");
const DISPUTE: &str = include_str!("fixtures/dispute_evidence_required.json");
const SECRET: &str = "checkout-fixture-key";
const BODY: &str = r#"{"id":"evt_fix0001","type":"payment_approved"}"#;
const SIGNATURE: &str = "14dd0b109a850d8420eb1d815edaf23896016e272b9d5357aa067b6cfdff39f4";

fn checkout(secrets: &[&str]) -> Checkout {
    pack(&harness::settings(secrets, &[])).unwrap()
}

fn facts(body: &str) -> Vec<String> {
    told(&checkout(&[SECRET]), body).1
}

/// The capture as another kind of event.
fn of_kind(kind: &str) -> String {
    with(CAPTURED, "payment_captured", kind)
}

/// The body with one text for another, which must be there.
fn with(body: &str, from: &str, to: &str) -> String {
    assert!(body.contains(from), "{from}");
    body.replace(from, to)
}

#[test]
fn a_known_signature_verifies_and_its_forgeries_do_not() {
    let formatted = with(BODY, ",", ", ");
    for (secret, body, signature, expected) in [
        (SECRET, BODY, SIGNATURE, Ok(Some(0))),
        (SECRET, BODY, &*SIGNATURE.to_uppercase(), Ok(Some(0))),
        ("another-key", BODY, SIGNATURE, Err("wrong_signature")),
        // The same value, formatted anew.
        (SECRET, &formatted, SIGNATURE, Err("wrong_signature")),
        (SECRET, &format!("{BODY}\n"), SIGNATURE, Err("wrong_signature")),
        (SECRET, BODY, &SIGNATURE[2..], Err("wrong_signature")),
        (SECRET, BODY, &SIGNATURE[1..], Err("malformed_signature")),
        (SECRET, BODY, "", Err("malformed_signature")),
    ] {
        let headers = headers(&[(SIGNATURE_HEADER, signature.as_bytes())]);
        assert_eq!(
            verdict(&checkout(&[secret]), &headers, body.as_bytes()),
            expected,
            "{secret} {signature}"
        );
    }
    assert_eq!(verdict(&checkout(&[SECRET]), &[], BODY.as_bytes()), Err("missing_signature"));
}

#[test]
fn the_signature_of_either_secret_is_taken_and_its_place_is_told() {
    let (_, signature) = checkout(&["new"]).sign(b"{}", NOW).unwrap().headers.remove(0);
    let headers = headers(&[(SIGNATURE_HEADER, b"00ff"), (SIGNATURE_HEADER, signature.as_bytes())]);
    assert_eq!(verdict(&checkout(&["old", "new"]), &headers, b"{}"), Ok(Some(1)));
}

#[test]
fn a_source_needs_a_secret_and_has_no_option() {
    assert!(matches!(build(&harness::settings(&[], &[])), Err(SetupError::NoSecret(_))));
    assert!(matches!(build(&harness::settings(&["a", " "], &[])), Err(SetupError::BlankSecret)));
    let odd = harness::settings(&["a"], &[("scheme", "x".into())]);
    assert!(matches!(build(&odd), Err(SetupError::BadOption(_))));
}

#[test]
fn an_event_is_told_by_its_id() {
    let provider = build(&harness::settings(&[SECRET], &[])).unwrap();
    assert_eq!(harness::ids(provider.as_ref(), CAPTURED, &[]).unwrap(), ["evt_fixturecaptured00000001"]);
}

#[test]
fn an_authentic_body_that_is_no_json_is_malformed() {
    let provider = build(&harness::settings(&[SECRET], &[])).unwrap();
    // A cut object, a stray byte, another object: bodies like this one have been sent.
    let broken =
        b"{\n \"id\": \"evt_1\",\n \"type\": \"authentication_failed\",\n\xff\n{ \"amount\": \"1000\" }\n}";
    let signed = provider.sign(broken, NOW).unwrap();
    let headers: Vec<_> =
        signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    let refusal =
        provider.intake(&WebhookRequest { body: broken, headers: &headers, query: "" }, NOW).unwrap_err();
    let IntakeRefusal::Malformed(problems) = refusal else { panic!("{refusal:?}") };
    assert_eq!(problems[0].code, "not_json");
}

#[test]
fn an_authentic_body_without_an_id_is_malformed() {
    let provider = build(&harness::settings(&[SECRET], &[])).unwrap();
    for body in ["{}", r#"{"id":null}"#, r#"{"id":""}"#, r#"{"id":" evt_1"}"#] {
        assert_eq!(harness::ids(provider.as_ref(), body, &[]).unwrap_err()[0].0, "/id", "{body}");
    }
}

#[test]
fn captures_are_told_apart_by_their_action() {
    let (payment, facts) = told(&checkout(&[SECRET]), CAPTURED);
    assert_eq!(payment, "pay_fixture0000000000000001");
    assert_eq!(facts, ["captured:act_fixturecapture000000001 4999 EUR"]);
    let event = translated(&checkout(&[SECRET]), CAPTURED);
    assert_eq!(event.kind.as_str(), "payment_captured");
    assert_eq!(event.live, None);
}

#[test]
fn a_capture_may_be_followed_by_another() {
    let change = harness::changed(&checkout(&[SECRET]), CAPTURED);
    assert!(matches!(change.facts[..], [domain::Fact::Captured { last: false, .. }]));
}

#[test]
fn a_capture_without_an_action_is_the_only_one() {
    let body = with(CAPTURED, "\"action_id\"", "\"was\"");
    assert_eq!(facts(&body), ["captured:single 4999 EUR"]);
}

#[test]
fn kinds_about_payments_become_facts() {
    for (kind, fact) in [
        ("payment_pending", "progress:processing:0"),
        ("payment_approved", "authorised 4999 EUR"),
        ("payment_declined", "failed:act_fixturecapture000000001"),
        ("payment_voided", "canceled"),
        ("payment_canceled", "canceled"),
        ("payment_expired", "canceled"),
        ("payment_refunded", "refunded:act_fixturecapture000000001 4999 EUR"),
    ] {
        assert_eq!(facts(&of_kind(kind)), [fact], "{kind}");
    }
}

#[test]
fn a_declined_payment_without_an_action_is_one_attempt() {
    let body = with(&of_kind("payment_declined"), "\"action_id\"", "\"was\"");
    assert_eq!(facts(&body), ["failed:pay_fixture0000000000000001"]);
}

#[test]
fn a_dispute_is_told_with_its_opening() {
    const OPENED: &str = "dispute_opened:dsp_fixture0000000000000001 4999 EUR";
    let (payment, opened) = told(&checkout(&[SECRET]), DISPUTE);
    assert_eq!(payment, "pay_fixture0000000000000001");
    assert_eq!(opened, [OPENED]);
    for kind in ["dispute_won", "dispute_canceled", "dispute_resolved"] {
        let won = facts(&with(DISPUTE, "dispute_evidence_required", kind));
        assert_eq!(won, [OPENED, "dispute_won:dsp_fixture0000000000000001 4999 EUR"], "{kind}");
    }
    for kind in ["dispute_lost", "dispute_accepted"] {
        let lost = facts(&with(DISPUTE, "dispute_evidence_required", kind));
        assert_eq!(lost, [OPENED, "dispute_lost:dsp_fixture0000000000000001 4999 EUR"], "{kind}");
    }
}

#[test]
fn what_moves_nothing_has_no_effect() {
    for kind in [
        "payment_capture_pending",
        "payment_capture_declined",
        "payment_refund_pending",
        "payment_refund_declined",
        "payment_void_declined",
        "payment_paid",
        "dispute_expired",
        "card_verified",
        "never_heard_of",
    ] {
        let event = translated(&checkout(&[SECRET]), &of_kind(kind));
        assert_eq!((event.effect, event.kind.as_str()), (Effect::Nothing(NoEffect::Kind), kind));
    }
    assert_eq!(translated(&checkout(&[SECRET]), r#"{"id":"a"}"#).kind.as_str(), "unknown");
}

#[test]
fn a_time_with_seven_decimals_is_read_under_either_name() {
    let at =
        |body: &str| translated(&checkout(&[SECRET]), body).occurred_at.map(domain::Timestamp::as_micros);
    assert_eq!(at(CAPTURED), Some(1_772_626_530_125_000));
    assert_eq!(at(DISPUTE), Some(1_772_626_530_123_456));
    assert_eq!(at(&with(DISPUTE, "2026-03-04T12:15:30.1234567Z", "2026-02-30T00:00:00Z")), None);
}

#[test]
fn an_amount_may_be_a_text_of_digits_and_nothing_else() {
    assert_eq!(
        facts(&with(CAPTURED, "4999,", "\"4999\",")),
        ["captured:act_fixturecapture000000001 4999 EUR"]
    );
    for amount in ["49.99,", "\"49.99\",", "null,", "true,", "92233720368547758080,"] {
        let text = untranslatable(&checkout(&[SECRET]), &with(CAPTURED, "4999,", amount));
        assert!(text.starts_with("/data/amount "), "{amount}: {text}");
    }
}

#[test]
fn what_is_missing_is_named_by_its_place() {
    for (gone, place) in [
        ("\"data\"", "/data is not"),
        ("\"id\": \"pay", "/data/id is not"),
        ("\"amount\"", "/data/amount is missing"),
        ("\"currency\"", "/data/currency is not"),
    ] {
        let body = with(CAPTURED, gone, &gone.replacen('"', "\"was_", 1));
        assert!(untranslatable(&checkout(&[SECRET]), &body).starts_with(place), "{place}");
    }
    let body = with(&of_kind("payment_refunded"), "\"action_id\"", "\"was\"");
    assert!(untranslatable(&checkout(&[SECRET]), &body).starts_with("/data/action_id is not"));
    let body = with(CAPTURED, "EUR", "EURO");
    assert!(untranslatable(&checkout(&[SECRET]), &body).starts_with("/data/currency currency is not"));
}

#[test]
fn every_changed_bit_is_refused() {
    refuses_every_flip(&checkout(&[SECRET]), CAPTURED, true);
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&checkout(&[SECRET]), &[SIGNATURE_HEADER], &[CAPTURED, DISPUTE]);
}
