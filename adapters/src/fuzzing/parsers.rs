//! The parsers that packs share, and those that have a format of their own.

use application::ports::provider::WebhookRequest;
use domain::Timestamp;
use secrecy::SecretString;
use serde_json::value::RawValue;

use crate::providers::amount;
use crate::providers::braintree::xml::{DEPTH_MAX, ELEMENTS_MAX, Element};
use crate::providers::custom::pointer::JsonPointer;
use crate::providers::custom::template::Template;
use crate::providers::custom::time::TIME_FORMATS;
use crate::providers::joined_id::joined_text;
use crate::providers::moment::{rfc3339_text, unix_seconds};
use crate::providers::paypal::certificate::TrustedIssuers;
use crate::providers::paypal::certificate_url::allowed;
use crate::providers::settings::TOLERANCE;
use crate::providers::signing::{self, Encoding, Tokens, base64, base64_text, claimed, hex, hex_text};
use crate::providers::standard_webhooks::{Bare, Verifier};

/// The currencies that amounts are read in: with no, two, three and four decimals, and one that there is not.
const CURRENCIES: [&str; 6] = ["JPY", "usd", "KWD", "CLF", "XAU", "ZZZ"];
/// Exceptions of a provider.
const EXCEPTIONS: amount::Exceptions = &[("JPY", 2), ("CLF", 0)];

