//! JSON read only as deep as it is used: a key or a value that nobody asks for is never decoded.
//!
//! So an odd but legal escape in a member that is not ours (a NUL, half of a surrogate pair) does not matter,
//! and a body costs one pass and no copies.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in their order, undecoded.
pub struct Object<'a>(Vec<(&'a RawValue, &'a RawValue)>);

/// What a value is, by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of JSON's own kinds")]
pub enum Kind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

impl Kind {
    /// The kind of that value.
    pub fn of(value: &RawValue) -> Self {
        match value.get().as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }

    /// The kind in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
        }
    }
}

impl<'a> Object<'a> {
    /// How often the member is there, and its last value.
    pub fn find(&self, name: &str) -> (usize, Option<&'a RawValue>) {
        self.0
            .iter()
            .filter(|(key, _)| string(key).is_some_and(|key| key == name))
            .fold((0, None), |(count, _), (_, value)| (count + 1, Some(*value)))
    }
}

/// The text of a JSON string; `None` when it is none, or holds half of a surrogate pair.
pub fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    let text = value.get();
    if text.contains('\\') {
        return serde_json::from_str(text).ok().map(Cow::Owned);
    }
    // Without an escape the text stands between the quotes as it is.
    text.strip_prefix('"')?.strip_suffix('"').map(Cow::Borrowed)
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(&'de RawValue, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Members).map(Object)
    }
}

impl<'a> Object<'a> {
    /// The object that `text` is; `None` when it is none.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// The object that the value is; `None` when it is none.
    pub fn of(value: &'a RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// The member's value, the last one where it is there twice; `None` when it is missing or null.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.find(name).1.filter(|value| Kind::of(value) != Kind::Null)
    }

    /// The member's value as an object.
    pub fn object(&self, name: &str) -> Option<Self> {
        self.get(name).and_then(Self::of)
    }

    /// The member's value as text; `None` unless it is a string that is not empty.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(string).filter(|text| !text.is_empty())
    }

    /// The member's value as text, where a number counts as its digits: for ids that come as either.
    pub fn text_or_number(&self, name: &str) -> Option<Cow<'a, str>> {
        let value = self.get(name)?;
        match Kind::of(value) {
            Kind::String => string(value).filter(|text| !text.is_empty()),
            Kind::Number => Some(Cow::Borrowed(value.get())),
            _ => None,
        }
    }

    /// The member's value as true or false; `None` when it is neither.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.get(name)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The elements of the member's array; `None` when it is none.
    pub fn array(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        self.get(name).and_then(elements)
    }
}

/// The elements of an array; `None` when the value is none.
pub fn elements(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}
