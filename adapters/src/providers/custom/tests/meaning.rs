//! What a sender's events mean.

use application::testing::envelope;

use super::*;
use crate::providers::harness::{told, translated, untranslatable};

const EVENT: &str = r#"{"kind":"k","p":"pay_1","c":"cap_1","r":"re_1","d":"dp_1","a":4999,"cur":"eur","m":"acct_1","at":1772626530,"odd":"\ud83d"}"#;

/// A source in which the kind `k` has that meaning.
fn meaning(meaning: &str, further: &[(&'static str, Value)]) -> Custom {
    let mut all = vec![
        ("payment", json!("/p")),
        ("capture", json!("/c")),
        ("refund", json!("/r")),
        ("dispute", json!("/d")),
        ("amount", json!("/a")),
        ("amount_unit", json!("minor")),
        ("currency", json!("/cur")),
        ("kinds", json!({ "k": meaning })),
    ];
    all.retain(|(name, _)| !further.iter().any(|(other, _)| other == name));
    all.extend(further.iter().cloned());
    custom(&all)
}

/// The event with one text for another, which must be there.
fn with(from: &str, to: &str) -> String {
    assert!(EVENT.contains(from), "{from}");
    EVENT.replace(from, to)
}

#[test]
fn each_meaning_becomes_its_facts() {
    for (name, facts) in [
        ("created", &["progress:created:0"][..]),
        ("requires_action", &["progress:requires_action:0"]),
        ("processing", &["progress:processing:0"]),
        ("failed", &["failed:pay_1"]),
        ("canceled", &["canceled"]),
        ("authorised", &["authorised 4999 EUR"]),
        ("captured", &["captured:single 4999 EUR"]),
        ("captured_partly", &["captured:cap_1 4999 EUR"]),
        ("refunded", &["refunded:re_1 4999 EUR"]),
        ("refund_failed", &["refunded:re_1 4999 EUR", "refund_failed:re_1 4999 EUR"]),
        ("dispute_opened", &["dispute_opened:dp_1 4999 EUR"]),
        ("dispute_won", &["dispute_opened:dp_1 4999 EUR", "dispute_won:dp_1 4999 EUR"]),
        ("dispute_lost", &["dispute_opened:dp_1 4999 EUR", "dispute_lost:dp_1 4999 EUR"]),
        ("payout_started", &["payout_started 4999 EUR"]),
        ("payout_paid", &["payout_paid 4999 EUR"]),
        ("payout_failed", &["payout_failed 4999 EUR"]),
        ("payout_canceled", &["payout_canceled 4999 EUR"]),
    ] {
        let (payment, told) = told(&meaning(name, &[]), EVENT);
        assert_eq!(payment, "pay_1");
        assert_eq!(told, facts, "{name}");
    }
}

#[test]
fn a_kind_without_a_meaning_has_no_effect() {
    let pack = meaning("captured", &[]);
    for (body, kind) in [
        (with("\"kind\":\"k\"", "\"kind\":\"other\""), "other"),
        (with("\"kind\":\"k\"", "\"kind\":\"K\""), "K"),
        (with("\"kind\":\"k\"", "\"kind\":null"), "unknown"),
        (with("\"kind\":\"k\"", "\"kind\":[\"k\"]"), "unknown"),
        ("not json".to_owned(), "unknown"),
    ] {
        let event = translated(&pack, &body);
        assert_eq!((event.effect, event.kind.as_str()), (Effect::Nothing(NoEffect::Kind), kind));
    }
}

#[test]
fn a_kind_may_be_a_number_a_truth_or_several_values() {
    let pack =
        |kind: Value, name: &str| meaning("failed", &[("kind", kind), ("kinds", json!({ name: "failed" }))]);
    for (kind, name, body) in [
        (json!("/kind"), "7", r#"{"kind":7,"p":"pay_1"}"#),
        (json!("/ok"), "false", r#"{"ok":false,"p":"pay_1"}"#),
        (json!(["/kind", "/ok"]), "charge|failed", r#"{"kind":"charge","ok":"failed","p":"pay_1"}"#),
        (json!(["/kind", "/ok"]), "charge|", r#"{"kind":"charge","p":"pay_1"}"#),
    ] {
        let pack = pack(kind, name);
        assert_eq!(told(&pack, body).1, ["failed:pay_1"], "{name}");
        assert_eq!(translated(&pack, body).kind.as_str(), name);
    }
}

#[test]
fn values_may_stand_in_headers_that_are_kept() {
    let pack = meaning(
        "captured",
        &[
            ("kind", json!("header:X-Kind")),
            ("amount", json!("header:X-Amount")),
            ("amount_unit", json!("major")),
            ("currency", json!("header:X-Currency")),
            ("id", json!("header:X-Id")),
        ],
    );
    assert!(pack.keeps_header("x-kind") && pack.keeps_header("x-amount") && pack.keeps_header("x-currency"));
    assert!(!pack.keeps_header("x-id") && !pack.keeps_header("x-sig"));
    let mut envelope = envelope("evt_1", EVENT);
    envelope.headers = [("x-kind", "k"), ("x-amount", "12.5"), ("x-currency", "USD")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    let Effect::Change(change) = pack.translate(&envelope).unwrap().effect else { panic!("a change") };
    assert_eq!(change.facts[0].amount().unwrap().to_string(), "1250 USD (minor units)");
    envelope.headers.pop();
    assert_eq!(pack.translate(&envelope).unwrap_err().0, "the header x-currency is not a text");
}

#[test]
fn amounts_are_exact_in_either_unit() {
    for (unit, code, amount, told_as) in [
        ("minor", "EUR", "4999", "4999 EUR"),
        ("minor", "EUR", "\"4999\"", "4999 EUR"),
        ("minor", "JPY", "9007199254740993", "9007199254740993 JPY"),
        ("major", "EUR", "\"49.99\"", "4999 EUR"),
        ("major", "EUR", "49.9", "4990 EUR"),
        ("major", "KWD", "1.234", "1234 KWD"),
        ("major", "JPY", "400.00", "400 JPY"),
    ] {
        let pack = custom(&[
            ("payment", json!("/p")),
            ("amount", json!("/a")),
            ("amount_unit", json!(unit)),
            ("currency_code", json!(code)),
            ("kinds", json!({"k": "captured"})),
        ]);
        let body = with("4999", amount);
        assert_eq!(told(&pack, &body).1, [format!("captured:single {told_as}")], "{unit} {amount}");
    }
}

#[test]
fn what_is_missing_or_unreadable_is_named_by_its_place() {
    for (name, from, to, place) in [
        ("captured", "\"p\":", "\"was\":", "/p is not a text"),
        ("captured", "\"pay_1\"", "\"a\\u0000\"", "/p is not a usable id"),
        ("captured", "\"a\":", "\"was\":", "/a is missing"),
        ("captured", "4999", "49.99", "/a is not a whole number of minor units"),
        ("captured", "4999", "{}", "/a is an object"),
        ("captured", "\"cur\":", "\"was\":", "/cur is not a text"),
        ("captured", "\"eur\"", "\"euro\"", "/cur currency is not"),
        ("captured_partly", "\"c\":", "\"was\":", "/c is not a text"),
        ("refunded", "\"r\":", "\"was\":", "/r is not a text"),
        ("dispute_lost", "\"d\":", "\"was\":", "/d is not a text"),
    ] {
        let text = untranslatable(&meaning(name, &[]), &with(from, to));
        assert!(text.starts_with(place), "{place}: {text}");
    }
    let pack = meaning("failed", &[("merchant", json!("/m"))]);
    assert!(untranslatable(&pack, &with("\"m\":", "\"was\":")).starts_with("/m is not"));
}

#[test]
fn a_fact_without_an_amount_needs_none() {
    let body = with("\"a\":4999,", "");
    assert_eq!(told(&meaning("failed", &[]), &body).1, ["failed:pay_1"]);
}

#[test]
fn the_time_is_read_in_its_format_or_not_at_all() {
    let at = |format: &str, written: &str| {
        let pack = meaning("failed", &[("occurred_at", json!("/at")), ("time_format", json!(format))]);
        translated(&pack, &with("1772626530", written)).occurred_at.map(domain::Timestamp::as_micros)
    };
    assert_eq!(at("unix", "1772626530"), Some(1_772_626_530_000_000));
    assert_eq!(at("unix", "\"1772626530\""), Some(1_772_626_530_000_000));
    assert_eq!(at("unix-ms", "1772626530250"), Some(1_772_626_530_250_000));
    assert_eq!(at("rfc3339", "\"2026-03-04T12:15:30Z\""), Some(1_772_626_530_000_000));
    for (format, written) in
        [("unix", "1772626530.5"), ("unix", "null"), ("rfc3339", "1772626530"), ("rfc3339", "\"soon\"")]
    {
        assert_eq!(at(format, written), None, "{format} {written}");
    }
}
