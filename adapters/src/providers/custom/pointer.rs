//! JSON pointers (RFC 6901) over undecoded JSON.

use serde_json::value::RawValue;

use crate::providers::json::{Kind, Object, elements};

/// A JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPointer {
    text: String,
    tokens: Vec<String>,
}

impl JsonPointer {
    /// `None` when `text` is no pointer: it is empty or starts with `/`, and each `~` is of a `~0` or a `~1`.
    pub fn parse(text: &str) -> Option<Self> {
        let tokens = match text.strip_prefix('/') {
            None if text.is_empty() => Vec::new(),
            None => return None,
            Some(rest) => rest.split('/').map(unescaped).collect::<Option<_>>()?,
        };
        Some(Self { text: text.to_owned(), tokens })
    }

    /// The pointer, as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The value that it points to; `None` where there is none, or null.
    pub fn find<'a>(&self, root: &'a RawValue) -> Option<&'a RawValue> {
        self.tokens
            .iter()
            .try_fold(root, |value, token| step(value, token))
            .filter(|value| Kind::of(value) != Kind::Null)
    }
}

fn step<'a>(value: &'a RawValue, token: &str) -> Option<&'a RawValue> {
    match Kind::of(value) {
        Kind::Object => Object::of(value)?.find(token).1,
        Kind::Array => elements(value)?.get(index(token)?).copied(),
        _ => None,
    }
}

/// A place in an array: digits without a zero before them.
fn index(token: &str) -> Option<usize> {
    let plain = token.bytes().all(|b| b.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    plain.then(|| token.parse().ok())?
}

fn unescaped(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let rest = if let Some(rest) = part.strip_prefix('0') {
            text.push('~');
            rest
        } else {
            text.push('/');
            part.strip_prefix('1')?
        };
        text.push_str(rest);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 6901, section 5.
    const DOCUMENT: &str = r#"{
        "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
        " ": 7, "m~n": 8, "none": null, "deep": {"list": [{"x": [10, 11]}]}
    }"#;

    fn found(pointer: &str) -> Option<String> {
        let root: &RawValue = serde_json::from_str(DOCUMENT).unwrap();
        JsonPointer::parse(pointer).unwrap().find(root).map(|value| value.get().to_owned())
    }

    #[test]
    fn the_examples_of_the_rfc_are_found() {
        assert_eq!(found("").as_deref(), Some(DOCUMENT));
        for (pointer, value) in [
            ("/foo", r#"["bar", "baz"]"#),
            ("/foo/0", "\"bar\""),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
            ("/deep/list/0/x/1", "11"),
        ] {
            assert_eq!(found(pointer).as_deref(), Some(value), "{pointer}");
        }
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        for pointer in [
            "/gone", "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/+1", "/foo/x", "/none", "/a~1b/c",
            "/foo/0/0",
        ] {
            assert_eq!(found(pointer), None, "{pointer}");
        }
    }

    #[test]
    fn an_escape_is_read_once() {
        assert_eq!(unescaped("~01").as_deref(), Some("~1"));
        assert_eq!(unescaped("~1~0~1").as_deref(), Some("/~/"));
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        for text in ["data", "data/id", " /data", "/~", "/~2", "/a~", "#/a"] {
            assert_eq!(JsonPointer::parse(text), None, "{text}");
        }
    }
}
