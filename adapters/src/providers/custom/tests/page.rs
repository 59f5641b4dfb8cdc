//! The examples of the page are sources that work.

use serde_json::Map;

use super::*;
use crate::providers::harness::{changed, refuses_every_flip, told, translated};

const PAGE: &str = include_str!("../../../../../docs/providers/custom.md");

const TICKETS_BODY: &str = r#"{"action":"paid","order":{"id":17,"total":"49.99","currency":"EUR","updated_at":"2026-03-04T13:15:30.5+01:00"}}"#;
const TICKETS_SIGNATURE: &str = "sha256=f93269982a5ec745a78cb1820c0dd063565f70f5f608a0852c58a8e0c657b67f";

const TILLS_BODY: &str = r#"{"id":"ev_1","type":"charge.captured","account":"acct_7","created":1772626530,"data":{"object":{"id":"ch_1","amount":4999,"currency":"eur","capture":{"id":"cap_1"}}}}"#;
const TILLS_SIGNATURE: &str = "2ab6b2b3afef0e850f89e417fa411ca13fa99cffe3920e9b1dee36d8f8efc5ff";

/// The source of that name on the page.
fn source(name: &str) -> SourceSettings {
    let blocks =
        PAGE.split("```toml\n").skip(1).map(|rest| rest.split("```").next().expect("the block ends"));
    let block =
        blocks.into_iter().find(|block| block.contains(&format!("[sources.{name}]"))).expect("a block");
    let page: Value = toml::from_str(block).expect("the block is TOML");
    let source = &page["sources"][name];
    assert_eq!(source["provider"], "custom");
    let secrets: Vec<&str> =
        source["secrets"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let options: Map<String, Value> = source["options"].as_object().expect("a table").clone();
    SourceSettings { options, ..harness::settings(&secrets, &[]) }
}

fn pack(name: &str) -> Custom {
    Custom::new(&source(name)).unwrap()
}

fn at_1_700_000_000(
    pack: &Custom,
    list: &[(&str, &[u8])],
    body: &str,
) -> Result<Option<usize>, &'static str> {
    verdict_at(pack, &headers(list), body.as_bytes(), "", Timestamp::from_micros(1_700_000_000_000_000))
}

#[test]
fn the_first_example_verifies_a_known_answer() {
    let pack = pack("tickets");
    let header = [("x-tickets-signature-256", TICKETS_SIGNATURE.as_bytes())];
    assert_eq!(verdict(&pack, &headers(&header), TICKETS_BODY.as_bytes()), Ok(Some(0)));
    let bare = [("x-tickets-signature-256", TICKETS_SIGNATURE.trim_start_matches("sha256=").as_bytes())];
    assert_eq!(verdict(&pack, &headers(&bare), TICKETS_BODY.as_bytes()), Err("no_known_signature"));
    assert_eq!(verdict(&pack, &headers(&header), b"{}"), Err("wrong_signature"));
    assert_eq!(pack.default_trust(), Trust::Signature);
}

#[test]
fn the_first_example_reads_a_payment_in_major_units() {
    let pack = pack("tickets");
    assert_eq!(ids(&pack, TICKETS_BODY, &[("x-tickets-delivery", b"d-1")]).unwrap(), ["d-1"]);
    let (payment, facts) = told(&pack, TICKETS_BODY);
    assert_eq!((payment.as_str(), facts), ("17", vec!["captured:single 4999 EUR".to_owned()]));
    let event = translated(&pack, TICKETS_BODY);
    assert_eq!((event.kind.as_str(), event.live), ("paid", None));
    assert_eq!(event.occurred_at.unwrap().as_micros(), 1_772_626_530_500_000);
    let canceled = TICKETS_BODY.replace("paid", "cancelled by buyer");
    assert_eq!(told(&pack, &canceled).1, ["canceled"]);
}

#[test]
fn the_second_example_verifies_a_known_answer_of_either_secret() {
    let pack = pack("tills");
    for (value, expected) in [
        (format!("t=1700000000,v1={TILLS_SIGNATURE}"), Ok(Some(1))),
        (format!("t=1700000000,v1={},v1={TILLS_SIGNATURE},v0=x", "00".repeat(32)), Ok(Some(1))),
        (format!("v1={TILLS_SIGNATURE},t=1700000000"), Ok(Some(1))),
        (format!("t=1700000001,v1={TILLS_SIGNATURE}"), Err("wrong_signature")),
        (format!("t=1700000000,v0={TILLS_SIGNATURE}"), Err("no_known_signature")),
        (format!("v1={TILLS_SIGNATURE}"), Err("no_known_signature")),
        ("t=1700000000,v1=zz".to_owned(), Err("malformed_signature")),
    ] {
        let header = [("tills-signature", value.as_bytes())];
        assert_eq!(at_1_700_000_000(&pack, &header, TILLS_BODY), expected, "{value}");
    }
    assert_eq!(at_1_700_000_000(&pack, &[], TILLS_BODY), Err("missing_signature"));
}

#[test]
fn the_second_example_bounds_the_age_on_both_sides() {
    let pack = pack("tills");
    let value = format!("t=1700000000,v1={TILLS_SIGNATURE}");
    let headers = headers(&[("tills-signature", value.as_bytes())]);
    for (offset, expected) in [
        (-300, Ok(Some(1))),
        (300, Ok(Some(1))),
        (301, Err("signature_too_old")),
        (-301, Err("signature_too_new")),
    ] {
        let now = Timestamp::from_micros((1_700_000_000 + offset) * 1_000_000);
        assert_eq!(verdict_at(&pack, &headers, TILLS_BODY.as_bytes(), "", now), expected, "{offset}");
    }
}

#[test]
fn the_second_example_reads_captures_of_an_account() {
    let pack = pack("tills");
    assert_eq!(ids(&pack, TILLS_BODY, &[]).unwrap(), ["ev_1"]);
    let change = changed(&pack, TILLS_BODY);
    assert_eq!(change.merchant.unwrap().as_str(), "acct_7");
    assert_eq!(told(&pack, TILLS_BODY).1, ["captured:cap_1 4999 EUR"]);
    assert_eq!(translated(&pack, TILLS_BODY).occurred_at.unwrap().as_micros(), 1_772_626_530_000_000);
    assert_eq!(&*pack.answer().unwrap().body, "{\"received\":true}");
}

#[test]
fn both_examples_sign_what_they_verify_and_refuse_every_changed_bit() {
    for (name, body) in [("tickets", TICKETS_BODY), ("tills", TILLS_BODY)] {
        let pack = pack(name);
        assert_eq!(verdict(&pack, &signed(&pack, body), body.as_bytes()), Ok(Some(0)), "{name}");
        refuses_every_flip(&pack, body, true);
    }
}

#[test]
fn every_option_is_on_the_page() {
    for name in [
        "algorithm",
        "signature_header",
        "signature_prefix",
        "signature_separator",
        "encoding",
        "signed",
        "url",
        "timestamp_header",
        "timestamp_prefix",
        "timestamp_format",
        "secret_encoding",
        "id",
        "kind",
        "payment",
        "amount",
        "amount_unit",
        "currency",
        "currency_code",
        "merchant",
        "capture",
        "refund",
        "dispute",
        "occurred_at",
        "time_format",
        "answer_body",
        "kinds",
    ] {
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    }
    for (name, _) in super::super::meaning::MEANINGS {
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    }
}
