use super::*;
use crate::providers::harness::{
    self, NOW, headers, never_panics, refuses_every_flip, told, translated, untranslatable, verdict,
};

const CONFIRMED: &str = include_str!("fixtures/charge_confirmed.json");
const SECRET: &str = "coinbase fixture secret";

/// A known answer: the secret, the body and the signature that the provider's own libraries are tested with.
const KNOWN_SECRET: &str = "30291a20-0bd1-4267-9b0f-e6e7b123c0bf";
const KNOWN_BODY: &str = r#"{"id":1,"scheduled_for":"2017-01-31T20:50:02Z","attempt_number":1,"event":{"id":"24934862-d980-46cb-9402-43c81b0cdba6","type":"charge:created","api_version":"2018-03-22","created_at":"2017-01-31T20:49:02Z","data":{"code":"66BEOV2A","name":"The Sovereign Individual","description":"Mastering the Transition to the Information Age","hosted_url":"https://commerce.coinbase.com/charges/66BEOV2A","created_at":"2017-01-31T20:49:02Z","expires_at":"2017-01-31T21:04:02Z","timeline":[{"time":"2017-01-31T20:49:02Z","status":"NEW"}],"metadata":{},"pricing_type":"no_price","payments":[],"addresses":{"bitcoin":"0000000000000000000000000000000000","ethereum":"0x0000000000000000000000000000000000000000","litecoin":"3000000000000000000000000000000000","bitcoincash":"bitcoincash:000000000000000000000000000000000000000000"}}}}"#;
const KNOWN_SIGNATURE: &str = "8be7742c7d372f08a6a3224edadf18a22b65fa9e28f3f2de97376cdaa092590d";

fn coinbase(secrets: &[&str]) -> CoinbaseCommerce {
    pack(&harness::settings(secrets, &[])).unwrap()
}

fn effect_of(body: &str) -> Effect {
    translated(&coinbase(&[SECRET]), body).effect
}

/// The body with one text for another, which must be there.
fn with(body: &str, from: &str, to: &str) -> String {
    assert!(body.contains(from), "{from}");
    body.replace(from, to)
}

fn of_kind(kind: &str) -> String {
    with(CONFIRMED, "charge:confirmed", kind)
}

#[test]
fn a_known_signature_verifies_and_its_forgeries_do_not() {
    let formatted = with(KNOWN_BODY, "\":", "\": ");
    for (secret, body, signature, expected) in [
        (KNOWN_SECRET, KNOWN_BODY, KNOWN_SIGNATURE, Ok(Some(0))),
        ("30291a20-0bd1-4267-9b0f-e6e7b123c0bg", KNOWN_BODY, KNOWN_SIGNATURE, Err("wrong_signature")),
        (
            KNOWN_SECRET,
            KNOWN_BODY,
            "8be7742c7d172f08a6a1224edadf18a22b65fa9e28f1f2de97176cdaa092590d",
            Err("wrong_signature"),
        ),
        (KNOWN_SECRET, &formatted, KNOWN_SIGNATURE, Err("wrong_signature")),
        (KNOWN_SECRET, KNOWN_BODY, "8be7", Err("wrong_signature")),
        (KNOWN_SECRET, KNOWN_BODY, "é", Err("malformed_signature")),
        (KNOWN_SECRET, KNOWN_BODY, "", Err("malformed_signature")),
    ] {
        let headers = headers(&[(SIGNATURE_HEADER, signature.as_bytes())]);
        assert_eq!(
            verdict(&coinbase(&[secret]), &headers, body.as_bytes()),
            expected,
            "{secret} {signature}"
        );
    }
    assert_eq!(verdict(&coinbase(&[KNOWN_SECRET]), &[], KNOWN_BODY.as_bytes()), Err("missing_signature"));
}

#[test]
fn the_signature_of_either_secret_is_taken_and_its_place_is_told() {
    let (_, signature) = coinbase(&["new"]).sign(b"{}", NOW).unwrap().headers.remove(0);
    let headers = headers(&[(SIGNATURE_HEADER, signature.as_bytes())]);
    assert_eq!(verdict(&coinbase(&["old", "new"]), &headers, b"{}"), Ok(Some(1)));
}

#[test]
fn a_source_needs_a_secret_and_has_no_option() {
    assert!(matches!(build(&harness::settings(&[], &[])), Err(SetupError::NoSecret(_))));
    assert!(matches!(build(&harness::settings(&[" "], &[])), Err(SetupError::BlankSecret)));
    let odd = harness::settings(&["a"], &[("scheme", "x".into())]);
    assert!(matches!(build(&odd), Err(SetupError::BadOption(_))));
}

