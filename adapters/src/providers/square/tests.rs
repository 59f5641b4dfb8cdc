use serde_json::json;

use super::*;
use crate::providers::harness::{self, NOW, headers, never_panics, refuses_every_flip, verdict};

mod meaning;

const URL: &str = "https://shop.example/webhooks/square?till=1";
const PAYMENT: &str = include_str!("fixtures/payment.json");
const REFUND: &str = include_str!("fixtures/refund.json");
const DISPUTE: &str = include_str!("fixtures/dispute.json");
const PAYOUT: &str = include_str!("fixtures/payout.json");

fn settings(secrets: &[&str], url: &str) -> SourceSettings {
    harness::settings(secrets, &[("notification_url", json!(url))])
}

fn square(secrets: &[&str]) -> Square {
    pack(&settings(secrets, URL)).unwrap()
}

/// Known answers: signature key, notification URL, body, signature, and whether it verifies.
const KNOWN: [(&str, &str, &str, &str, bool); 9] = [
    ("Ibxx_5AKakO-3qeNVR61Dw", HOOK, TEST_BODY, TEST_SIGNATURE, true),
    // One character of the URL is missing.
    (
        "Ibxx_5AKakO-3qeNVR61Dw",
        "https://webhook.site/79a4f3a-dcfa-49ee-bac5-9d0edad886b9",
        TEST_BODY,
        TEST_SIGNATURE,
        false,
    ),
    ("MCmhFRxGX82xMwg5FsaoQA", HOOK, TEST_BODY, TEST_SIGNATURE, false),
    // As long as a SHA-1 signature.
    ("Ibxx_5AKakO-3qeNVR61Dw", HOOK, TEST_BODY, "2DyfNd9bHuRs3CBFbo5wLPbvf9M=", false),
    (
        "Ibxx_5AKakO-3qeNVR61Dw",
        HOOK,
        r#"{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f","created_at":"2022-06-13T20:30:59.037339943Z","data":{"type":"webhooks","id":"bc368e64-01aa-407e-b46e-3231809b1129"}}"#,
        TEST_SIGNATURE,
        false,
    ),
    // The same value, formatted anew.
    (
        "Ibxx_5AKakO-3qeNVR61Dw",
        HOOK,
        r#"{ "merchant_id": "MLEFBHHSJGVHD", "type": "webhooks.test_notification", "event_id": "ac3ac95b-f97d-458c-a6e6-18981597e05f", "created_at": "2022-07-13T20:30:59.037339943Z", "data": { "type": "webhooks", "id": "bc368e64-01aa-407e-b46e-3231809b1129" } }"#,
        TEST_SIGNATURE,
        false,
    ),
    (
        "signature-key",
        "https://webhook.site/webhooks",
        r#"{"data":{"type":"webhooks","id":">id<"}}"#,
        "Cxt7+aTi4rKgcA0bC4g9EHdVtLSDWdqccmL5MvihU4U=",
        true,
    ),
    (
        "signature-key",
        "https://webhook.site/webhooks",
        r#"{"data":{"type":"webhooks","id":"fake_id"}}"#,
        "W3FlCNk5IA3ZQ2LHTWoajvzfaDu/OwY2tNHIHC3IUOA=",
        true,
    ),
    (
        "asdf1234",
        "https://example.com/webhook",
        r#"{"hello":"world"}"#,
        "2kRE5qRU2tR+tBGlDwMEw2avJ7QM4ikPYD/PJ3bd9Og=",
        true,
    ),
];
const HOOK: &str = "https://webhook.site/679a4f3a-dcfa-49ee-bac5-9d0edad886b9";
const TEST_BODY: &str = r#"{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f","created_at":"2022-07-13T20:30:59.037339943Z","data":{"type":"webhooks","id":"bc368e64-01aa-407e-b46e-3231809b1129"}}"#;
const TEST_SIGNATURE: &str = "GF4YkrJgGBDZ9NIYbNXBnMzqb2HoL4RW/S6vkZ9/2N4=";

