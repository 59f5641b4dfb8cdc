//! The first secret, signature and public key are the ones that the standard's own examples give.

use application::testing::envelope;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

use super::*;
use crate::providers::harness::{NOW, headers, ids, never_panics, refuses_every_flip, settings, verdict_at};
use crate::providers::signing::base64_text;

mod page;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const SIGNED_AT: i64 = 1_614_265_330;
const BODY: &str = r#"{"test": 2432232314}"#;
const GOOD: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const GOOD_PUBLIC: &str =
    "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";

type Verdict = Result<Option<usize>, &'static str>;

fn pack(secrets: &[&str]) -> StandardWebhooks {
    let settings = settings(secrets, &[]);
    let verifier = Verifier::new(&settings.secrets, Bare::Base64OrText, settings.tolerance).unwrap();
    StandardWebhooks { verifier }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn judged(secret: &str, signature: &str, body: &str, now: i64) -> Verdict {
    let timestamp = SIGNED_AT.to_string();
    let list = [(HEADERS[0], ID), (HEADERS[1], &timestamp), (HEADERS[2], signature)];
    let list = list.map(|(name, value)| (name, value.as_bytes()));
    verdict_at(&pack(&[secret]), &headers(&list), body.as_bytes(), "", at(now))
}

#[test]
fn the_standards_examples_verify_and_others_do_not() {
    let rust = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";
    for (secret, signature, body, now, expected) in [
        (SECRET, GOOD, BODY, SIGNED_AT, Ok(Some(0))),
        (SECRET, GOOD, BODY, SIGNED_AT + 300, Ok(Some(0))),
        (SECRET, GOOD, BODY, SIGNED_AT + 301, Err("signature_too_old")),
        (SECRET, GOOD, BODY, SIGNED_AT - 301, Err("signature_too_new")),
        (SECRET, GOOD, r#"{"test":2432232314}"#, SIGNED_AT, Err("wrong_signature")),
        (SECRET, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=", BODY, SIGNED_AT, Err("wrong_signature")),
        (SECRET, "v1,", BODY, SIGNED_AT, Err("malformed_signature")),
        (SECRET, "v1,g0hM9", BODY, SIGNED_AT, Err("malformed_signature")),
        (SECRET, &GOOD.replace("v1,", "v2,"), BODY, SIGNED_AT, Err("no_known_signature")),
        (SECRET, &GOOD.replace("v1,", "v1a,"), BODY, SIGNED_AT, Err("no_known_signature")),
        (SECRET, &format!("{rust} {GOOD_PUBLIC} {GOOD}"), BODY, SIGNED_AT, Ok(Some(0))),
        (SECRET, rust, BODY, SIGNED_AT, Err("wrong_signature")),
        (PUBLIC, GOOD_PUBLIC, BODY, SIGNED_AT, Ok(Some(0))),
        (PUBLIC, &format!("{GOOD} {GOOD_PUBLIC}"), BODY, SIGNED_AT, Ok(Some(0))),
        (PUBLIC, GOOD_PUBLIC, r#"{"test": 2432232315}"#, SIGNED_AT, Err("wrong_signature")),
        (PUBLIC, GOOD_PUBLIC, BODY, SIGNED_AT + 301, Err("signature_too_old")),
        (PUBLIC, GOOD, BODY, SIGNED_AT, Err("no_known_signature")),
        (PUBLIC, &GOOD.replace("v1,", "v1a,"), BODY, SIGNED_AT, Err("wrong_signature")),
    ] {
        assert_eq!(judged(secret, signature, body, now), expected, "{secret} {signature} {body} {now}");
    }
}

#[test]
fn a_second_published_example_verifies() {
    let headers = headers(&[
        ("webhook-id", b"msg_27UH4WbU6Z5A5EzD8u03UvzRbpk"),
        ("webhook-timestamp", b"1649367553"),
        ("webhook-signature", b"v1,tFtCZ5RDCPxzWQRWXWPgrCgE2frDBe9gjpbWQxnVfsQ= v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="),
    ]);
    let body = br#"{"email":"test@example.com","username":"test_user"}"#;
    let pack = pack(&["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"]);
    assert_eq!(verdict_at(&pack, &headers, body, "", at(1_649_367_553)), Ok(Some(0)));
}

#[test]
fn a_secret_may_be_written_in_several_ways() {
    for secret in
        [SECRET, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", &format!("v1,{SECRET}"), &format!(" {SECRET}\n")]
    {
        assert_eq!(judged(secret, GOOD, BODY, SIGNED_AT), Ok(Some(0)), "{secret:?}");
    }
    assert_eq!(judged(&format!("v1a,{PUBLIC}"), GOOD_PUBLIC, BODY, SIGNED_AT), Ok(Some(0)));
}

#[test]
fn a_bare_secret_that_is_base64_by_chance_is_also_tried_as_it_stands() {
    let secret = "AbCdEfGhIjKlMnOpQrStUvWxYz012345";
    let as_text = format!("whsec_{}", base64_text(secret.as_bytes()));
    let signed = pack(&[&as_text]).sign(BODY.as_bytes(), NOW).unwrap();
    let all: Vec<_> = signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    assert_eq!(verdict_at(&pack(&[secret]), &all, BODY.as_bytes(), "", NOW), Ok(Some(0)));
}

#[test]
fn a_secret_that_cannot_be_used_is_refused_and_never_shown() {
    let error = |secrets: &[&str]| build(&settings(secrets, &[])).err().map(|error| error.to_string());
    for secrets in [
        &[][..],
        &[SECRET, " "],
        &["whsec_"],
        &["whsec_s3cret%"],
        &["whpk_s3cret"],
        &["whpk_AAAA"],
        &["whsk_s3cret"],
    ] {
        let error = error(secrets).unwrap();
        assert!(!error.contains("s3cret"), "{error}");
    }
    assert!(build(&settings(&[SECRET], &[("type", "x".into())])).is_err());
}

#[test]
fn svixs_header_names_are_taken_where_the_standards_are_missing() {
    let timestamp = SIGNED_AT.to_string();
    let values = [ID.as_bytes(), timestamp.as_bytes(), GOOD.as_bytes()];
    let under = |names: [&str; 3], values: [&[u8]; 3]| {
        let list: Vec<_> = names.into_iter().zip(values).collect();
        let all = headers(&list);
        let request = WebhookRequest { body: BODY.as_bytes(), headers: &all, query: "" };
        let pack = pack(&[SECRET]);
        pack.verify(&request, at(SIGNED_AT)).map(|_| pack.identify(&request).unwrap()[0].as_str().to_owned())
    };
    let svix = ["svix-id", "svix-timestamp", "svix-signature"];
    assert_eq!(under(svix, values), Ok(ID.to_owned()));
    assert_eq!(under(HEADERS, values), Ok(ID.to_owned()));
    for missing in 0..3 {
        let mut names = HEADERS;
        names[missing] = "x-other";
        assert_eq!(under(names, values), Err("missing_signature"));
        names[missing] = svix[missing];
        assert_eq!(under(names, values), Err("missing_signature"), "the two sets are not mixed");
    }
}

#[test]
fn every_secret_is_found_wherever_it_stands() {
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let public = format!("whpk_{}", base64_text(pair.public_key().as_ref()));
    let message = format!("{ID}.{}.{BODY}", NOW.as_secs());
    let signature = format!("v1a,{}", base64_text(pair.sign(message.as_bytes()).as_ref()));
    let timestamp = NOW.as_secs().to_string();
    let list = [(HEADERS[0], ID), (HEADERS[1], &timestamp), (HEADERS[2], &signature)];
    let all = headers(&list.map(|(name, value)| (name, value.as_bytes())));
    for (secrets, place) in [([SECRET, public.as_str()], 1), ([public.as_str(), SECRET], 0)] {
        assert_eq!(verdict_at(&pack(&secrets), &all, BODY.as_bytes(), "", NOW), Ok(Some(place)));
        let signed = pack(&secrets).sign(BODY.as_bytes(), NOW).unwrap();
        let all: Vec<_> =
            signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
        assert_eq!(verdict_at(&pack(&secrets), &all, BODY.as_bytes(), "", NOW), Ok(Some(1 - place)));
    }
    assert!(pack(&[&public]).sign(BODY.as_bytes(), NOW).is_err());
}

#[test]
fn a_flipped_bit_is_refused() {
    refuses_every_flip(&pack(&[SECRET]), r#"{"type":"invoice.paid","data":{"amount":100}}"#, false);
}

#[test]
fn the_header_is_the_id_and_the_body_names_the_kind() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    assert_eq!(ids(&*provider, r#"{"id":"msg_1","type":"x"}"#, &[]), Ok(vec!["msg_1".to_owned()]));
    assert_eq!(ids(&*provider, "not JSON", &[]).map(|ids| ids.len()), Ok(1));
    let told = |payload: &str| {
        let translation = pack(&[SECRET]).translate(&envelope("msg_1", payload.to_owned())).unwrap();
        assert_eq!(translation.effect, Effect::Nothing(NoEffect::Kind));
        (translation.kind.as_str().to_owned(), translation.occurred_at.map(Timestamp::as_secs))
    };
    let whole = r#"{"type":"invoice.paid","timestamp":"2022-11-03T20:26:10.344522Z","data":{}}"#;
    assert_eq!(told(whole), ("invoice.paid".to_owned(), Some(1_667_507_170)));
    for odd in ["not JSON", "[]", "{}", r#"{"type":7,"timestamp":7}"#, r#"{"type":"a\u0000b"}"#] {
        assert_eq!(told(odd), ("unknown".to_owned(), None), "{odd}");
    }
}

#[test]
fn an_id_that_cannot_be_kept_is_told() {
    for id in [&b""[..], b"\xff", b" x", &[b'x'; 300]] {
        let all = headers(&[(HEADERS[0], id), (HEADERS[1], b"1"), (HEADERS[2], b"v1,x")]);
        let request = WebhookRequest { body: b"{}", headers: &all, query: "" };
        assert_eq!(pack(&[SECRET]).identify(&request).unwrap_err()[0].code, "invalid");
    }
}

#[test]
fn nothing_that_comes_makes_it_panic() {
    never_panics(
        &pack(&[SECRET, PUBLIC]),
        &HEADERS,
        &[r#"{"type":"invoice.paid","timestamp":"2022-11-03T20:26:10Z"}"#],
    );
}
