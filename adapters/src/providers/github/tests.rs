use application::testing::envelope;

use super::*;
use crate::providers::harness::{
    NOW, headers, ids, never_panics, refuses_every_flip, settings, translated, verdict,
};

const SECRET: &str = "It's a Secret to Everybody";
const SPONSORED: &str =
    r#"{"action":"created","sponsorship":{"node_id":"S_1","tier":{"monthly_price_in_cents":500}}}"#;

fn pack(secrets: &[&str]) -> GitHub {
    GitHub::of(&settings(secrets, &[])).unwrap()
}

fn judged(secret: &str, signature: &str, body: &str) -> Result<Option<usize>, &'static str> {
    verdict(&pack(&[secret]), &headers(&[(SIGNATURE, signature.as_bytes())]), body.as_bytes())
}

/// What an event of that header and that payload is called.
fn kind(event: &str, payload: &str) -> String {
    let mut envelope = envelope("72d3162e-cc78-11e3-81ab-4c9367dc0958", payload.to_owned());
    envelope.headers = vec![(EVENT.to_owned(), event.to_owned())];
    let translation = pack(&[SECRET]).translate(&envelope).unwrap();
    assert_eq!(translation.effect, Effect::Nothing(NoEffect::Kind));
    translation.kind.as_str().to_owned()
}

#[test]
fn githubs_own_examples_verify_and_others_do_not() {
    let docs = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let octokit = "4864d2759938a15468b5df9ade20bf161da9b4f737ea61794142f3484236bda3";
    let foo_bar = r#"{"foo":"bar"}"#;
    for (secret, signature, body, expected) in [
        (SECRET, format!("sha256={docs}"), "Hello, World!", Ok(Some(0))),
        (SECRET, format!("sha256={docs}"), "Hello, World! ", Err("wrong_signature")),
        (SECRET, format!("sha1={docs}"), "Hello, World!", Err("no_known_signature")),
        (SECRET, docs.to_owned(), "Hello, World!", Err("no_known_signature")),
        ("mysecret", format!("sha256={octokit}"), foo_bar, Ok(Some(0))),
        ("mysecret", format!("sha256={octokit}"), r#"{ "foo": "bar" }"#, Err("wrong_signature")),
        ("foo", format!("sha256={octokit}"), foo_bar, Err("wrong_signature")),
        ("mysecret", "foo".to_owned(), foo_bar, Err("no_known_signature")),
        ("mysecret", "sha256=".to_owned(), foo_bar, Err("malformed_signature")),
        ("mysecret", format!("sha256={octokit}0"), foo_bar, Err("malformed_signature")),
        ("mysecret", format!("sha256={octokit}00"), foo_bar, Err("wrong_signature")),
        (
            "development",
            "sha256=afecc3caa27548bb90d51a50384cb2868b9a3327b4ad6a01c9bd4ed0f8b0b12c".to_owned(),
            "{\"foo\":\"Foo\\n\\u001B[34mbar: ♥♥♥♥♥♥♥♥\\nthis-is-lost\\u001B[0m\\u001B[2K\"}",
            Ok(Some(0)),
        ),
        (
            "development",
            "sha256=6f8326efbacfbd04e870cea25b5652e635be8c9807f2fd5348ef60753c9e96ed".to_owned(),
            r#"{"foo":"\\u001b"}"#,
            Ok(Some(0)),
        ),
    ] {
        assert_eq!(judged(secret, &signature, body), expected, "{signature} {body}");
    }
    assert_eq!(verdict(&pack(&[SECRET]), &[], b"{}"), Err("missing_signature"));
}

#[test]
fn the_place_of_the_secret_is_told_while_it_is_replaced() {
    let signed = pack(&["new"]).sign(b"{}", NOW).unwrap();
    let signature = signed.headers.iter().find(|(name, _)| name == SIGNATURE).unwrap().1.clone();
    let request = headers(&[(SIGNATURE, b"sha256=00"), (SIGNATURE, signature.as_bytes())]);
    assert_eq!(verdict(&pack(&["old", "new"]), &request, b"{}"), Ok(Some(1)));
    assert_eq!(verdict(&pack(&["new", "old"]), &request, b"{}"), Ok(Some(0)));
}

#[test]
fn a_flipped_bit_is_refused() {
    refuses_every_flip(&pack(&[SECRET]), SPONSORED, true);
}

#[test]
fn the_delivery_is_the_id_and_must_be_there() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    let delivery: &[u8] = b"72d3162e-cc78-11e3-81ab-4c9367dc0958";
    assert_eq!(
        ids(&*provider, SPONSORED, &[(DELIVERY, delivery)]),
        Ok(vec!["72d3162e-cc78-11e3-81ab-4c9367dc0958".to_owned()])
    );
    for odd in [&b""[..], b"\xff", b" x", &[b'x'; 300]] {
        assert!(ids(&*provider, SPONSORED, &[(DELIVERY, odd)]).is_err());
    }
    let without = headers(&[]);
    let request = WebhookRequest { body: b"{}", headers: &without, query: "" };
    assert_eq!(pack(&[SECRET]).identify(&request).unwrap_err()[0].code, "missing");
}

#[test]
fn the_kind_is_the_event_and_its_action() {
    assert_eq!(kind("sponsorship", SPONSORED), "sponsorship.created");
    assert_eq!(kind("ping", r#"{"zen":"Keep it logically awesome."}"#), "ping");
    assert_eq!(kind("push", "not JSON"), "push");
    assert_eq!(kind("push", r#"{"action":["x"]}"#), "push");
    assert_eq!(translated(&pack(&[SECRET]), SPONSORED).kind.as_str(), "unknown");
}

#[test]
fn a_form_is_read_like_the_json_in_it() {
    let form: String =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("payload", SPONSORED).finish();
    assert_eq!(kind("sponsorship", &form), "sponsorship.created");
    assert_eq!(kind("sponsorship", "other=1"), "sponsorship");
    refuses_every_flip(&pack(&[SECRET]), &form, true);
}

#[test]
fn a_secret_is_needed_and_there_are_no_options() {
    assert!(build(&settings(&[], &[])).is_err());
    assert!(build(&settings(&[" "], &[])).is_err());
    assert!(build(&settings(&[SECRET], &[("owner", "me".into())])).is_err());
}

#[test]
fn nothing_that_comes_makes_it_panic() {
    never_panics(
        &pack(&[SECRET]),
        &[SIGNATURE, DELIVERY, EVENT],
        &[SPONSORED, "payload=%7B%22action%22%3A1%7D"],
    );
}
