//! Standard Webhooks. The first signature is the one that the standard's own examples give.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::*;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const BODY: &[u8] = br#"{"id": "evt_1","type":"t","data":{}}"#;
const SIGNED_AT: i64 = 1_614_265_330;

fn at(secs: i64) -> Timestamp {
    Timestamp::from_micros(secs * 1_000_000)
}

fn provider(secrets: &[&str]) -> NativeProvider {
    let secrets: Vec<SecretString> = secrets.iter().map(|secret| (*secret).into()).collect();
    NativeProvider::signed(&secrets, TOLERANCE).unwrap()
}

fn sign(key: &[u8], timestamp: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(format!("msg_1.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

fn key(secret: &str) -> Vec<u8> {
    STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap()
}

fn good() -> String {
    sign(&key(SECRET), &SIGNED_AT.to_string(), BODY)
}

fn judge(
    provider: &NativeProvider,
    timestamp: &[u8],
    signature: &[u8],
    now: i64,
) -> Result<(), &'static str> {
    let headers = [
        ("webhook-id".to_owned(), b"msg_1".to_vec()),
        ("webhook-timestamp".to_owned(), timestamp.to_vec()),
        ("webhook-signature".to_owned(), signature.to_vec()),
    ];
    let request = WebhookRequest { body: BODY, headers: &headers, query: "" };
    match provider.intake(&request, at(now)) {
        Ok(Intake { events, .. }) => {
            assert_eq!(events[0].as_str(), "evt_1", "the id is the body's, not the header's");
            Ok(())
        }
        Err(IntakeRefusal::Unauthentic(reason)) => Err(reason),
        Err(other) => panic!("{other:?}"),
    }
}

fn judge_signature(signature: &str) -> Result<(), &'static str> {
    let timestamp = SIGNED_AT.to_string();
    judge(&provider(&[SECRET]), timestamp.as_bytes(), signature.as_bytes(), SIGNED_AT)
}

#[test]
fn the_standards_own_example_verifies() {
    let headers = [
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
        ("webhook-timestamp", "1614265330"),
        ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
    ]
    .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
    let request = WebhookRequest { body: br#"{"test": 2432232314}"#, headers: &headers, query: "" };
    // Authentic, and then not an event of ours.
    let answer = provider(&[SECRET]).intake(&request, at(SIGNED_AT));
    assert!(matches!(answer, Err(IntakeRefusal::Malformed(_))), "{answer:?}");
}

#[test]
fn one_good_signature_among_several_is_enough_wherever_it_stands() {
    let (good, wrong) = (good(), sign(b"another", "1614265330", BODY));
    for header in [
        good.clone(),
        format!("{good} {wrong}"),
        format!("{wrong} {good}"),
        format!("{wrong} v1a,AAAA {good}"),
        format!("v0,x  {wrong} junk v1,%%% {good}"),
    ] {
        assert_eq!(judge_signature(&header), Ok(()), "{header}");
    }
}

#[test]
fn anything_else_is_refused_and_nothing_panics() {
    let good = good();
    let hash = good.strip_prefix("v1,").unwrap();
    for (header, reason) in [
        (String::new(), "no_known_signature"),
        (" ".to_owned(), "no_known_signature"),
        (hash.to_owned(), "no_known_signature"),
        (format!("v0,{hash}"), "no_known_signature"),
        (format!("v1a,{hash}"), "no_known_signature"),
        (format!("V1,{hash}"), "no_known_signature"),
        (format!("v1={hash}"), "no_known_signature"),
        ("v1,".to_owned(), "malformed_signature"),
        ("v1,%%%".to_owned(), "malformed_signature"),
        (format!("v1,{}", &hash[1..]), "malformed_signature"),
        (format!("v1,{}é", &hash[..40]), "malformed_signature"),
        (format!("v1,{}", STANDARD.encode([0; 31])), "wrong_signature"),
        (format!("v1,{}", STANDARD.encode([0; 33])), "wrong_signature"),
        (sign(b"another", "1614265330", BODY), "wrong_signature"),
        (sign(&key(SECRET), "1614265331", BODY), "wrong_signature"),
        (sign(&key(SECRET), "1614265330", b"{}"), "wrong_signature"),
        (sign(SECRET.as_bytes(), "1614265330", BODY), "wrong_signature"),
    ] {
        assert_eq!(judge_signature(&header), Err(reason), "{header}");
    }
    let timestamp = SIGNED_AT.to_string();
    let raw = judge(&provider(&[SECRET]), timestamp.as_bytes(), &[0x80, 0xff], SIGNED_AT);
    assert_eq!(raw, Err("malformed_signature"));
}

#[test]
fn a_missing_header_is_refused() {
    let request = WebhookRequest { body: BODY, headers: &[], query: "" };
    let answer = provider(&[SECRET]).intake(&request, at(SIGNED_AT));
    assert_eq!(answer, Err(IntakeRefusal::Unauthentic("missing_signature")));
}

#[test]
fn timestamps_that_are_none_are_refused() {
    for timestamp in
        ["", "x", "-1614265330", "+1614265330", " 1614265330", "1614265330.0", "9999999999999999999"]
    {
        let signature = sign(&key(SECRET), timestamp, BODY);
        let answer = judge(&provider(&[SECRET]), timestamp.as_bytes(), signature.as_bytes(), SIGNED_AT);
        assert_eq!(answer, Err("malformed_signature"), "{timestamp}");
    }
}

#[test]
fn the_age_is_bounded_on_both_sides() {
    let timestamp = SIGNED_AT.to_string();
    for (offset, expected) in [
        (0, Ok(())),
        (300, Ok(())),
        (-300, Ok(())),
        (301, Err("signature_too_old")),
        (-301, Err("signature_too_new")),
    ] {
        let now = SIGNED_AT + offset;
        let answer = judge(&provider(&[SECRET]), timestamp.as_bytes(), good().as_bytes(), now);
        assert_eq!(answer, expected, "{offset}");
    }
    let strict = NativeProvider::signed(&[SECRET.into()], Duration::from_secs(10)).unwrap();
    let answer = judge(&strict, timestamp.as_bytes(), good().as_bytes(), SIGNED_AT + 11);
    assert_eq!(answer, Err("signature_too_old"));
}

#[test]
fn a_new_secret_can_be_added_before_or_after_the_old_one() {
    let timestamp = SIGNED_AT.to_string();
    for secrets in [[SECRET, OTHER], [OTHER, SECRET]] {
        for signing in [SECRET, OTHER] {
            let signature = sign(&key(signing), &timestamp, BODY);
            let answer = judge(&provider(&secrets), timestamp.as_bytes(), signature.as_bytes(), SIGNED_AT);
            assert_eq!(answer, Ok(()));
        }
    }
}

#[test]
fn white_space_around_a_secret_is_not_part_of_it() {
    let timestamp = SIGNED_AT.to_string();
    for end in ["\n", "\r\n", " ", "\t"] {
        let answer = judge(
            &provider(&[&format!("{SECRET}{end}")]),
            timestamp.as_bytes(),
            good().as_bytes(),
            SIGNED_AT,
        );
        assert_eq!(answer, Ok(()), "{end:?}");
    }
}

#[test]
fn a_secret_without_the_prefix_is_taken_as_it_is() {
    let timestamp = SIGNED_AT.to_string();
    let signature = sign(b"plain secret", &timestamp, BODY);
    let answer = judge(&provider(&["plain secret"]), timestamp.as_bytes(), signature.as_bytes(), SIGNED_AT);
    assert_eq!(answer, Ok(()));
}

#[test]
fn a_secret_that_would_accept_anything_or_nothing_is_refused() {
    let error = |secrets: &[&str]| {
        let secrets: Vec<SecretString> = secrets.iter().map(|secret| (*secret).into()).collect();
        NativeProvider::signed(&secrets, TOLERANCE).err()
    };
    assert_eq!(error(&[]), Some(SecretError::None));
    assert_eq!(error(&[SECRET, " \n"]), Some(SecretError::Blank));
    assert_eq!(error(&["whsec_"]), Some(SecretError::Blank));
    assert_eq!(error(&["whsec_%"]), Some(SecretError::NotBase64));
}
