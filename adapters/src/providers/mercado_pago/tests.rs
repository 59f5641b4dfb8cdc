use domain::{Effect, NoEffect};
use proptest::prelude::*;

use super::*;
use crate::providers::harness::{
    NOW, headers, ids, never_panics, settings, translated, untranslatable, verdict_at,
};

const SECRET: &str = "your_secret_key_here";
const REQUEST_ID: &str = "2066ca19-c6f1-498a-be75-1923005edd06";
const UPPER: &str = "data.id=ORD01JQ4S4KY8HWQ6NA5PXB65B3D3&type=order";

/// What signs the id in lower case, at [`MILLISECONDS`].
const LOWER_SIGNATURE: &str = "633f91233312dd391ec75fa0bea539cfc2d6c4918873305b84a96cc1c58db71c";
/// What signs the id as it is given, in capitals, at [`MILLISECONDS`].
const UPPER_SIGNATURE: &str = "fb15ae6472eb449173c556793205d77787d58f384d183bb5bc3b724c27bd103c";
const MILLISECONDS: i64 = 1_742_505_638_683;

const NOTIFICATION: &str = r#"{"id":112200,"live_mode":true,"type":"payment","date_created":"2023-11-14T19:13:20.000-03:00","user_id":"98","api_version":"v1","action":"payment.updated","data":{"id":"1234567890"}}"#;

fn source() -> MercadoPago {
    pack(&settings(&[SECRET], &[])).unwrap()
}

fn judge(
    signature: &[u8],
    request_id: Option<&str>,
    query: &str,
    now: Timestamp,
) -> Result<Option<usize>, &'static str> {
    let mut list = vec![("x-signature", signature)];
    list.extend(request_id.map(|id| ("x-request-id", id.as_bytes())));
    verdict_at(&source(), &headers(&list), b"{}", query, now)
}

fn at_milliseconds(milliseconds: i64) -> Timestamp {
    Timestamp::from_micros(milliseconds * 1_000)
}

/// `v1` of these texts, by the secret.
fn signed(manifest: &str) -> String {
    let keyed = KeyedHash::new(Algorithm::Sha256, &[SECRET.as_bytes().to_vec()]).unwrap();
    crate::providers::signing::hex_text(&keyed.sign(&[manifest.as_bytes()]))
}

#[test]
fn an_id_is_signed_as_it_is_given_or_in_lower_case() {
    let now = at_milliseconds(MILLISECONDS);
    for signature in [UPPER_SIGNATURE, LOWER_SIGNATURE] {
        let header = format!("ts={MILLISECONDS},v1={signature}");
        assert_eq!(judge(header.as_bytes(), Some(REQUEST_ID), UPPER, now), Ok(Some(0)));
    }
    let header = format!("ts={MILLISECONDS},v1={UPPER_SIGNATURE}");
    let lower = UPPER.to_ascii_lowercase();
    assert_eq!(judge(header.as_bytes(), Some(REQUEST_ID), &lower, now), Err("wrong_signature"));
}

#[test]
fn only_v1_is_read_and_nothing_odd_panics() {
    let now = at_milliseconds(MILLISECONDS);
    for (header, reason) in [
        (format!("ts={MILLISECONDS},v2={LOWER_SIGNATURE}"), "no_known_signature"),
        (format!("ts={MILLISECONDS}"), "no_known_signature"),
        (format!("ts=1704908010,v1=é{}", "a".repeat(63)), "malformed_signature"),
        (format!("v1={LOWER_SIGNATURE}"), "malformed_signature"),
        (format!("ts=soon,v1={LOWER_SIGNATURE}"), "malformed_signature"),
        (format!("ts={MILLISECONDS},v1="), "malformed_signature"),
        (String::new(), "malformed_signature"),
        (format!("ts={MILLISECONDS},v1={}", "0".repeat(64)), "wrong_signature"),
        (format!("ts={},v1={LOWER_SIGNATURE}", MILLISECONDS + 1), "wrong_signature"),
    ] {
        assert_eq!(judge(header.as_bytes(), Some(REQUEST_ID), UPPER, now), Err(reason), "{header}");
    }
    assert_eq!(judge(b"\xff", Some(REQUEST_ID), UPPER, now), Err("malformed_signature"));
    assert_eq!(verdict_at(&source(), &[], b"{}", UPPER, now), Err("missing_signature"));
}

#[test]
fn one_good_signature_of_several_is_enough_in_any_place() {
    let now = at_milliseconds(MILLISECONDS);
    let zeros = "0".repeat(64);
    for header in [
        format!("v1={LOWER_SIGNATURE},v1={zeros},ts={MILLISECONDS}"),
        format!(" ts={MILLISECONDS} , v1={zeros} , v1={LOWER_SIGNATURE}"),
    ] {
        assert_eq!(judge(header.as_bytes(), Some(REQUEST_ID), UPPER, now), Ok(Some(0)), "{header}");
    }
}

#[test]
fn either_secret_counts_while_both_are_set() {
    let header = format!("ts={MILLISECONDS},v1={LOWER_SIGNATURE}");
    let list = headers(&[("x-signature", header.as_bytes()), ("x-request-id", REQUEST_ID.as_bytes())]);
    let both = pack(&settings(&["new", SECRET], &[])).unwrap();
    assert_eq!(verdict_at(&both, &list, b"{}", UPPER, at_milliseconds(MILLISECONDS)), Ok(Some(1)));
}