#[test]
fn known_signatures_verify_and_their_forgeries_do_not() {
    for (key, url, body, signature, valid) in KNOWN {
        let square = pack(&settings(&[key], url)).unwrap();
        let headers = headers(&[(SIGNATURE_HEADER, signature.as_bytes())]);
        let expected = if valid { Ok(Some(0)) } else { Err("wrong_signature") };
        assert_eq!(verdict(&square, &headers, body.as_bytes()), expected, "{key} {url}");
    }
}

#[test]
fn the_signature_of_either_secret_is_taken_and_its_place_is_told() {
    let (_, signed) = square(&["new"]).sign(b"{}", NOW).unwrap().headers.remove(0);
    let wrong = square(&["other"]).sign(b"{}", NOW).unwrap().headers.remove(0).1;
    let lines = [(SIGNATURE_HEADER, wrong.as_bytes()), (SIGNATURE_HEADER, signed.as_bytes())];
    assert_eq!(verdict(&square(&["old", "new"]), &headers(&lines), b"{}"), Ok(Some(1)));
    assert_eq!(verdict(&square(&["old"]), &headers(&lines), b"{}"), Err("wrong_signature"));
}

#[test]
fn the_older_signature_is_not_read() {
    let (_, signed) = square(&["key"]).sign(b"{}", NOW).unwrap().headers.remove(0);
    let older = headers(&[("x-square-signature", signed.as_bytes())]);
    assert_eq!(verdict(&square(&["key"]), &older, b"{}"), Err("missing_signature"));
}

#[test]
fn a_malformed_signature_is_told_from_a_wrong_one() {
    for odd in [&b""[..], b"=", b"AAAA====", "\u{e9}".as_bytes(), b"\xff\xfe", &[b'A'; 5_000]] {
        let headers = headers(&[(SIGNATURE_HEADER, odd)]);
        assert_eq!(verdict(&square(&["key"]), &headers, b"{}"), Err("malformed_signature"));
    }
}

#[test]
fn a_source_needs_the_exact_url_and_a_secret() {
    for url in ["", "/webhooks/square", "ftp://shop.example/", " https://shop.example/", "https://"] {
        assert!(matches!(build(&settings(&["key"], url)), Err(SetupError::BadOption(_))), "{url}");
    }
    for options in [&[][..], &[("notification_url", json!(URL)), ("other", json!(1))]] {
        assert!(matches!(build(&harness::settings(&["key"], options)), Err(SetupError::BadOption(_))));
    }
    assert!(matches!(build(&settings(&[], URL)), Err(SetupError::NoSecret(_))));
    assert!(matches!(build(&settings(&["key", " "], URL)), Err(SetupError::BlankSecret)));
}

#[test]
fn kinds_of_one_change_are_told_apart_by_their_type() {
    let provider = build(&settings(&["key"], URL)).unwrap();
    let id = |body: &str| harness::ids(provider.as_ref(), body, &[]).unwrap().remove(0);
    assert_eq!(id(r#"{"event_id":"e1","type":"dispute.state.updated"}"#), "e1|dispute.state.updated");
    assert_eq!(id(r#"{"event_id":"e1","type":"dispute.state.changed"}"#), "e1|dispute.state.changed");
    assert_eq!(id(r#"{"event_id":"e1"}"#), "e1|");
}

#[test]
fn an_authentic_body_without_an_id_is_malformed() {
    let provider = build(&settings(&["key"], URL)).unwrap();
    for (body, place) in [("{}", "/event_id"), ("[]", ""), ("", ""), (r#"{"event_id":"a\u0000"}"#, "")] {
        let problems = harness::ids(provider.as_ref(), body, &[]).unwrap_err();
        assert_eq!(problems[0].0, place, "{body}");
    }
}

#[test]
fn every_changed_bit_is_refused() {
    refuses_every_flip(&square(&["key"]), PAYMENT, false);
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&square(&["key"]), &[SIGNATURE_HEADER], &[PAYMENT, REFUND, DISPUTE, PAYOUT]);
}
