use domain::{Effect, NoEffect};
use serde_json::{Value, json};

use super::*;
use crate::providers::harness::{self, NOW, headers, never_panics, verdict, verdict_at};

mod meaning;
mod page;
mod setup;
mod signatures;

const SECRET: &str = "custom fixture secret";
const BODY: &str = r#"{"id":"h1"}"#;

/// The least that a source needs.
const LEAST: [(&str, &str); 4] =
    [("algorithm", "hmac-sha256"), ("signature_header", "X-Sig"), ("id", "/id"), ("kind", "/kind")];

/// [`LEAST`] with these options besides, or in place of its own.
fn options(further: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
    let mut all: Vec<(&str, Value)> = LEAST.map(|(name, value)| (name, json!(value))).to_vec();
    all.retain(|(name, _)| !further.iter().any(|(other, _)| other == name));
    all.extend(further.iter().cloned());
    all
}

/// A source with [`SECRET`] and these options.
fn custom(further: &[(&'static str, Value)]) -> Custom {
    Custom::new(&harness::settings(&[SECRET], &options(further))).unwrap()
}

/// Headers of a request that was signed, as they come.
fn signed(pack: &Custom, body: &str) -> Vec<(String, Vec<u8>)> {
    let request = pack.sign(body.as_bytes(), NOW).unwrap();
    request.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect()
}

/// The ids of a request with these headers.
fn ids(
    pack: &Custom,
    body: &str,
    list: &[(&str, &[u8])],
) -> Result<Vec<String>, Vec<(String, &'static str)>> {
    match pack.identify(&WebhookRequest { body: body.as_bytes(), headers: &headers(list), query: "" }) {
        Ok(ids) => Ok(ids.iter().map(|id| id.as_str().to_owned()).collect()),
        Err(problems) => Err(problems.into_iter().map(|p| (p.pointer, p.code)).collect()),
    }
}

#[test]
fn an_id_of_several_parts_is_joined_without_ambiguity() {
    let pack = custom(&[("id", json!(["/object", "header:X-Change", "/n"]))]);
    let body = r#"{"object":"a|b","n":7}"#;
    assert_eq!(ids(&pack, body, &[("x-change", b"c")]).unwrap(), ["a\\|b|c|7"]);
    let wrong = ids(&pack, "{}", &[]).unwrap_err();
    assert_eq!(
        wrong,
        [("/object".to_owned(), "missing"), (String::new(), "missing"), ("/n".to_owned(), "missing")]
    );
}

#[test]
fn a_single_id_stays_as_it_is() {
    let pack = custom(&[]);
    assert_eq!(ids(&pack, r#"{"id":"a|b"}"#, &[]).unwrap(), ["a|b"]);
    assert_eq!(ids(&pack, r#"{"id":9007199254740993}"#, &[]).unwrap(), ["9007199254740993"]);
    for (body, place, code) in [
        (r#"{"id":""}"#, "/id", "missing"),
        (r#"{"id":{}}"#, "/id", "missing"),
        (r#"{"id":"a\u0000"}"#, "/id", "invalid"),
        ("nonsense", "", "not_json"),
        ("", "", "not_json"),
    ] {
        assert_eq!(ids(&pack, body, &[]).unwrap_err(), [(place.to_owned(), code)], "{body}");
    }
}

#[test]
fn an_id_in_a_header_needs_no_json() {
    let pack = custom(&[("id", json!("header:X-Delivery"))]);
    assert_eq!(ids(&pack, "not json", &[("x-delivery", b"d1")]).unwrap(), ["d1"]);
    assert_eq!(ids(&pack, "{}", &[("x-delivery", b"\xff")]).unwrap_err(), [(String::new(), "missing")]);
}

#[test]
fn an_answer_is_given_as_it_is_written() {
    let provider = |further: &[(&'static str, Value)]| {
        build(&harness::settings(&[SECRET], &options(further))).unwrap().answer()
    };
    assert_eq!(provider(&[]), None);
    let json = provider(&[("answer_body", json!("{\"ok\":true}"))]).unwrap();
    assert_eq!((json.status, json.content_type, &*json.body), (200, "application/json", "{\"ok\":true}"));
    let text = provider(&[("answer_body", json!("OK"))]).unwrap();
    assert_eq!((text.content_type, &*text.body), ("text/plain; charset=utf-8", "OK"));
    assert_eq!(&*provider(&[("answer_body", json!(""))]).unwrap().body, "");
}

#[test]
fn a_description_says_what_the_source_expects() {
    let signed = json!("{header:X-Path}{timestamp}{body}");
    let pack =
        custom(&[("signed", signed), ("timestamp_header", json!("X-Sig-Time")), ("id", json!(["/a", "/b"]))]);
    let description = pack.description();
    assert_eq!(description.signature_headers, ["x-sig", "x-sig-time", "x-path"]);
    assert_eq!(description.scheme, "HMAC (Sha256, Hex) over {header:X-Path}{timestamp}{body}");
    assert_eq!(description.event_id, "/a, /b");
}

#[test]
fn nothing_that_may_come_panics() {
    let pack = custom(&[
        ("signed", json!("{id}{timestamp}{header:X-Path}{body}")),
        ("signature_separator", json!(",")),
        ("signature_prefix", json!("v1=")),
        ("timestamp_header", json!("X-Sig")),
        ("timestamp_prefix", json!("t=")),
        ("id", json!("header:X-Id")),
        ("payment", json!("/list/0/payment")),
        ("amount", json!("/amount")),
        ("amount_unit", json!("major")),
        ("currency", json!("/currency")),
        ("occurred_at", json!("/at")),
        ("time_format", json!("unix-ms")),
        ("kinds", json!({"paid": "captured"})),
    ]);
    let payload =
        r#"{"kind":"paid","list":[{"payment":"p1"}],"amount":"4.99","currency":"EUR","at":1772626530000}"#;
    never_panics(&pack, &["x-sig", "x-id", "x-path"], &[payload]);
}
