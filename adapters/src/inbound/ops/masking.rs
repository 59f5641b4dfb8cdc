//! What is shown of a payload: not what is personal or secret. Whoever needs the bytes as they are can download
//! them, and it is written down.

use std::collections::HashSet;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use url::form_urlencoded;

/// What stands for a value that is not shown.
pub const MASK: &str = "•••";

/// Payloads that are nested more deeply are not shown.
const DEPTH_MAX: usize = 100;

/// Payloads that are longer are not shown, in bytes.
pub const SHOWN_BYTES_MAX: usize = 1024 * 1024;

/// Values of a form that are longer are not shown: they hold a document of their own, in some encoding.
const FORM_VALUE_BYTES_MAX: usize = 256;

/// The headers of a rejected request that are shown. Any other may be the signature.
const SHOWN_HEADERS: [&str; 10] = [
    "accept",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "host",
    "traceparent",
    "transfer-encoding",
    "user-agent",
    "x-request-id",
];

/// Parts of the names of headers that are never shown.
const SECRET_HEADER_PARTS: [&str; 8] = ["auth", "cookie", "digest", "hmac", "key", "secret", "sign", "token"];

/// What can be shown of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// JSON, with line breaks, in its own order and with its own numbers.
    Json(String),
    /// The fields of a form, in their order.
    Form(Vec<(String, String)>),
    /// Nothing, since nobody knows what in it is personal; this is why.
    Hidden(&'static str),
}

/// Which members of a payload are not shown.
#[derive(Debug, Clone, Default)]
pub struct Masking {
    names: HashSet<String>,
}

impl Masking {
    /// Does not show the values of these names, however deep they are. `card_number`, `cardNumber` and
    /// `Card-Number` are one name.
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Self {
        Self { names: names.into_iter().map(|name| plain(name.as_ref())).collect() }
    }

    /// What can be shown of `payload`.
    pub fn show(&self, payload: &[u8], content_type: Option<&str>) -> Shown {
        if payload.is_empty() {
            return Shown::Hidden("the payload is empty");
        }
        if payload.len() > SHOWN_BYTES_MAX {
            return Shown::Hidden("the payload is too long to be shown");
        }
        let is_form = content_type.is_some_and(|media| {
            media.trim().to_ascii_lowercase().starts_with("application/x-www-form-urlencoded")
        });
        if is_form {
            return self.form(payload);
        }
        match serde_json::from_slice::<&RawValue>(payload) {
            Ok(document) => {
                let mut text = String::with_capacity(payload.len() * 2);
                match self.write(document.get(), 0, &mut text) {
                    Some(()) => Shown::Json(text),
                    None => Shown::Hidden("the payload is nested too deeply to be shown"),
                }
            }
            Err(_) => Shown::Hidden("the payload is neither JSON nor a form"),
        }
    }

    /// What can be shown of a header of a dead letter: those are kept for what they say of the event.
    pub fn header<'a>(&self, name: &str, value: &'a str) -> &'a str {
        let secret = SECRET_HEADER_PARTS.iter().any(|part| name.contains(part)) || self.hides(name);
        if secret { MASK } else { value }
    }

    /// What can be shown of a header of a rejected request, which has all that was sent.
    pub fn rejected_header(&self, name: &str, value: &[u8]) -> String {
        if SHOWN_HEADERS.contains(&name) && !self.hides(name) {
            String::from_utf8_lossy(value).into_owned()
        } else {
            format!("{MASK} ({} bytes)", value.len())
        }
    }

    fn hides(&self, name: &str) -> bool {
        self.names.contains(&plain(name))
    }

    fn form(&self, payload: &[u8]) -> Shown {
        let fields = form_urlencoded::parse(payload).map(|(name, value)| {
            let hidden = name.split(['[', ']', '.']).any(|part| self.hides(part));
            let shown = if hidden {
                MASK.to_owned()
            } else if value.len() > FORM_VALUE_BYTES_MAX {
                format!("{MASK} ({} bytes)", value.len())
            } else {
                value.into_owned()
            };
            (name.into_owned(), shown)
        });
        Shown::Form(fields.collect())
    }

    /// Writes a JSON value; `None` where it is nested too deeply.
    fn write(&self, value: &str, depth: usize, text: &mut String) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        let mut parser = serde_json::Deserializer::from_str(value);
        match value.as_bytes().first() {
            Some(b'{') => {
                let members = parser.deserialize_map(Members).ok()?;
                let items = members.len();
                text.push('{');
                for (place, (name, value)) in members.into_iter().enumerate() {
                    start_line(place, depth + 1, text);
                    text.push_str(&serde_json::to_string(&name).ok()?);
                    text.push_str(": ");
                    // That there is nothing is no secret.
                    if self.hides(&name) && value.get() != "null" {
                        text.push('"');
                        text.push_str(MASK);
                        text.push('"');
                    } else {
                        self.write(value.get(), depth + 1, text)?;
                    }
                }
                end(items, depth, '}', text);
            }
            Some(b'[') => {
                let elements = parser.deserialize_seq(Elements).ok()?;
                let items = elements.len();
                text.push('[');
                for (place, value) in elements.into_iter().enumerate() {
                    start_line(place, depth + 1, text);
                    self.write(value.get(), depth + 1, text)?;
                }
                end(items, depth, ']', text);
            }
            _ => text.push_str(value),
        }
        Some(())
    }
}

