//! How requests are verified.

use super::*;
use crate::providers::signing::{Algorithm, KeyedHash};

const SHA256: &str = "cf0f54e0e5cb2f963fa581f8af2ceadbd78095665c212d8bd1b462d512654368";

fn on_body(pack: &Custom, list: &[(&str, &str)]) -> Result<Option<usize>, &'static str> {
    let list: Vec<_> = list.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    verdict(pack, &headers(&list), BODY.as_bytes())
}

#[test]
fn each_algorithm_verifies_a_known_answer() {
    for (algorithm, signature) in [
        ("hmac-sha1", "a1154d6b3b15c9f336fdf6aa094a9707010c5669"),
        ("hmac-sha256", SHA256),
        (
            "hmac-sha512",
            "a50fe0965517513895b64c50aaf6e64c891f36f196c4b2a95a656022869a8caa8d9a9b904cbd7e52d07544a1bac28d5a894a28362b84d946ff47c677417d1a15",
        ),
    ] {
        let pack = custom(&[("algorithm", json!(algorithm))]);
        assert_eq!(on_body(&pack, &[("x-sig", signature)]), Ok(Some(0)), "{algorithm}");
        assert_eq!(on_body(&pack, &[("x-sig", &signature[2..])]), Err("wrong_signature"), "{algorithm}");
    }
}

#[test]
fn a_hexadecimal_secret_a_signed_header_and_base64_verify_a_known_answer() {
    let further = options(&[
        ("id", json!("header:X-Id")),
        ("signed", json!("{id}.{timestamp}.{body}")),
        ("timestamp_header", json!("X-Time")),
        ("encoding", json!("base64")),
        ("secret_encoding", json!("hex")),
    ]);
    let pack = Custom::new(&harness::settings(&["00ff10"], &further)).unwrap();
    let good = "ueia9YIXQ9YumNAtwA5udjE83JL22esjuv8JjRgafQE=";
    let request =
        |id, time, signature| on_body(&pack, &[("x-id", id), ("x-time", time), ("x-sig", signature)]);
    assert_eq!(request("7", "1700000000", good), Ok(Some(0)));
    assert_eq!(request("8", "1700000000", good), Err("wrong_signature"));
    assert_eq!(request("7", "1700000001", good), Err("wrong_signature"));
    assert_eq!(request("7", "1700000000", good.trim_end_matches('=')), Err("malformed_signature"));
    assert_eq!(on_body(&pack, &[("x-id", "7"), ("x-sig", good)]), Err("missing_signature"));
    assert_eq!(on_body(&pack, &[("x-time", "1700000000"), ("x-sig", good)]), Err("missing_signature"));
}

#[test]
fn a_secret_that_is_not_written_as_it_should_be_is_refused() {
    for (encoding, secret) in [("hex", "0x17"), ("base64", "a")] {
        let settings = harness::settings(&[secret], &options(&[("secret_encoding", json!(encoding))]));
        assert!(matches!(Custom::new(&settings).err(), Some(SetupError::BadSecret(_))), "{encoding}");
    }
}

#[test]
fn a_configured_url_is_signed_as_it_is_written() {
    let pack = |url: &str| custom(&[("signed", json!("{url}{body}")), ("url", json!(url))]);
    let ours = pack("https://shop.example/hook?a=b");
    assert_eq!(verdict(&ours, &signed(&ours, BODY), BODY.as_bytes()), Ok(Some(0)));
    let theirs = signed(&pack("https://shop.example/hook"), BODY);
    assert_eq!(verdict(&ours, &theirs, BODY.as_bytes()), Err("wrong_signature"));
}

#[test]
fn a_time_may_be_in_milliseconds_or_in_rfc_3339() {
    for format in ["unix", "unix-ms", "rfc3339"] {
        let pack = custom(&[
            ("signed", json!("{timestamp}{body}")),
            ("timestamp_header", json!("X-Time")),
            ("timestamp_format", json!(format)),
        ]);
        let headers = signed(&pack, BODY);
        assert_eq!(verdict(&pack, &headers, BODY.as_bytes()), Ok(Some(0)), "{format}");
        let late = Timestamp::from_micros(NOW.as_micros() + 301_000_000);
        assert_eq!(
            verdict_at(&pack, &headers, BODY.as_bytes(), "", late),
            Err("signature_too_old"),
            "{format}"
        );
    }
}

#[test]
fn a_signed_time_that_is_none_is_refused() {
    let pack = custom(&[("signed", json!("{timestamp}{body}")), ("timestamp_header", json!("X-Time"))]);
    let keyed = KeyedHash::new(Algorithm::Sha256, &[SECRET.as_bytes().to_vec()]).unwrap();
    for time in ["", "soon", "-1", "1.7e9"] {
        let signature = hex_text(&keyed.sign(&[time.as_bytes(), BODY.as_bytes()]));
        assert_eq!(
            on_body(&pack, &[("x-time", time), ("x-sig", &signature)]),
            Err("malformed_signature"),
            "{time}"
        );
    }
}

#[test]
fn a_token_is_compared_as_a_whole() {
    let pack = |secrets: &[&str], further: &[(&'static str, Value)]| {
        let mut all = vec![("algorithm", json!("token"))];
        all.extend(further.iter().cloned());
        Custom::new(&harness::settings(secrets, &options(&all))).unwrap()
    };
    let plain = pack(&["new", "old"], &[]);
    assert_eq!(on_body(&plain, &[("x-sig", "old")]), Ok(Some(1)));
    for wrong in ["", "ol", "older", "OLD"] {
        assert_eq!(on_body(&plain, &[("x-sig", wrong)]), Err("wrong_signature"), "{wrong}");
    }
    assert_eq!(on_body(&plain, &[]), Err("missing_signature"));
    let bearer = pack(&["abc"], &[("signature_prefix", json!("Bearer "))]);
    assert_eq!(on_body(&bearer, &[("x-sig", "Bearer abc")]), Ok(Some(0)));
    assert_eq!(on_body(&bearer, &[("x-sig", "abc")]), Err("no_known_signature"));
    assert_eq!(verdict(&bearer, &signed(&bearer, BODY), BODY.as_bytes()), Ok(Some(0)));
}

#[test]
fn only_what_binds_the_whole_meaning_is_trusted() {
    let trust = |further: &[(&'static str, Value)]| custom(further).default_trust();
    let unsigned_kind = ("kind", json!("header:X-Kind"));
    assert_eq!(trust(&[]), Trust::Signature);
    assert_eq!(trust(&[("id", json!("header:X-Id"))]), Trust::Signature);
    assert_eq!(trust(&[("algorithm", json!("token"))]), Trust::Confirm);
    assert_eq!(trust(&[("signed", json!("{header:X-Id}"))]), Trust::Confirm);
    assert_eq!(trust(std::slice::from_ref(&unsigned_kind)), Trust::Confirm);
    assert_eq!(trust(&[("signed", json!("{header:x-kind}{body}")), unsigned_kind]), Trust::Signature);
}

#[test]
fn a_request_is_not_signed_in_the_senders_place_where_only_the_sender_can() {
    let pack = custom(&[("signed", json!("{header:X-Path}{body}"))]);
    assert!(pack.sign(BODY.as_bytes(), NOW).is_err());
    let pack = custom(&[("id", json!("header:X-Id")), ("signed", json!("{id}{body}"))]);
    let headers = signed(&pack, BODY);
    assert_eq!(verdict(&pack, &headers, BODY.as_bytes()), Ok(Some(0)));
    assert!(pack.identify(&WebhookRequest { body: BODY.as_bytes(), headers: &headers, query: "" }).is_ok());
}
