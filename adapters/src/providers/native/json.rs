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
pub enum Kind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

impl Kind {
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
