use domain::Timestamp;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::*;
use crate::providers::harness::{self, NOW, never_panics, verdict};
use crate::providers::pack::Pack;

mod known;
mod meaning;
mod platform;

use known::KNOWN;

const KEY: &str = "DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00";
const OTHER_KEY: &str = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";
/// A key that has signed nothing here.
const UNUSED_KEY: &str = "00112233445566778899AABBCCDDEEFF";
const BATCH: &str = include_str!("fixtures/batch.json");

fn standard(keys: &[&str], capture: Capture) -> Standard {
    Standard { keyed: keyed(&harness::settings(keys, &[])).unwrap(), capture }
}

fn adyen() -> Standard {
    standard(&[KEY], Capture::Automatic)
}

/// A request with one item. `value` and `additional` are JSON.
fn request(members: [&str; 7], value: &str, additional: &str) -> String {
    let [psp, original, merchant, reference, currency, code, success] =
        members.map(|text| json!(text).to_string());
    format!(
        r#"{{"live":"false","notificationItems":[{{"NotificationRequestItem":{{"pspReference":{psp},"originalReference":{original},"merchantAccountCode":{merchant},"merchantReference":{reference},"amount":{{"currency":{currency},"value":{value}}},"eventCode":{code},"success":{success},"additionalData":{additional},"eventDate":"2026-01-02T03:04:05+01:00"}}}}]}}"#
    )
}