#[test]
fn what_has_no_value_is_not_signed() {
    let time = NOW.as_secs();
    for (manifest, request_id, query) in [
        (format!("request-id:r1;ts:{time};"), Some("r1"), "type=payment"),
        (format!("request-id:r1;ts:{time};"), Some("r1"), "data.id=&type=payment"),
        (format!("id:123;ts:{time};"), None, "data.id=123"),
        (format!("ts:{time};"), None, ""),
    ] {
        let header = format!("ts={time},v1={}", signed(&manifest));
        assert_eq!(judge(header.as_bytes(), request_id, query, NOW), Ok(Some(0)), "{manifest}");
    }
}

#[test]
fn the_id_in_the_query_is_decoded() {
    let time = NOW.as_secs();
    let header = format!("ts={time},v1={}", signed(&format!("id:a b/ü;ts:{time};")));
    for query in ["data.id=a%20b%2f%C3%BC", "x=1&data%2Eid=a+b/%c3%bc&data.id=other"] {
        assert_eq!(judge(header.as_bytes(), None, query, NOW), Ok(Some(0)), "{query}");
    }
}

#[test]
fn a_time_is_in_seconds_or_in_milliseconds_and_near_ours() {
    let judge_at = |time: i64, now: i64| {
        let header = format!("ts={time},v1={}", signed(&format!("ts:{time};")));
        judge(header.as_bytes(), None, "", Timestamp::from_micros(now * 1_000_000))
    };
    let seconds = 1_704_908_010;
    for (now, verdict) in [
        (seconds, Ok(Some(0))),
        (seconds + 300, Ok(Some(0))),
        (seconds + 301, Err("signature_too_old")),
        (seconds - 301, Err("signature_too_new")),
    ] {
        assert_eq!(judge_at(seconds, now), verdict);
        assert_eq!(judge_at(seconds * 1_000, now), verdict);
    }
}

#[test]
fn whatever_is_changed_in_header_or_query_is_refused() {
    let SignedRequest { headers: good, query, .. } = source().sign(NOTIFICATION.as_bytes(), NOW).unwrap();
    let list: Vec<_> = good.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let good = headers(&list);
    assert_eq!(verdict_at(&source(), &good, b"{}", &query, NOW), Ok(Some(0)));
    proptest!(|(which in 0_usize..2, place: prop::sample::Index, digit in "[g-z]")| {
        let mut changed = good.clone();
        let value = &mut changed[which].1;
        let place = place.index(value.len());
        value[place] = digit.as_bytes()[0];
        prop_assume!(changed != good);
        let verdict = verdict_at(&source(), &changed, NOTIFICATION.as_bytes(), &query, NOW);
        prop_assert!(verdict.is_err());
        let other = format!("{query}{digit}");
        let verdict = verdict_at(&source(), &good, NOTIFICATION.as_bytes(), &other, NOW);
        prop_assert!(verdict.is_err());
    });
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&source(), &verify::HEADERS, &[NOTIFICATION]);
}

#[test]
fn what_is_signed_here_verifies_here_and_the_event_id_is_the_notifications() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    assert_eq!(ids(&*provider, NOTIFICATION, &[]), Ok(vec!["112200".to_owned()]));
    let text = NOTIFICATION.replace("112200", "\"n-1\"").replace("1234567890", "ORD01 É");
    assert_eq!(ids(&*provider, &text, &[]), Ok(vec!["n-1".to_owned()]));
    for body in ["[]", "{}", r#"{"id":1}"#, r#"{"id":1,"data":{}}"#] {
        assert!(provider.sign(body.as_bytes(), NOW).is_err(), "{body}");
    }
}

#[test]
fn an_authentic_notification_without_an_id_is_malformed() {
    for (body, pointer) in [(&b"7"[..], ""), (b"{}", "/id"), (br#"{"id":null}"#, "/id")] {
        let problems = source().identify(&WebhookRequest { body, headers: &[], query: "" }).unwrap_err();
        assert_eq!(problems[0].pointer, pointer);
    }
}

#[test]
fn a_payment_has_to_be_looked_up_and_other_notifications_need_not() {
    for (body, effect) in [
        (NOTIFICATION.to_owned(), NoEffect::Unconfirmed),
        (NOTIFICATION.replace(r#""type":"payment""#, r#""type":"order""#), NoEffect::Unconfirmed),
        (NOTIFICATION.replace(r#""type":"payment""#, r#""type":"plan""#), NoEffect::Kind),
        ("{}".to_owned(), NoEffect::Kind),
    ] {
        assert_eq!(translated(&source(), &body).effect, Effect::Nothing(effect), "{body}");
    }
    assert!(untranslatable(&source(), "[]").contains("not a JSON object"));
}

#[test]
fn the_kind_the_mode_and_the_time_are_the_bodys() {
    let translation = translated(&source(), NOTIFICATION);
    assert_eq!((translation.kind.as_str(), translation.live), ("payment.updated", Some(true)));
    assert_eq!(translation.occurred_at.unwrap().as_secs(), 1_700_000_000);
    let bare = translated(&source(), r#"{"type":"payment","live_mode":"yes","date_created":"2023-19-40"}"#);
    assert_eq!((bare.kind.as_str(), bare.live, bare.occurred_at), ("payment", None, None));
}

#[test]
fn a_source_without_a_usable_secret_is_refused() {
    for secrets in [&[][..], &[""], &["good", " "]] {
        assert!(build(&settings(secrets, &[])).is_err(), "{secrets:?}");
    }
    assert!(build(&settings(&[SECRET], &[("other", true.into())])).is_err());
    assert_eq!(source().default_trust(), Trust::Confirm);
}
