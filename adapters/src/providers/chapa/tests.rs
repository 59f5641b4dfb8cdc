use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{
    NOW, headers, ids, never_panics, refuses_every_flip, settings, told, translated, untranslatable, verdict,
};

const SECRET: &str = "chapa-secret-hash";
const X: &str = "x-chapa-signature";
const PLAIN: &str = "chapa-signature";

/// HMAC of the secret with the secret.
const CONSTANT: &str = "60d5e96386b5609c0dcc8d8a1fd30a5a7a70fb85a16a611dafe18c80425d62c5";

const CHARGE: &str = r#"{"event":"charge.success","email":null,"currency":"ETB","amount":"400.00","charge":"12.50","status":"success","mode":"live","reference":"APref1","created_at":"2023-11-14T22:13:18.000000Z","updated_at":"2023-11-14T22:13:20.000000Z","type":"API","tx_ref":"order-17","meta":null}"#;
const PAYOUT: &str = r#"{"event":"payout.success","type":"Payout","amount":"2000.00","charge":"60.00","currency":"ETB","status":"success","reference":"pay-1","chapa_reference":"CH1","updated_at":"2023-11-14T22:13:20.000000Z"}"#;

fn source(custom_webhook: bool) -> Chapa {
    pack(&settings(&[SECRET], &[("custom_webhook", custom_webhook.into())])).unwrap()
}

fn signature(body: &[u8]) -> String {
    source(false).sign(body, NOW).unwrap().headers[0].1.clone()
}

fn judge(custom_webhook: bool, list: &[(&str, &str)], body: &[u8]) -> Result<Option<usize>, &'static str> {
    let list: Vec<_> = list.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    verdict(&source(custom_webhook), &headers(&list), body)
}

fn tells(body: &str, payment: &str, facts: &[&str]) {
    let (id, found) = told(&source(false), body);
    assert_eq!(
        (id.as_str(), found),
        (payment, facts.iter().map(|fact| (*fact).to_owned()).collect()),
        "{body}"
    );
}

#[test]
fn known_answers_hold() {
    const BODY: &[u8] = br#"{"event":"charge.success","currency":"ETB","amount":"400.00","status":"success","reference":"AP634JFwEbxd","tx_ref":"4FGFF4FFGD3"}"#;
    const FORGED: &[u8] = br#"{"event":"charge.success","amount":"99999.00","tx_ref":"forged"}"#;
    const BOUND: &str = "962a825ea890f27bd2a752ec8cbca040b6f5d5678ff95ca7f82e458d13f12f84";
    let zeros = "0".repeat(64);
    assert_eq!(judge(false, &[(X, BOUND), (PLAIN, CONSTANT)], BODY), Ok(Some(0)));
    assert_eq!(judge(false, &[(X, BOUND)], BODY), Ok(Some(0)));
    assert_eq!(judge(false, &[(PLAIN, CONSTANT), (X, &zeros)], FORGED), Err("wrong_signature"));
    assert_eq!(judge(false, &[(X, BOUND)], FORGED), Err("wrong_signature"));
}

#[test]
fn the_constant_is_never_a_signature() {
    for custom_webhook in [false, true] {
        assert_eq!(judge(custom_webhook, &[(PLAIN, CONSTANT)], b"{}"), Err("unbound_signature"));
        assert_eq!(judge(custom_webhook, &[(X, CONSTANT)], b"{}"), Err("unbound_signature"));
        // Not even where it is what the body is signed with.
        assert_eq!(judge(custom_webhook, &[(X, CONSTANT)], SECRET.as_bytes()), Err("unbound_signature"));
        assert_eq!(judge(custom_webhook, &[(PLAIN, CONSTANT)], SECRET.as_bytes()), Err("unbound_signature"));
        assert_eq!(judge(custom_webhook, &[], b"{}"), Err("missing_signature"));
    }
}

#[test]
fn the_constant_of_an_old_secret_is_none_either() {
    let both = pack(&settings(&["new", SECRET], &[])).unwrap();
    let shown = headers(&[(X, CONSTANT.as_bytes())]);
    assert_eq!(verdict(&both, &shown, SECRET.as_bytes()), Err("unbound_signature"));
    let signed = headers(&[(X, signature(b"{}").as_bytes())]);
    assert_eq!(verdict(&both, &signed, b"{}"), Ok(Some(1)));
}

#[test]
fn only_a_custom_webhook_signs_the_body_in_the_other_header() {
    let good = signature(CHARGE.as_bytes());
    assert_eq!(judge(true, &[(PLAIN, &good)], CHARGE.as_bytes()), Ok(Some(0)));
    assert_eq!(judge(true, &[(PLAIN, CONSTANT), (X, &good)], CHARGE.as_bytes()), Ok(Some(0)));
    assert_eq!(judge(true, &[(PLAIN, &good)], b"{}"), Err("wrong_signature"));
    assert_eq!(judge(true, &[(PLAIN, "odd")], b"{}"), Err("malformed_signature"));
    assert_eq!(judge(false, &[(PLAIN, &good)], CHARGE.as_bytes()), Err("unbound_signature"));
}

