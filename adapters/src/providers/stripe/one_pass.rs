//! JSON objects read in one pass, only the members that are asked for, nested objects in place.
//!
//! [`Object`](crate::providers::json::Object) reads one level at a time and keeps every member, which costs a
//! pass over the body for each level. An event has four levels and half a hundred members of which a dozen
//! matter.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Members that are looked for while an object is read.
pub trait Members<'de>: Default {
    /// Takes the next value of `map` if the member `name` is looked for, or else passes over it. The last one
    /// counts where a member is there twice.
    fn take<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error>;
}

/// An object of which the members of `T` were read.
pub struct Read<T>(pub T);

impl<'de, T: Members<'de>> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Walk(PhantomData)).map(Self)
    }
}

struct Walk<T>(PhantomData<T>);

impl<'de, T: Members<'de>> Visitor<'de> for Walk<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut members = T::default();
        while let Some(Name(name)) = map.next_key()? {
            members.take(&name, &mut map)?;
        }
        Ok(members)
    }
}

/// The names of an object's members that matter, and their values, undecoded.
#[derive(Clone, Copy)]
pub struct Picked<'a, const N: usize>([Option<&'a RawValue>; N]);

impl<const N: usize> Default for Picked<'_, N> {
    fn default() -> Self {
        Self([None; N])
    }
}

impl<'a, const N: usize> Picked<'a, N> {
    /// The value of the member `name`, which is one of `names`; `None` when it is missing or null.
    pub fn get(&self, names: &[&str; N], name: &str) -> Option<&'a RawValue> {
        let place = names.iter().position(|known| *known == name)?;
        let value = self.0.get(place).copied().flatten()?;
        (value.get() != "null").then_some(value)
    }

    /// Takes the next value of `map` if `name` is one of `names`, or else passes over it.
    pub fn take<A: MapAccess<'a>>(
        &mut self,
        names: &[&str; N],
        name: &[u8],
        map: &mut A,
    ) -> Result<(), A::Error> {
        let place = names.iter().position(|known| known.as_bytes() == name);
        match place.and_then(|place| self.0.get_mut(place)) {
            Some(value) => *value = Some(map.next_value()?),
            None => skip(map)?,
        }
        Ok(())
    }
}

/// Passes over the next value.
fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

/// A member's name, as bytes: half of a surrogate pair in it is no error, since it is not ours then.
struct Name<'de>(Cow<'de, [u8]>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'de> Visitor<'de> for Bytes {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_bytes<E: Error>(self, name: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_vec())))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}
