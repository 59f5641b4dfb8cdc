//! The members that a pack cannot do without: each is there, or the text says where what is wrong. Values are
//! never repeated.

use std::borrow::Cow;

use application::ports::provider::{Problem, Untranslatable};
use domain::fact::SINGLE;
use domain::{EventId, EventKind, FactId, IdError, Money};
use serde_json::value::RawValue;

use super::amount::{self, Exceptions};
use super::json::Object;

/// The kind of an event whose own name is missing or cannot be one.
const UNKNOWN_KIND: &str = "unknown";

/// An object, and the JSON pointer at which it stands.
pub struct Members<'a> {
    object: Object<'a>,
    pointer: String,
}

impl<'a> Members<'a> {
    /// The object that a body is.
    ///
    /// # Errors
    /// It is none.
    pub fn of_body(body: &'a [u8]) -> Result<Self, Untranslatable> {
        let object =
            Object::parse(body).ok_or_else(|| Untranslatable("the body is not a JSON object".to_owned()))?;
        Ok(Self { object, pointer: String::new() })
    }

    /// The object that a value is, which stands at `pointer`; `None` when it is none.
    pub fn of_value(value: &'a RawValue, pointer: String) -> Option<Self> {
        Object::of(value).map(|object| Self { object, pointer })
    }

    /// The object itself, for members that may be missing.
    pub const fn object(&self) -> &Object<'a> {
        &self.object
    }

    /// The member that is an object; `None` when it is missing or none.
    pub fn optional_child(&self, name: &str) -> Option<Self> {
        Some(Self { object: self.object.object(name)?, pointer: self.pointer_to(name) })
    }

    /// The member that is an object.
    ///
    /// # Errors
    /// It is missing, or none.
    pub fn child(&self, name: &str) -> Result<Self, Untranslatable> {
        self.optional_child(name).ok_or_else(|| self.wrong(name, "is not an object"))
    }

    /// The member's text, where digits count as text.
    ///
    /// # Errors
    /// It is missing, empty or something else.
    pub fn text(&self, name: &str) -> Result<Cow<'a, str>, Untranslatable> {
        self.object.text_or_number(name).ok_or_else(|| self.wrong(name, "is not a text"))
    }

    /// The member as an id.
    ///
    /// # Errors
    /// It is missing, or not an id.
    pub fn id<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, IdError>,
    ) -> Result<T, Untranslatable> {
        parse(&self.text(name)?).map_err(|_| self.wrong(name, "is not a usable id"))
    }

    /// The amount of minor units in one member, of the currency in another.
    ///
    /// # Errors
    /// One of the two is missing or not usable.
    pub fn minor(&self, name: &str, currency: &str) -> Result<Money, Untranslatable> {
        let minor = amount::minor_units(self.amount(name)?).map_err(|what| self.wrong(name, &what))?;
        let currency =
            amount::currency_of(&self.text(currency)?).map_err(|what| self.wrong(currency, &what))?;
        Ok(Money::new(minor, currency))
    }

    /// The amount of major units in one member, of the currency in another.
    ///
    /// # Errors
    /// One of the two is missing or not usable.
    pub fn major(&self, name: &str, currency: &str, exceptions: Exceptions) -> Result<Money, Untranslatable> {
        let code = self.text(currency)?;
        amount::currency_of(&code).map_err(|what| self.wrong(currency, &what))?;
        amount::major(self.amount(name)?, &code, exceptions).map_err(|what| self.wrong(name, &what))
    }

    /// That the member is wrong, in words.
    pub fn wrong(&self, name: &str, what: &str) -> Untranslatable {
        Untranslatable(format!("{} {what}", self.pointer_to(name)))
    }

    fn amount(&self, name: &str) -> Result<&'a RawValue, Untranslatable> {
        self.object.get(name).ok_or_else(|| self.wrong(name, "is missing"))
    }

    fn pointer_to(&self, name: &str) -> String {
        format!("{}/{name}", self.pointer)
    }
}

/// The provider's name of what happened, or one of our own where it has none that can be used: that must
/// never cost an event.
///
/// # Errors
/// Never, as long as our own name is one.
pub fn event_kind(text: Option<&str>) -> Result<EventKind, Untranslatable> {
    let named = text.and_then(|text| EventKind::parse(text).ok());
    named
        .map_or_else(|| EventKind::parse(UNKNOWN_KIND), Ok)
        .map_err(|error| Untranslatable(error.to_string()))
}