#[test]
fn a_body_that_was_encoded_again_is_refused() {
    let spaced = CHARGE.replace("\":", "\": ");
    let good = signature(spaced.as_bytes());
    assert_eq!(judge(false, &[(X, &good)], spaced.as_bytes()), Ok(Some(0)));
    assert_eq!(judge(false, &[(X, &good)], CHARGE.as_bytes()), Err("wrong_signature"));
}

#[test]
fn whatever_is_changed_is_refused() {
    refuses_every_flip(&source(false), CHARGE, true);
    refuses_every_flip(&source(true), CHARGE, true);
}

#[test]
fn nothing_that_may_come_panics() {
    for custom_webhook in [false, true] {
        never_panics(&source(custom_webhook), &[X, PLAIN], &[CHARGE, PAYOUT]);
    }
}

#[test]
fn the_event_id_is_made_of_kind_reference_and_status() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    for (body, id) in [
        (CHARGE, "charge.success|APref1|success"),
        (PAYOUT, "payout.success|pay-1|success"),
        (r#"{"event":"charge.failed/cancelled","reference":"a|b"}"#, r"charge.failed/cancelled|a\|b|"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Ok(vec![id.to_owned()]));
    }
    for (body, pointer, code) in [
        ("null", "", "wrong_type"),
        (r#"{"reference":"a"}"#, "/event", "missing"),
        (r#"{"event":"charge.success","reference":null}"#, "/reference", "missing"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Err(vec![(pointer.to_owned(), code)]), "{body}");
    }
}

#[test]
fn a_charge_is_captured_and_its_fee_charged() {
    tells(CHARGE, "order-17", &["captured:single 40000 ETB", "charged:single 1250 ETB"]);
    tells(&CHARGE.replace(r#""charge":"12.50","#, ""), "order-17", &["captured:single 40000 ETB"]);
    tells(
        &CHARGE.replace(r#""order-17""#, "null"),
        "APref1",
        &["captured:single 40000 ETB", "charged:single 1250 ETB"],
    );
}

#[test]
fn a_charge_fails_is_refunded_or_reversed() {
    let ended = |name: &str| CHARGE.replace("charge.success", name);
    tells(&ended("charge.failed/cancelled"), "order-17", &["failed:APref1"]);
    tells(&ended("charge.refunded"), "order-17", &["refunded_in_all:40000 40000 ETB"]);
    tells(&ended("charge.reversed"), "order-17", &["refunded_in_all:40000 40000 ETB"]);
}

#[test]
fn a_payout_is_paid_or_fails() {
    tells(PAYOUT, "CH1", &["payout_paid 200000 ETB"]);
    tells(&PAYOUT.replace("payout.success", "payout.failed/cancelled"), "CH1", &["payout_failed 200000 ETB"]);
    tells(&PAYOUT.replace("chapa_reference", "other"), "pay-1", &["payout_paid 200000 ETB"]);
}

#[test]
fn the_mode_and_the_time_are_the_bodys() {
    let charge = translated(&source(false), CHARGE);
    assert_eq!((charge.kind.as_str(), charge.live), ("charge.success", Some(true)));
    assert_eq!(charge.occurred_at.unwrap().as_secs(), 1_700_000_000);
    assert_eq!(translated(&source(false), &CHARGE.replace(r#""live""#, r#""test""#)).live, Some(false));
    assert_eq!(translated(&source(false), PAYOUT).live, None);
}

#[test]
fn other_kinds_change_nothing() {
    for body in [r#"{"event":"galaxy.exploded","amount":[]}"#, "{}"] {
        assert_eq!(translated(&source(false), body).effect, Effect::Nothing(NoEffect::Kind));
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (body, place) in [
        (CHARGE.replace("400.00", "400.001"), "/amount has more decimals"),
        (CHARGE.replace(r#""ETB""#, "null"), "/currency "),
        (CHARGE.replace(r#""status":"success""#, r#""status":"failed""#), "/status contradicts"),
        (CHARGE.replace("tx_ref", "a").replace("reference", "b"), "/tx_ref "),
    ] {
        let text = untranslatable(&source(false), &body);
        assert!(text.starts_with(place), "{text}");
    }
}

#[test]
fn a_source_without_a_usable_secret_is_refused() {
    for secrets in [&[][..], &[""], &["good", " "]] {
        assert!(build(&settings(secrets, &[])).is_err(), "{secrets:?}");
    }
    for options in [&[("other", true.into())], &[("custom_webhook", "yes".into())]] {
        assert!(build(&settings(&[SECRET], options)).is_err(), "{options:?}");
    }
    assert_eq!(source(false).default_trust(), Trust::Signature);
}
