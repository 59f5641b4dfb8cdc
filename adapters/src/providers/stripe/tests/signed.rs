//! Signatures. The published examples are those of Stripe's own libraries.

use super::*;

const PUBLISHED_SECRET: &str = "webhook_secret";
const PUBLISHED_AT: i64 = 1_533_204_620;
const PUBLISHED: &str = "2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7";
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const PUBLISHED_BODY: &str = r#"{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "cus_123",
      "object": "customer",
      "created": 123456789,
      "email": "test@stripe.com",
      "livemode": false,
      "metadata": {}
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "customer.created"
}
"#;

type Verdict = Result<Option<usize>, &'static str>;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn judged(header: &[u8], body: &str, now: i64) -> Verdict {
    let headers = headers(&[(signature::HEADER, header)]);
    verdict_at(&pack(&[PUBLISHED_SECRET]), &headers, body.as_bytes(), "", at(now))
}

fn header(signatures: &str) -> String {
    format!("t={PUBLISHED_AT},{signatures}")
}

#[test]
fn a_good_v1_is_found_wherever_it_stands() {
    for signatures in [
        format!("v1={PUBLISHED}"),
        format!("v1={PUBLISHED},v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef"),
        format!("v1={ZEROS},v1={PUBLISHED}"),
        format!("v1={PUBLISHED},v1={ZEROS}"),
        format!("v1={ZEROS},v1=zz,v9=x,junk,,v1={PUBLISHED}"),
        format!("v0={ZEROS}, v1={PUBLISHED}"),
        format!("v1={}", PUBLISHED.to_uppercase()),
    ] {
        assert_eq!(
            judged(header(&signatures).as_bytes(), PUBLISHED_BODY, PUBLISHED_AT),
            Ok(Some(0)),
            "{signatures}"
        );
    }
    let time_last = format!("v1={PUBLISHED},t={PUBLISHED_AT}");
    assert_eq!(judged(time_last.as_bytes(), PUBLISHED_BODY, PUBLISHED_AT), Ok(Some(0)));
}

#[test]
fn anything_else_is_refused() {
    let (none, odd, wrong) = ("no_known_signature", "malformed_signature", "wrong_signature");
    for (header, reason) in [
        (String::new(), odd),
        (header(""), none),
        (header(&format!("v0={PUBLISHED}")), none),
        (header("v1="), odd),
        (header("v1=caf\u{e9}"), odd),
        (header(&format!("v1={}", "z".repeat(64))), odd),
        (header(&format!("v1={}", &PUBLISHED[1..])), odd),
        (header(&format!("v1={}", "a".repeat(5_000))), odd),
        (header(&format!("v1={}", &PUBLISHED[2..])), wrong),
        (header(&format!("v1={PUBLISHED}00")), wrong),
        (header(&format!("v1={ZEROS}")), wrong),
        (format!("v1={PUBLISHED}"), odd),
        (format!("t=,v1={PUBLISHED}"), odd),
        (format!("t=+{PUBLISHED_AT},v1={PUBLISHED}"), odd),
        (format!("t=0{PUBLISHED_AT},v1={PUBLISHED}"), wrong),
        ("t,v1=,v0=".to_owned(), odd),
        ("t,v1=,v0".to_owned(), odd),
        ("t,v1=,".to_owned(), odd),
        ("t,,".to_owned(), odd),
        (",,".to_owned(), odd),
        ("t".to_owned(), odd),
    ] {
        assert_eq!(judged(header.as_bytes(), PUBLISHED_BODY, PUBLISHED_AT), Err(reason), "{header}");
    }
    assert_eq!(judged(b"\xff\x00\x80", PUBLISHED_BODY, PUBLISHED_AT), Err(odd));
    assert_eq!(verdict_at(&pack(&[SECRET]), &[], b"{}", "", NOW), Err("missing_signature"));
}

#[test]
fn only_the_first_signatures_of_a_flood_are_tried() {
    let flood = header(&format!("{}v1={PUBLISHED}", format!("v1={ZEROS},").repeat(32)));
    assert_eq!(judged(flood.as_bytes(), PUBLISHED_BODY, PUBLISHED_AT), Err("wrong_signature"));
}

#[test]
fn the_raw_bytes_count() {
    let good = header(&format!("v1={PUBLISHED}"));
    let anew = serde_json::from_str::<serde_json::Value>(PUBLISHED_BODY).unwrap().to_string();
    for body in [PUBLISHED_BODY.trim_end(), &anew, &format!("{PUBLISHED_BODY} "), ""] {
        assert_eq!(judged(good.as_bytes(), body, PUBLISHED_AT), Err("wrong_signature"));
    }
}

#[test]
fn a_secret_is_the_key_as_a_whole() {
    let body = r#"{"account":"acct_123","api_version":"2017-05-25"}"#;
    let signed = pack(&[SECRET]).sign(body.as_bytes(), NOW).unwrap();
    let sent = headers(&[(signature::HEADER, signed.headers[0].1.as_bytes())]);
    let shorter = SECRET.strip_prefix("whsec_").unwrap();
    assert_eq!(verdict_at(&pack(&[SECRET]), &sent, body.as_bytes(), "", NOW), Ok(Some(0)));
    assert_eq!(verdict_at(&pack(&[shorter]), &sent, body.as_bytes(), "", NOW), Err("wrong_signature"));
    assert_eq!(verdict_at(&pack(&[shorter, SECRET]), &sent, body.as_bytes(), "", NOW), Ok(Some(1)));
}

#[test]
fn the_age_is_bounded_on_both_sides() {
    let good = header(&format!("v1={PUBLISHED}"));
    for (offset, expected) in [
        (300, Ok(Some(0))),
        (-300, Ok(Some(0))),
        (301, Err("signature_too_old")),
        (-301, Err("signature_too_new")),
    ] {
        assert_eq!(judged(good.as_bytes(), PUBLISHED_BODY, PUBLISHED_AT + offset), expected, "{offset}");
    }
}

#[test]
fn several_header_lines_count_as_one() {
    let (first, second) = (header(&format!("v1={ZEROS}")), format!("t=1,v1={PUBLISHED}"));
    let list = headers(&[(signature::HEADER, first.as_bytes()), (signature::HEADER, second.as_bytes())]);
    let verdict =
        verdict_at(&pack(&[PUBLISHED_SECRET]), &list, PUBLISHED_BODY.as_bytes(), "", at(PUBLISHED_AT));
    assert_eq!(verdict, Ok(Some(0)));
}

#[test]
fn a_flipped_bit_is_refused() {
    refuses_every_flip(&pack(&[SECRET]), SUCCEEDED, true);
}