fn signature(text: &str) -> String {
    format!(r#"{{"hmacSignature":"{text}"}}"#)
}

#[test]
fn known_items_verify() {
    for (key, members, value, known) in KNOWN {
        let body = request(members, value, &signature(known));
        assert_eq!(
            verdict(&standard(&[key], Capture::Manual), &[], body.as_bytes()),
            Ok(Some(0)),
            "{members:?}"
        );
        let slash = body.replace('/', "\\/");
        let told = verdict(&standard(&[UNUSED_KEY, key], Capture::Manual), &[], slash.as_bytes());
        assert_eq!(told, Ok(Some(1)), "{members:?}");
    }
}

#[test]
fn a_missing_member_is_signed_as_an_empty_one() {
    let (key, members, value, known) = KNOWN[2];
    let body = request(members, value, &signature(known));
    for none in ["", "\"originalReference\":null,"] {
        let body = body.replace("\"originalReference\":\"\",", none);
        assert_eq!(verdict(&standard(&[key], Capture::Manual), &[], body.as_bytes()), Ok(Some(0)));
    }
}

#[test]
fn what_is_not_signed_may_change_and_is_not_money() {
    let (key, members, value, known) = KNOWN[0];
    let body = request(members, value, &signature(known)).replace("2026-01-02", "2030-01-02");
    assert_eq!(verdict(&standard(&[key], Capture::Manual), &[], body.as_bytes()), Ok(Some(0)));
}

#[test]
fn an_odd_signature_is_refused_with_its_reason() {
    let (key, members, value, _) = KNOWN[0];
    for (additional, reason) in [
        ("{}", "missing_signature"),
        ("null", "missing_signature"),
        ("[]", "missing_signature"),
        (r#"{"hmacSignature":null}"#, "missing_signature"),
        (r#"{"hmacSignature":12345}"#, "malformed_signature"),
        (r#"{"hmacSignature":""}"#, "malformed_signature"),
        (r#"{"hmacSignature":{}}"#, "malformed_signature"),
        (r#"{"hmacSignature":"notValidSign"}"#, "wrong_signature"),
        (r#"{"hmacSignature":"invalidHMACsign"}"#, "malformed_signature"),
        (r#"{"hmacSignature":"\ud800"}"#, "malformed_signature"),
        // 33 bytes.
        (r#"{"hmacSignature":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#, "wrong_signature"),
    ] {
        let body = request(members, value, additional);
        assert_eq!(
            verdict(&standard(&[key], Capture::Manual), &[], body.as_bytes()),
            Err(reason),
            "{additional}"
        );
    }
}

#[test]
fn a_request_is_taken_whole_or_not_at_all() {
    let signed = String::from_utf8(adyen().sign(BATCH.as_bytes(), NOW).unwrap().body).unwrap();
    assert_eq!(verdict(&adyen(), &[], signed.as_bytes()), Ok(Some(0)));
    let one_changed = signed.replacen("1130", "999999", 1);
    assert_ne!(one_changed, signed);
    assert_eq!(verdict(&adyen(), &[], one_changed.as_bytes()), Err("wrong_signature"));
}

#[test]
fn what_holds_no_item_is_signed_by_nobody() {
    for body in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"live":"false","notificationItems":[]}"#,
        r#"{"notificationItems":{}}"#,
        r#"{"notificationItems":[{}]}"#,
        r#"{"notificationItems":[{"NotificationRequestItem":7}]}"#,
        r#"{"notificationItems":[{"NotificationRequestItem":{}}]}"#,
    ] {
        assert_eq!(verdict(&adyen(), &[], body.as_bytes()), Err("missing_signature"), "{body}");
    }
}

#[test]
fn members_cannot_be_shifted_against_each_other() {
    let signed = |members, value| {
        let body = adyen().sign(request(members, value, "{}").as_bytes(), NOW);
        body.map(|request| String::from_utf8(request.body).unwrap())
    };
    // The merchant's reference of the genuine item holds what looks like an amount.
    let genuine = signed(["P1", "", "Shop", "order:5", "EUR", "AUTHORISATION", "true"], "1000").unwrap();
    assert_eq!(verdict(&adyen(), &[], genuine.as_bytes()), Ok(Some(0)));
    for (from, to) in [
        (r#""pspReference":"P1","success""#, r#""pspReference":"P1:","success""#),
        (
            r#""merchantAccountCode":"Shop","merchantReference":"order:5""#,
            r#""merchantAccountCode":"Shop:order","merchantReference":"5""#,
        ),
    ] {
        let shifted = genuine.replace(from, to);
        assert_ne!(shifted, genuine, "{genuine}");
        assert_eq!(verdict(&adyen(), &[], shifted.as_bytes()), Err("ambiguous_signature"));
    }
    assert!(signed(["P:1", "", "Shop", "order", "EUR", "AUTHORISATION", "true"], "1000").is_err());
}

#[test]
fn a_source_needs_keys_in_hexadecimal() {
    let built = |keys: &[&str], options: &[_]| build(&harness::settings(keys, options)).err();
    assert_eq!(built(&[KEY], &[]), None);
    assert_eq!(built(&[KEY], &[("capture", json!("manual"))]), None);
    assert_eq!(built(&[KEY], &[("platform", json!(true))]), None);
    assert!(matches!(built(&[], &[]), Some(SetupError::NoSecret(_))));
    assert!(matches!(built(&[""], &[]), Some(SetupError::BlankSecret)));
    assert!(matches!(built(&["not hexadecimal"], &[]), Some(SetupError::BadSecret(_))));
    for options in [
        &[("capture", json!("sometimes"))][..],
        &[("platform", json!(true)), ("capture", json!("manual"))],
        &[("other", json!(1))],
    ] {
        assert!(matches!(built(&[KEY], options), Some(SetupError::BadOption(_))));
    }
}

#[test]
fn the_answer_is_the_one_that_adyen_likes_best() {
    let answer = adyen().answer().unwrap();
    assert_eq!((answer.status, answer.content_type, answer.body.as_ref()), (200, "text/plain", "[accepted]"));
}

#[test]
fn a_body_without_an_item_cannot_be_signed() {
    let provider = build(&harness::settings(&[KEY], &[])).unwrap();
    for body in [r#"{"notificationItems":[]}"#, r#"{"live":"false"}"#, "[]", ""] {
        assert!(provider.sign(body.as_bytes(), NOW).is_err(), "{body}");
    }
}

#[test]
fn each_item_has_its_own_id_and_a_repeated_one_counts_once() {
    let provider = build(&harness::settings(&[KEY], &[])).unwrap();
    let ids = harness::ids(provider.as_ref(), BATCH, &[]).unwrap();
    assert_eq!(
        ids,
        [
            "FIX0000000000001|AUTHORISATION|true",
            "FIX0000000000002|CAPTURE|true",
            "FIX0000000000003|REFUND|false"
        ]
    );
    let twice = BATCH
        .replace("FIX0000000000003", "FIX0000000000002")
        .replace("REFUND", "CAPTURE")
        .replace("\"false\",", "\"true\",");
    assert_eq!(harness::ids(provider.as_ref(), &twice, &[]).unwrap(), ids[..2]);
    for (from, to, place) in [
        ("FIX0000000000002", "", "/notificationItems/1/NotificationRequestItem/pspReference"),
        ("AUTHORISATION", "", "/notificationItems/0/NotificationRequestItem/eventCode"),
        ("REFUND", "a\\nb", "/notificationItems/2/NotificationRequestItem"),
    ] {
        let problems = harness::ids(provider.as_ref(), &BATCH.replace(from, to), &[]).unwrap_err();
        assert_eq!(problems[0].0, place);
    }
}

proptest! {
    #[test]
    fn a_changed_signed_member_or_signature_is_refused(member in 0_usize..9, at in any::<Index>(), bit in 0_u8..7) {
        let (key, members, value, known) = KNOWN[0];
        let mut texts: Vec<String> = members.iter().chain([&value, &known]).map(|text| (*text).to_owned()).collect();
        let mut bytes = std::mem::take(&mut texts[member]).into_bytes();
        let place = at.index(bytes.len());
        bytes[place] ^= 1 << bit;
        texts[member] = String::from_utf8(bytes).unwrap();
        let changed: [&str; 7] = std::array::from_fn(|index| texts[index].as_str());
        let additional = json!({"hmacSignature": texts[8]}).to_string();
        let body = request(changed, &json!(texts[7]).to_string(), &additional);
        prop_assert!(verdict(&standard(&[key], Capture::Manual), &[], body.as_bytes()).is_err());
    }
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&adyen(), &[], &[BATCH]);
}

#[test]
fn the_time_does_not_matter() {
    let (key, members, value, known) = KNOWN[0];
    let body = request(members, value, &signature(known));
    let late = Timestamp::from_micros(i64::MAX);
    let told = harness::verdict_at(&standard(&[key], Capture::Manual), &[], body.as_bytes(), "", late);
    assert_eq!(told, Ok(Some(0)));
}
