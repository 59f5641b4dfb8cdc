//! Stripe's minor units, and what is wrong with an event of a known type.

use super::*;
use crate::providers::harness::untranslatable;

fn paid(amount: &str, currency: &str) -> String {
    let object = format!(r#"{{"id":"pi_1","amount_received":{amount},"currency":{currency}}}"#);
    event("payment_intent.succeeded", &object)
}

#[test]
fn amounts_become_iso_minor_units() {
    for (amount, currency, expected) in [
        ("2000", "\"usd\"", "2000 USD"),
        ("0", "\"eur\"", "0 EUR"),
        ("5000", "\"jpy\"", "5000 JPY"),
        ("5120", "\"kwd\"", "5120 KWD"),
        ("500000", "\"ugx\"", "5000 UGX"),
        ("500000", "\"isk\"", "5000 ISK"),
        ("7", "\"mga\"", "700 MGA"),
        ("1000", "\"huf\"", "1000 HUF"),
        ("9007199254740993", "\"usd\"", "9007199254740993 USD"),
        ("9223372036854775807", "\"usd\"", "9223372036854775807 USD"),
    ] {
        let expected = format!("captured:single {expected}");
        assert_eq!(told_by(&paid(amount, currency)), that("pi_1", &[&expected]), "{amount} {currency}");
    }
}

#[test]
fn an_amount_that_cannot_be_exact_is_told_with_its_place() {
    const AMOUNT: &str = "/data/object/amount_received ";
    for (amount, currency, place) in [
        ("null", "\"usd\"", AMOUNT),
        ("null", "null", AMOUNT),
        ("20.5", "\"usd\"", AMOUNT),
        ("2000.0", "\"usd\"", AMOUNT),
        ("2e3", "\"usd\"", AMOUNT),
        ("\"2000\"", "\"usd\"", AMOUNT),
        ("[2000]", "\"usd\"", AMOUNT),
        ("9223372036854775808", "\"usd\"", AMOUNT),
        ("9223372036854775807", "\"mga\"", AMOUNT),
        ("500001", "\"ugx\"", AMOUNT),
        ("2000", "\"zzz\"", AMOUNT),
        ("2000", "null", "/data/object/currency "),
        ("2000", "7", "/data/object/currency "),
    ] {
        let told = untranslatable(&pack(&[SECRET]), &paid(amount, currency));
        assert!(told.starts_with(place), "{amount} {currency}: {told}");
    }
}

#[test]
fn a_known_type_without_what_it_needs_cannot_be_translated() {
    for (kind, object, place) in [
        ("payment_intent.succeeded", "null", "/data/object/amount_received "),
        ("payment_intent.succeeded", r#"{"amount_received":1,"currency":"usd"}"#, "/data/object/id "),
        ("payment_intent.created", "{}", "/data/object/id "),
        ("payment_intent.created", r#"{"id":7}"#, "/data/object/id "),
        ("charge.failed", "{}", "/data/object/id "),
        ("refund.created", r#"{"id":"re_1","amount":1,"currency":"usd"}"#, "/data/object/status "),
        (
            "refund.created",
            r#"{"id":"re_1","amount":1,"currency":"usd","status":"pending"}"#,
            "/data/object/charge ",
        ),
        ("charge.dispute.closed", r#"{"status":"won","amount":1,"currency":"usd"}"#, "/data/object/charge "),
        ("payout.paid", r#"{"id":"po_1"}"#, "/data/object/amount "),
        ("checkout.session.completed", "{}", "/data/object/payment_status "),
    ] {
        let told = untranslatable(&pack(&[SECRET]), &event(kind, object));
        assert!(told.starts_with(place), "{kind} {object}: {told}");
    }
}

#[test]
fn what_is_told_never_repeats_a_value() {
    for object in [
        r#"{"id":"s3cret","amount_received":"s3cret","currency":"usd"}"#,
        r#"{"id":"s3cret","amount_received":1,"currency":"s3cret"}"#,
        r#"{"id":" s3cret","amount_received":1,"currency":"usd"}"#,
    ] {
        let told = untranslatable(&pack(&[SECRET]), &event("payment_intent.succeeded", object));
        assert!(!told.contains("s3cret"), "{told}");
    }
}
