use application::testing::envelope;
use domain::{Effect, NoEffect, PaymentChange};

use super::*;
use crate::providers::harness::{NOW, headers, ids, never_panics, refuses_every_flip, settings, verdict};

mod meaning;

const SECRET: &str = "kitties are cute";
const PAID: &str = include_str!("fixtures/orders-paid.json");

fn pack(secrets: &[&str]) -> Shopify {
    Shopify::of(&settings(secrets, &[])).unwrap()
}

fn judged(name: &str, signature: &str, body: &str) -> Result<Option<usize>, &'static str> {
    verdict(&pack(&[SECRET]), &headers(&[(name, signature.as_bytes())]), body.as_bytes())
}

#[test]
fn the_signature_is_taken_under_both_names() {
    let good = "whZTLhA7huY97fFO2wQU8i6CSxBGsM289q1MWkxqp2g=";
    let body = r#"{"foo": "bar"}"#;
    for name in SIGNATURE {
        assert_eq!(judged(name, good, body), Ok(Some(0)), "{name}");
    }
    for (signature, body, reason) in [
        (good, r#"{"foo":"bar"}"#, "wrong_signature"),
        ("c216532e103b86e63dedf14edb0414f22e824b1046b0cdbcf6ad4c5a4c6aa768", body, "wrong_signature"),
        ("", body, "malformed_signature"),
        ("whZTLhA7huY97fFO2wQU8i6CSxBGsM289q1MWkxqp2g", body, "malformed_signature"),
        ("é", body, "malformed_signature"),
        ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", body, "wrong_signature"),
    ] {
        assert_eq!(judged(SIGNATURE[0], signature, body), Err(reason), "{signature}");
    }
    assert_eq!(verdict(&pack(&[SECRET]), &[], b"{}"), Err("missing_signature"));
}

#[test]
fn the_place_of_the_secret_is_told_while_it_is_replaced() {
    let signed = pack(&["new"]).sign(PAID.as_bytes(), NOW).unwrap();
    let all: Vec<_> = signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    assert_eq!(verdict(&pack(&["old", "new"]), &all, PAID.as_bytes()), Ok(Some(1)));
    assert_eq!(verdict(&pack(&["new", "old"]), &all, PAID.as_bytes()), Ok(Some(0)));
    assert_eq!(verdict(&pack(&["old"]), &all, PAID.as_bytes()), Err("wrong_signature"));
}

#[test]
fn a_flipped_bit_and_a_body_written_anew_are_refused() {
    refuses_every_flip(&pack(&[SECRET]), PAID, false);
    let signed = pack(&[SECRET]).sign(PAID.as_bytes(), NOW).unwrap();
    let all: Vec<_> = signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    let anew = PAID.replace("\": ", "\":");
    assert_eq!(verdict(&pack(&[SECRET]), &all, anew.as_bytes()), Err("wrong_signature"));
}

#[test]
fn the_id_is_the_events_with_its_topic_or_else_the_deliverys() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    let (event, delivery, topic): (&[u8], &[u8], &[u8]) =
        (b"98880550-7158", b"b54557e4-bdd9", b"refunds/create");
    for (list, id) in [
        (
            vec![(EVENT_ID[0], event), (DELIVERY_ID[0], delivery), (TOPIC[0], topic)],
            "98880550-7158|refunds/create",
        ),
        (
            vec![(EVENT_ID[0], &b""[..]), (EVENT_ID[1], event), (TOPIC[0], topic)],
            "98880550-7158|refunds/create",
        ),
        (
            vec![(EVENT_ID[0], &b"\xff"[..]), (DELIVERY_ID[0], delivery), (TOPIC[0], topic)],
            "b54557e4-bdd9|refunds/create",
        ),
        (vec![(EVENT_ID[0], event), (TOPIC[0], &b"\xff"[..])], "98880550-7158"),
    ] {
        assert_eq!(ids(&*provider, "{}", &list), Ok(vec![id.to_owned()]));
    }
    assert!(ids(&*provider, "{}", &[(EVENT_ID[0], b"")]).is_err());
}

#[test]
fn a_secret_is_needed_and_there_are_no_options() {
    assert!(build(&settings(&[], &[])).is_err());
    assert!(build(&settings(&[" "], &[])).is_err());
    assert!(build(&settings(&[SECRET], &[("shop", "mine".into())])).is_err());
}

#[test]
fn nothing_that_comes_makes_it_panic() {
    let names = [SIGNATURE[0], EVENT_ID[0], DELIVERY_ID[0], TOPIC[0], SHOP_DOMAIN[0]];
    never_panics(&pack(&[SECRET]), &names, &[PAID]);
}
