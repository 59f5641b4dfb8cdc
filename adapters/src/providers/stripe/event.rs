//! A Stripe event: a snapshot (`"object":"event"`) or a thin one (`"object":"v2.core.event"`).

use std::borrow::Cow;

use application::ports::provider::Problem;
use domain::{EventId, IdError, Timestamp};
use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::object::StripeObject;
use super::one_pass::{Members, Picked, Read};
use crate::providers::joined_id::joined;
use crate::providers::json::{Kind, string};
use crate::providers::moment;

const HEAD: [&str; 6] = ["id", "type", "account", "context", "created", "livemode"];

/// An event's own members.
#[derive(Clone, Copy, Default)]
pub struct Head<'a>(Picked<'a, { HEAD.len() }>);

/// An event and the object that it is about.
#[derive(Default)]
pub struct Event<'a> {
    /// Its own members.
    pub head: Head<'a>,
    /// The object as it was then; empty where there is none, as in a thin event.
    pub object: StripeObject<'a>,
    /// What members of the object were before, where the event is about a change.
    pub before: Option<&'a RawValue>,
}

impl<'a> Head<'a> {
    /// The head of the event that `body` is.
    ///
    /// # Errors
    /// The body is no JSON object.
    pub fn parse(body: &'a [u8]) -> Result<Self, Problem> {
        let wrong = |code, message: &str| problem("", code, message);
        let text =
            std::str::from_utf8(body).map_err(|_| wrong("not_json", "is not JSON: it is not UTF-8"))?;
        match serde_json::from_str::<Read<Self>>(text) {
            Ok(Read(head)) => Ok(head),
            Err(error) if error.is_data() => Err(wrong("wrong_type", "is not a JSON object")),
            Err(_) => Err(wrong("not_json", "is not JSON")),
        }
    }

    /// The event's id. On an event of a connected account, or of an account of an organisation, the account is
    /// part of it.
    ///
    /// # Errors
    /// There is no usable id.
    pub fn id(&self) -> Result<EventId, Problem> {
        let wrong = |code, message: &str| problem("/id", code, message);
        let value = self.get("id").ok_or_else(|| wrong("missing", "is missing"))?;
        if Kind::of(value) != Kind::String {
            return Err(wrong("wrong_type", "is not a string"));
        }
        let id = string(value).ok_or_else(|| wrong("invalid", "holds half of a surrogate pair"))?;
        let invalid = |error: IdError| wrong("invalid", &error.to_string());
        // Told of the id alone first: with the account before it, it would never be empty.
        let plain = EventId::parse(&id).map_err(invalid)?;
        match self.account() {
            Some(account) => joined(&[&account, &id]).map_err(invalid),
            None => Ok(plain),
        }
    }

    /// The account that it happened in, where that is not the one that the webhook belongs to: `account`, or
    /// `context` in thin events and those of an organisation's webhook.
    pub fn account(&self) -> Option<Cow<'a, str>> {
        let text = |name| self.get(name).and_then(string).filter(|text| !text.is_empty());
        text("account").or_else(|| text("context"))
    }

    /// Its type.
    pub fn kind(&self) -> Option<Cow<'a, str>> {
        self.get("type").and_then(string)
    }

    /// When it happened: seconds in a snapshot, ISO 8601 in a thin event.
    pub fn occurred_at(&self) -> Option<Timestamp> {
        let created = self.get("created")?;
        moment::unix_seconds(created).or_else(|| moment::rfc3339(created))
    }

    /// Whether it is about real money.
    pub fn live(&self) -> Option<bool> {
        match self.get("livemode")?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(&HEAD, name)
    }
}

impl<'a> Event<'a> {
    /// The event that `body` is. One whose `data` has an odd shape is an event without object.
    ///
    /// # Errors
    /// The body is no JSON object.
    pub fn parse(body: &'a [u8]) -> Result<Self, Problem> {
        let text = std::str::from_utf8(body).ok();
        match text.and_then(|text| serde_json::from_str::<Read<Self>>(text).ok()) {
            Some(Read(event)) => Ok(event),
            None => Head::parse(body).map(|head| Self { head, ..Self::default() }),
        }
    }
}

impl<'de> Members<'de> for Head<'de> {
    fn take<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error> {
        self.0.take(&HEAD, name, map)
    }
}

impl<'de> Members<'de> for Event<'de> {
    fn take<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error> {
        if name != b"data" {
            return self.head.take(name, map);
        }
        let Read(Data { object, before }) = map.next_value()?;
        (self.object, self.before) = (object, before.get(&BEFORE, "previous_attributes"));
        Ok(())
    }
}

const BEFORE: [&str; 1] = ["previous_attributes"];

#[derive(Default)]
struct Data<'a> {
    object: StripeObject<'a>,
    before: Picked<'a, { BEFORE.len() }>,
}

impl<'de> Members<'de> for Data<'de> {
    fn take<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error> {
        if name != b"object" {
            return self.before.take(&BEFORE, name, map);
        }
        Read(self.object) = map.next_value()?;
        Ok(())
    }
}

fn problem(pointer: &str, code: &'static str, message: &str) -> Problem {
    Problem { pointer: pointer.to_owned(), code, message: message.to_owned() }
}
