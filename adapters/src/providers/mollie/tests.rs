use application::ports::provider::{Trust, WebhookRequest};
use domain::{Effect, NoEffect};
use serde_json::{Value, json};

use super::*;
use crate::providers::harness::{self, NOW, headers, never_panics, refuses_every_flip, verdict};
use crate::providers::pack::Pack;

mod classic;
mod meaning;
mod setup;

const LINK_PAID: &str = include_str!("fixtures/payment_link_paid.json");
const PAYMENT_PAID: &str = include_str!("fixtures/payment_paid.json");
const REFUND: &str = include_str!("fixtures/refund.json");
const SIGNATURE_HEADER: &str = "x-mollie-signature";

/// A known answer of the provider's scheme.
const SECRET: &str = "test_webhook_secret";
const BODY: &str = r#"{"id":"tr_12345","event_type":"payment-link.paid"}"#;
const SIGNATURE: &str = "e479a5e4aaa17db94cfc546071e10e91c0b37f21e464e751ebdd7d7ad2ffd146";

fn next_gen(secrets: &[&str], counted: Counted) -> NextGen {
    NextGen::new(&harness::settings(secrets, &[]), counted).unwrap()
}

fn verdict_on(secrets: &[&str], values: &[&str]) -> Result<Option<usize>, &'static str> {
    let list: Vec<_> = values.iter().map(|value| (SIGNATURE_HEADER, value.as_bytes())).collect();
    verdict(&next_gen(secrets, Counted::PaymentLinks), &headers(&list), BODY.as_bytes())
}

#[test]
fn a_known_signature_verifies_with_its_prefix_and_without() {
    assert_eq!(verdict_on(&[SECRET], &[&format!("sha256={SIGNATURE}")]), Ok(Some(0)));
    assert_eq!(verdict_on(&[SECRET], &[SIGNATURE]), Ok(Some(0)));
    assert_eq!(verdict_on(&["another"], &[SIGNATURE]), Err("wrong_signature"));
}

#[test]
fn a_request_without_the_header_is_not_taken_for_a_classic_one() {
    assert_eq!(verdict_on(&[SECRET], &[]), Err("missing_signature"));
}

#[test]
fn the_signatures_of_a_rotation_come_in_two_headers_or_in_one() {
    let (good, wrong) = (format!("sha256={SIGNATURE}"), format!("sha256={}", "00".repeat(32)));
    for values in [
        &[good.as_str(), &wrong][..],
        &[&wrong, &good],
        &[&format!("{wrong},{good}")],
        &[&format!("{good}, {wrong}")],
        &["junk", &good],
    ] {
        assert_eq!(verdict_on(&["new", SECRET], values), Ok(Some(1)), "{values:?}");
    }
}

#[test]
fn a_malformed_signature_is_told_from_a_wrong_one() {
    for odd in ["", ",", "sha256=", "sha1=00", "sha256=zz", "é", &SIGNATURE[1..], &"a".repeat(5_000)] {
        assert_eq!(verdict_on(&[SECRET], &[odd]), Err("malformed_signature"), "{odd}");
    }
    for wrong in [&SIGNATURE[2..], &format!("{SIGNATURE}00")] {
        assert_eq!(verdict_on(&[SECRET], &[wrong]), Err("wrong_signature"), "{wrong}");
    }
}

#[test]
fn the_same_value_formatted_anew_is_refused() {
    let headers = headers(&[(SIGNATURE_HEADER, SIGNATURE.as_bytes())]);
    let pack = next_gen(&[SECRET], Counted::PaymentLinks);
    assert_eq!(verdict(&pack, &headers, BODY.replace(',', ", ").as_bytes()), Err("wrong_signature"));
}

#[test]
fn an_event_is_told_by_its_id() {
    let provider = build(&harness::settings(&[SECRET], &[("scheme", json!("next-gen"))])).unwrap();
    let ids = |body: &str| harness::ids(provider.as_ref(), body, &[]);
    assert_eq!(ids(LINK_PAID).unwrap(), ["whe_fixture0001"]);
    assert_eq!(ids(BODY).unwrap(), ["tr_12345"]);
    for (body, place) in [("{}", "/id"), (r#"{"id":[]}"#, "/id"), ("[]", ""), ("id=tr_1", "")] {
        assert_eq!(ids(body).unwrap_err()[0].0, place, "{body}");
    }
}

#[test]
fn every_changed_bit_is_refused() {
    refuses_every_flip(&next_gen(&[SECRET], Counted::Payments), LINK_PAID, true);
}

#[test]
fn nothing_that_may_come_panics() {
    for counted in [Counted::PaymentLinks, Counted::Payments] {
        let pack = next_gen(&[SECRET], counted);
        never_panics(&pack, &[SIGNATURE_HEADER], &[LINK_PAID, PAYMENT_PAID, REFUND]);
    }
}