#[test]
fn an_event_is_told_by_its_own_id_and_not_by_its_deliverys() {
    let provider = build(&harness::settings(&[SECRET], &[])).unwrap();
    let ids = |body: &str| harness::ids(provider.as_ref(), body, &[]);
    let again = with(CONFIRMED, "\"attempt_number\": 2", "\"attempt_number\": 3");
    assert_eq!(ids(CONFIRMED).unwrap(), ["5f1f0c0e-0000-4000-8000-000000000001"]);
    assert_eq!(ids(&again), ids(CONFIRMED));
    for (body, place) in
        [(r#"{"id":1}"#, "/event"), (r#"{"id":1,"event":{}}"#, "/event/id"), ("[]", ""), ("", "")]
    {
        assert_eq!(ids(body).unwrap_err()[0].0, place, "{body}");
    }
}

#[test]
fn a_confirmed_charge_is_captured_at_its_price() {
    let (payment, facts) = told(&coinbase(&[SECRET]), CONFIRMED);
    assert_eq!(payment, "FIXTUR3A");
    assert_eq!(facts, ["captured:single 4999 USD"]);
    let event = translated(&coinbase(&[SECRET]), CONFIRMED);
    assert_eq!(event.kind.as_str(), "charge:confirmed");
    assert_eq!(event.occurred_at.unwrap().as_micros(), 1_772_626_530_000_000);
}

#[test]
fn other_kinds_about_charges_become_facts() {
    for (kind, fact) in [
        ("charge:created", "progress:created:0"),
        ("charge:pending", "progress:processing:0"),
        ("charge:delayed", "progress:processing:0"),
        ("charge:failed", "failed:FIXTUR3A"),
    ] {
        assert_eq!(told(&coinbase(&[SECRET]), &of_kind(kind)).1, [fact], "{kind}");
    }
    assert_eq!(told(&coinbase(&[SECRET]), KNOWN_BODY).0, "66BEOV2A");
}

#[test]
fn money_without_an_amount_is_a_hint() {
    assert_eq!(effect_of(&of_kind("charge:resolved")), Effect::Nothing(NoEffect::Unconfirmed));
    let chosen_by_the_payer = with(CONFIRMED, "fixed_price", "no_price");
    assert_eq!(effect_of(&chosen_by_the_payer), Effect::Nothing(NoEffect::Unconfirmed));
}

#[test]
fn an_unknown_kind_has_no_effect() {
    assert_eq!(effect_of(&of_kind("invoice:paid")), Effect::Nothing(NoEffect::Kind));
    assert_eq!(effect_of(r#"{"event":{"id":"a"}}"#), Effect::Nothing(NoEffect::Kind));
}

#[test]
fn a_price_that_cannot_be_booked_is_untranslatable_by_place() {
    let local = r#"{ "amount": "49.99", "currency": "USD" }"#;
    for (price, place) in [
        (r#"{ "amount": "0.00153", "currency": "BTC" }"#, "/event/data/pricing/local/currency"),
        (r#"{ "amount": "49.99", "currency": "USDC" }"#, "/event/data/pricing/local/currency"),
        (r#"{ "amount": "49.995", "currency": "USD" }"#, "/event/data/pricing/local/amount"),
        (r#"{ "amount": "4e1", "currency": "USD" }"#, "/event/data/pricing/local/amount"),
        (r#"{ "currency": "USD" }"#, "/event/data/pricing/local/amount"),
        ("null", "/event/data/pricing/local"),
    ] {
        let text = untranslatable(&coinbase(&[SECRET]), &with(CONFIRMED, local, price));
        assert!(text.starts_with(&format!("{place} ")), "{price}: {text}");
    }
    let nameless = with(CONFIRMED, "\"code\"", "\"was\"");
    assert!(untranslatable(&coinbase(&[SECRET]), &nameless).starts_with("/event/data/code is not"));
    assert_eq!(untranslatable(&coinbase(&[SECRET]), "[]"), "the body is not a JSON object");
}

#[test]
fn zeros_beyond_the_currencys_decimals_say_nothing() {
    let body = with(CONFIRMED, "\"49.99\"", "\"49.9900000\"");
    assert_eq!(told(&coinbase(&[SECRET]), &body).1, ["captured:single 4999 USD"]);
}

#[test]
fn every_changed_bit_is_refused() {
    refuses_every_flip(&coinbase(&[SECRET]), CONFIRMED, true);
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&coinbase(&[SECRET]), &[SIGNATURE_HEADER], &[CONFIRMED, KNOWN_BODY]);
}
