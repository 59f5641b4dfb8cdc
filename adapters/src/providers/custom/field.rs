//! Where a sender puts a value: in the body, by a JSON pointer, or in a header.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::{RawValue, to_raw_value};

use super::options::bad;
use super::pointer::JsonPointer;
use crate::providers::json::{Kind, string};
use crate::providers::settings::SetupError;

/// What stands before the name of a header in an option.
const HEADER: &str = "header:";

/// A place of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// In the body.
    Body(JsonPointer),
    /// In the header of that lower-case name.
    Header(String),
}

/// What fields are looked up in.
pub struct Message<'a> {
    root: Option<&'a RawValue>,
    header: &'a dyn Fn(&str) -> Option<Cow<'a, str>>,
}

impl<'a> Message<'a> {
    /// A body, JSON or not, and the headers by lower-case name.
    pub fn new(body: &'a [u8], header: &'a dyn Fn(&str) -> Option<Cow<'a, str>>) -> Self {
        Self { root: serde_json::from_slice(body).ok(), header }
    }

    /// Whether the body is JSON.
    pub const fn is_json(&self) -> bool {
        self.root.is_some()
    }
}

impl Field {
    /// The field that the option `name` says.
    ///
    /// # Errors
    /// It is neither a JSON pointer nor `header:NAME`.
    pub fn parse(name: &str, text: &str) -> Result<Self, SetupError> {
        if let Some(header) = text.strip_prefix(HEADER) {
            return header_name(name, header).map(Self::Header);
        }
        match JsonPointer::parse(text) {
            Some(pointer) => Ok(Self::Body(pointer)),
            None => Err(bad(name, "must be a JSON pointer, such as /data/id, or header:NAME")),
        }
    }

    /// The header, where it is one.
    pub fn header(&self) -> Option<&str> {
        match self {
            Self::Header(name) => Some(name),
            Self::Body(_) => None,
        }
    }

    /// The value, undecoded; a header's is a JSON text.
    pub fn value<'a>(&self, message: &Message<'a>) -> Option<Cow<'a, RawValue>> {
        match self {
            Self::Body(pointer) => pointer.find(message.root?).map(Cow::Borrowed),
            Self::Header(name) => {
                (message.header)(name).and_then(|text| to_raw_value(&text).ok()).map(Cow::Owned)
            }
        }
    }

    /// The value as text: of a JSON text what it says, of a number its digits, `true` and `false` as such.
    /// `None` for anything else, and for an empty text.
    pub fn text(&self, message: &Message<'_>) -> Option<String> {
        let value = self.value(message)?;
        let text = match Kind::of(&value) {
            Kind::String => string(&value)?.into_owned(),
            Kind::Number | Kind::Boolean => value.get().to_owned(),
            Kind::Object | Kind::Array | Kind::Null => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(pointer) => f.write_str(pointer.as_str()),
            Self::Header(name) => write!(f, "the header {name}"),
        }
    }
}

/// A header's name in lower case, for the option `name`.
///
/// # Errors
/// It is not the name of a header.
pub fn header_name(name: &str, text: &str) -> Result<String, SetupError> {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if text.is_empty() || !text.bytes().all(is_token) {
        return Err(bad(name, "does not name a header"));
    }
    Ok(text.to_ascii_lowercase())
}