/// Amounts, as JSON and as text. What is read is the same when it is written out and read again.
pub fn amount(data: &[u8]) {
    let [choice, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let currency = CURRENCIES[usize::from(choice >> 1) % CURRENCIES.len()];
    let exceptions = if choice % 2 == 0 { &[] } else { EXCEPTIONS };
    if let Ok(money) = amount::major_text(text, currency, exceptions) {
        let decimals = amount::decimals(money.currency(), exceptions);
        let again = amount::major_text(&in_major_units(money.minor_units(), decimals), currency, exceptions);
        assert_eq!(again, Ok(money), "amount: {text:?} in {currency}");
    }
    let Ok(value) = serde_json::from_str::<&RawValue>(text) else { return };
    let _major = amount::major(value, currency, exceptions);
    if let Ok(minor) = amount::minor_units(value) {
        assert_eq!(value.get().trim_matches('"').parse(), Ok(minor), "amount: {text:?}");
    }
    let _minor = amount::minor(value, currency);
}

/// Written digit by digit, so that it is another way than the one that is tested.
fn in_major_units(minor: i64, decimals: u32) -> String {
    let decimals = usize::try_from(decimals).unwrap_or_default();
    let sign = if minor < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", minor.unsigned_abs(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Times. What is read is the same when it is written out and read again.
pub fn moment(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(at) = rfc3339_text(text) {
        let written = jiff::Timestamp::from_microsecond(at.as_micros()).map(|at| at.to_string());
        let again = written.ok().and_then(|written| rfc3339_text(&written));
        assert_eq!(again, Some(at), "moment: {text:?}");
    }
    if let Ok(value) = serde_json::from_str::<&RawValue>(text)
        && let Some(at) = unix_seconds(value)
    {
        assert_eq!(value.get().parse(), Ok(at.as_secs()), "moment: {text:?}");
    }
    for (name, format) in TIME_FORMATS {
        if let Some(at) = format.read(text) {
            assert_eq!(format.read(&format.write(at)), Some(at), "moment: {text:?} as {name}");
        }
    }
}

/// Signature headers: their encodings, prefixes, tokens and times, the forms of secrets, ids of several parts, and the
/// places and templates of custom sources.
pub fn signature(data: &[u8]) {
    let [choice, text @ ..] = data else { return };
    match choice % 6 {
        0 => encodings(text),
        1 => claims(text),
        2 => tokens(text),
        3 => standard_webhooks(text),
        4 => parts(text),
        _ => places(text),
    }
}

fn encodings(text: &[u8]) {
    if let Some(bytes) = hex(text) {
        let same = hex_text(&bytes).as_bytes().eq_ignore_ascii_case(text);
        assert!(same, "signature: hexadecimal {text:?}");
    }
    if let Some(bytes) = base64(text) {
        assert_eq!(base64_text(&bytes).as_bytes(), text, "signature: base64");
    }
    if let Some(seconds) = signing::unix_seconds(text) {
        assert!(seconds >= 0, "signature: a time before the epoch");
        let _verdict = signing::Tolerance::new(TOLERANCE).judge(seconds, Timestamp::from_micros(0));
    }
}

/// Several lines are several headers.
fn claims(text: &[u8]) {
    let headers: Vec<(String, Vec<u8>)> =
        text.split(|byte| *byte == b'\n').map(|value| ("x-sig".to_owned(), value.to_vec())).collect();
    let request = WebhookRequest { body: b"{}", headers: &headers, query: "" };
    for (prefix, encoding) in [("", Encoding::Hex), ("sha256=", Encoding::Hex), ("v1=", Encoding::Base64)] {
        if let Ok(claimed) = claimed(&request, "x-sig", prefix, encoding) {
            assert!(!claimed.is_empty(), "signature: claims without a claim");
        }
    }
}

fn tokens(text: &[u8]) {
    let ours = ["first", "second"];
    let claims: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let found = Tokens::new(&ours).matching(claims.iter().copied());
    let is_there = |token: &str| claims.contains(&token.as_bytes());
    match found {
        Some(place) => assert!(is_there(ours[place]), "signature: a token that is not there"),
        None => assert!(!ours.into_iter().any(is_there), "signature: a token is overlooked"),
    }
}

/// The first line is a secret, then come the three headers, then the body.
fn standard_webhooks(text: &[u8]) {
    let mut lines = text.splitn(5, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let secret = SecretString::from(String::from_utf8_lossy(line()).into_owned());
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let headers = names.map(|name| (name.to_owned(), line().to_vec()));
    let request = WebhookRequest { body: line(), headers: &headers, query: "" };
    for bare in [Bare::Text, Bare::Base64OrText] {
        let Ok(verifier) = Verifier::new(std::slice::from_ref(&secret), bare, TOLERANCE) else { continue };
        let _verdict = verifier.verify(&request, Timestamp::from_micros(1_700_000_000_000_000));
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        if let Ok(signed) = verifier.sign("msg_1", request.body, now) {
            let signed: Vec<(String, Vec<u8>)> =
                signed.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
            let request = WebhookRequest { headers: &signed, ..request };
            assert_eq!(verifier.verify(&request, now), Ok(0), "signature: its own is refused");
        }
    }
}

/// Every line is a part of an id. The parts can be read out of the whole again, so no two lists make one id.
fn parts(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let parts: Vec<&str> = text.split('\n').collect();
    let (mut found, mut escaped) = (vec![String::new()], false);
    for character in joined_text(&parts).chars() {
        match character {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            '|' if !escaped => found.push(String::new()),
            other => found.last_mut().expect("one at least").push(other),
        }
        escaped = false;
    }
    assert_eq!(found, parts, "signature: parts of an id run together");
}

/// The first line is a place or a template, the rest is a document.
fn places(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let (place, document) = text.split_once('\n').unwrap_or((text, "{}"));
    if let (Some(pointer), Ok(root)) =
        (JsonPointer::parse(place), serde_json::from_str::<&RawValue>(document))
    {
        assert_eq!(pointer.as_str(), place, "signature: a pointer is written anew");
        let ours = pointer.find(root).map(RawValue::get);
        check_found(place, document, ours);
    }
    if let Ok(template) = Template::parse(place, Some("x-id"), Some("https://example.com")) {
        let headers = [("x-id".to_owned(), b"1".to_vec())];
        let request = WebhookRequest { body: document.as_bytes(), headers: &headers, query: "" };
        let _parts = template.parts(&request, b"1700000000");
    }
}

/// `serde_json` finds the same, but where a document names a member twice.
fn check_found(place: &str, document: &str, ours: Option<&str>) {
    let Ok(root) = serde_json::from_str::<serde_json::Value>(document) else { return };
    if root.to_string().matches(':').count() != document.matches(':').count() {
        return;
    }
    let theirs = root.pointer(place).filter(|value| !value.is_null());
    let ours = ours.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    assert_eq!(ours.as_ref(), theirs, "signature: {place:?} in {document:?}");
}

/// XML as Braintree writes it: what is read has its limits.
pub fn xml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(top) = Element::parse(text) {
        let (elements, depth) = measured(&top);
        assert!(elements <= ELEMENTS_MAX, "xml: {elements} elements");
        assert!(depth <= DEPTH_MAX, "xml: {depth} levels");
        let _text = top.text(&["subject", "transaction", "id"]);
    }
}

/// How many elements there are, and how deep.
fn measured(element: &Element) -> (usize, usize) {
    element
        .children()
        .iter()
        .map(measured)
        .fold((1, 1), |(elements, depth), (more, deeper)| (elements + more, depth.max(deeper + 1)))
}

/// Certificates and where they are. The first byte says which of the two.
pub fn certificate(data: &[u8]) {
    let [choice, text @ ..] = data else { return };
    if choice % 2 == 0 {
        let Ok(text) = std::str::from_utf8(text) else { return };
        if let Some(url) = allowed(text) {
            let host = url.host_str().unwrap_or_default();
            let is_paypals = host == "paypal.com" || host.ends_with(".paypal.com");
            assert!(is_paypals && url.scheme() == "https", "certificate: {text:?} may be fetched");
            assert!(
                url.port().is_none() && url.username().is_empty(),
                "certificate: {text:?} may be fetched"
            );
        }
        return;
    }
    let now = Timestamp::from_micros(1_722_600_000_000_000);
    let public = TrustedIssuers::public("").expect("those that are built in");
    for name in ["messageverificationcerts.paypal.com", "messageverificationcerts.sandbox.paypal.com"] {
        if let Ok(key) = public.judge(text, name, now) {
            assert!(key.is_valid(now), "certificate: one that is not valid is trusted");
            let _verdict = key.signs(b"message", text);
        }
    }
    if let Ok(text) = std::str::from_utf8(text) {
        let _issuers = TrustedIssuers::public(text);
    }
}
