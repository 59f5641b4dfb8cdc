//! A source's options, read as the types that its pack wants.
//!
//! The environment knows only texts, so a text is also read as what the pack wants in its place: `true` or `false`,
//! a whole number, or a list with commas between. Where a text is wanted it stays as it is, digits and all: nothing
//! is guessed. What is wrong is told with the option's name, and never with what it says: that may be a secret in
//! the wrong place.

use std::fmt;

use serde::de::value::{SeqDeserializer, StrDeserializer, StringDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Expected, MapAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

use super::settings::SetupError;

/// `options` as `T`, which denies unknown fields.
///
/// # Errors
/// An option is missing, unknown or of the wrong type; the first one is told.
pub fn read<T: DeserializeOwned>(options: &Map<String, Value>) -> Result<T, SetupError> {
    let entries = Entries { left: options.iter(), current: None };
    T::deserialize(entries).map_err(|Wrong(what)| SetupError::BadOption(what))
}

/// The entries of a list that is written as one text, with commas between. An entry that holds a comma itself needs a
/// list.
pub fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
}

/// What is wrong with an option.
#[derive(Debug)]
struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl serde::de::Error for Wrong {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }

    fn invalid_type(_found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self(format!("must be {wanted}"))
    }

    fn invalid_value(_found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self(format!("must be {wanted}"))
    }

    fn unknown_variant(_found: &str, known: &'static [&'static str]) -> Self {
        Self(format!("must be one of: {}", known.join(", ")))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        match known {
            [] => Self(format!("{name:?} is not an option of this provider, which has none")),
            known => {
                Self(format!("{name:?} is not an option of this provider; it has: {}", known.join(", ")))
            }
        }
    }

    fn missing_field(name: &'static str) -> Self {
        Self(format!("{name} is missing"))
    }
}

/// All options, one after the other.
struct Entries<'a> {
    left: serde_json::map::Iter<'a>,
    current: Option<(&'a str, &'a Value)>,
}

impl<'de> Deserializer<'de> for Entries<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        self.current = self.left.next().map(|(name, value)| (name.as_str(), value));
        let Some((name, _)) = self.current else { return Ok(None) };
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let Some((name, value)) = self.current.take() else {
            return Err(Wrong("a value was asked for before its name".to_owned()));
        };
        seed.deserialize(Written(value)).map_err(|Wrong(what)| Wrong(format!("{name} {what}")))
    }
}

/// One option, as it was written.
struct Written<'a>(&'a Value);

impl Written<'_> {
    /// The number that it is, or that its text says.
    fn number<T: std::str::FromStr>(&self, plain: impl Fn(&Value) -> Option<T>) -> Option<T> {
        match self.0 {
            Value::String(text) => text.trim().parse().ok(),
            value => plain(value),
        }
    }

    fn whole<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Wrong> {
        let number = self.number(Value::as_u64);
        visitor.visit_u64(number.ok_or_else(|| Wrong("must be a whole number, 0 or more".to_owned()))?)
    }

    fn signed<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Wrong> {
        let number = self.number(Value::as_i64);
        visitor.visit_i64(number.ok_or_else(|| Wrong("must be a whole number".to_owned()))?)
    }

    fn text(&self) -> Result<String, Wrong> {
        self.0.as_str().map(str::to_owned).ok_or_else(|| Wrong("must be a text".to_owned()))
    }
}

impl<'de> Deserializer<'de> for Written<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.0
            .clone()
            .deserialize_any(visitor)
            .map_err(|_| Wrong("is not of the type that it must have".to_owned()))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let said = match self.0 {
            Value::Bool(said) => Some(*said),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        visitor.visit_bool(said.ok_or_else(|| Wrong("must be true or false".to_owned()))?)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.whole(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.whole(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.whole(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.whole(visitor)
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.signed(visitor)
    }

    fn deserialize_i16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.signed(visitor)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.signed(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.signed(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let entries: Vec<Value> = match self.0 {
            Value::Array(entries) => entries.clone(),
            Value::String(text) => listed(text).map(Value::from).collect(),
            _ => return Err(Wrong("must be a list".to_owned())),
        };
        let entries = entries.iter().map(Written);
        visitor.visit_seq(SeqDeserializer::new(entries))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        StringDeserializer::new(self.text()?).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> serde::de::IntoDeserializer<'de, Wrong> for Written<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests;