/// The capture of a payment that can be captured once.
///
/// # Errors
/// Never, as long as [`SINGLE`] is an id.
pub fn single_capture() -> Result<FactId, Untranslatable> {
    FactId::parse(SINGLE).map_err(|error| Untranslatable(error.to_string()))
}

/// The one event id of a body: the member at the end of `path`, a text or digits.
///
/// # Errors
/// What is wrong, for the sender.
pub fn event_id(body: &[u8], path: &[&str]) -> Result<EventId, Vec<Problem>> {
    let mut object = body_object(body)?;
    let (name, parents) = path.split_last().unwrap_or((&"", &[]));
    let mut pointer = String::new();
    for parent in parents {
        pointer = format!("{pointer}/{parent}");
        object = object.object(parent).ok_or_else(|| wrong(&pointer, "missing", "is not an object"))?;
    }
    event_id_of(&object, name, &format!("{pointer}/{name}"))
}

/// The object that a body is.
///
/// # Errors
/// What is wrong, for the sender.
pub fn body_object(body: &[u8]) -> Result<Object<'_>, Vec<Problem>> {
    Object::parse(body).ok_or_else(|| match serde_json::from_slice::<&RawValue>(body) {
        Ok(_) => wrong("", "wrong_type", "is not a JSON object"),
        Err(_) => wrong("", "not_json", "is not JSON"),
    })
}

/// The event id in a member, which stands at `pointer`.
///
/// # Errors
/// What is wrong, for the sender.
pub fn event_id_of(object: &Object<'_>, name: &str, pointer: &str) -> Result<EventId, Vec<Problem>> {
    let text = object.text_or_number(name).ok_or_else(|| wrong(pointer, "missing", "is not a text"))?;
    EventId::parse(&text).map_err(|error| wrong(pointer, "invalid", &error.to_string()))
}

fn wrong(pointer: &str, code: &'static str, message: &str) -> Vec<Problem> {
    vec![Problem { pointer: pointer.to_owned(), code, message: message.to_owned() }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_at_the_end_of_its_path() {
        let id = |body: &str| event_id(body.as_bytes(), &["event", "id"]).map(|id| id.as_str().to_owned());
        assert_eq!(id(r#"{"event":{"id":"evt_1"},"id":"other"}"#), Ok("evt_1".to_owned()));
        assert_eq!(id(r#"{"event":{"id":17}}"#), Ok("17".to_owned()));
    }

    #[test]
    fn what_is_wrong_with_an_id_is_told_with_its_place() {
        let told = |body: &[u8]| {
            let problem = event_id(body, &["event", "id"]).unwrap_err().remove(0);
            (problem.pointer, problem.code)
        };
        for (body, pointer, code) in [
            (&b"{"[..], "", "not_json"),
            (b"\xff", "", "not_json"),
            (b"", "", "not_json"),
            (b"[]", "", "wrong_type"),
            (b"{}", "/event", "missing"),
            (br#"{"event":[]}"#, "/event", "missing"),
            (br#"{"event":{"id":null}}"#, "/event/id", "missing"),
            (br#"{"event":{"id":{}}}"#, "/event/id", "missing"),
            (br#"{"event":{"id":"a\nb"}}"#, "/event/id", "invalid"),
            (br#"{"event":{"id":"\ud800"}}"#, "/event/id", "missing"),
        ] {
            assert_eq!(told(body), (pointer.to_owned(), code), "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn an_untranslatable_text_names_the_place_and_never_the_value() {
        let body = br#"{"data":{"amount":"12.345","currency":"usd","odd":"XTS9"}}"#;
        let data = Members::of_body(body).unwrap().child("data").unwrap();
        assert_eq!(
            data.major("amount", "currency", &[]).unwrap_err().0,
            "/data/amount has more decimals than its currency, which has 2"
        );
        assert!(data.minor("amount", "currency").unwrap_err().0.starts_with("/data/amount is not a whole"));
        assert!(data.major("amount", "odd", &[]).unwrap_err().0.starts_with("/data/odd currency is not"));
        assert_eq!(data.minor("gone", "currency").unwrap_err().0, "/data/gone is missing");
    }

    #[test]
    fn a_kind_that_cannot_be_one_is_unknown() {
        assert_eq!(event_kind(Some("a.b")).unwrap().as_str(), "a.b");
        assert_eq!(event_kind(Some("a\0b")).unwrap().as_str(), "unknown");
        assert_eq!(event_kind(None).unwrap().as_str(), "unknown");
    }
}