/// A name in one way of writing.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

fn start_line(place: usize, depth: usize, text: &mut String) {
    text.push_str(if place == 0 { "\n" } else { ",\n" });
    text.extend(std::iter::repeat_n("  ", depth));
}

fn end(items: usize, depth: usize, bracket: char, text: &mut String) {
    if items > 0 {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    }
    text.push(bracket);
}

/// The members of an object as they are: in their order, also those whose name comes twice.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

/// The elements of an array as they are.
struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masking() -> Masking {
        Masking::new(["email", "card_number", "address"])
    }

    fn json(payload: &str) -> String {
        match masking().show(payload.as_bytes(), None) {
            Shown::Json(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_named_is_masked_however_deep_it_is_and_however_it_is_written() {
        let payload = r#"{"a":[{"Email":"x@y"},{"cardNumber":42}],"CARD-NUMBER":[1],"address":{"city":"z"}}"#;
        let text = json(payload);
        for secret in ["x@y", "42", "city"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert_eq!(text.matches(MASK).count(), 4, "{text}");
    }

    #[test]
    fn everything_else_is_shown_as_it_came() {
        let payload = r#"{"z":1.10,"a":123456789012345678901234567890,"z":true,"e":{},"l":[],"s":"\u00e9"}"#;
        assert_eq!(
            json(payload),
            "{\n  \"z\": 1.10,\n  \"a\": 123456789012345678901234567890,\n  \"z\": true,\n  \"e\": {},\n  \"l\": [],\n  \"s\": \"\\u00e9\"\n}"
        );
        assert_eq!(json(" [ 1 , [2] ] "), "[\n  1,\n  [\n    2\n  ]\n]");
    }

    #[test]
    fn that_there_is_nothing_is_shown() {
        assert!(json(r#"{"email":null}"#).contains("null"));
    }

    #[test]
    fn a_name_that_is_written_with_escapes_is_masked_too() {
        assert!(!json(r#"{"e\u006dail":"x@y"}"#).contains("x@y"));
    }

    #[test]
    fn the_fields_of_a_form_are_masked_by_each_part_of_their_name() {
        let long = "x".repeat(FORM_VALUE_BYTES_MAX + 1);
        let payload = format!("id=7&payer%5Bemail%5D=x%40y&payload={long}");
        let shown =
            masking().show(payload.as_bytes(), Some("Application/x-www-form-urlencoded; charset=utf-8"));
        let Shown::Form(fields) = shown else { panic!("{shown:?}") };
        assert_eq!(fields[0], ("id".to_owned(), "7".to_owned()));
        assert_eq!(fields[1], ("payer[email]".to_owned(), MASK.to_owned()));
        assert_eq!(fields[2].1, format!("{MASK} (257 bytes)"));
    }

    #[test]
    fn what_nobody_can_read_is_not_shown() {
        let deep = "[".repeat(DEPTH_MAX + 2) + &"]".repeat(DEPTH_MAX + 2);
        let very_deep = "[".repeat(200_000) + &"]".repeat(200_000);
        for payload in [&b""[..], b"<xml/>", b"\xff\x00", b"{", deep.as_bytes(), very_deep.as_bytes()] {
            assert!(matches!(masking().show(payload, None), Shown::Hidden(_)));
        }
    }

    #[test]
    fn a_signature_is_never_shown() {
        let masking = masking();
        assert_eq!(masking.header("stripe-signature", "t=1"), MASK);
        assert_eq!(masking.header("x-github-event", "ping"), "ping");
        assert_eq!(masking.rejected_header("x-anything", b"abc"), "••• (3 bytes)");
        assert_eq!(masking.rejected_header("user-agent", b"curl"), "curl");
    }
}
