//! The object that a Stripe event is about: a payment intent, a charge, a refund, and so on. One list of
//! members serves all of them, since the type of the event, which says what the object is, comes last.

use std::borrow::Cow;

use application::ports::provider::Untranslatable;
use domain::{FactId, Money};
use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::minor_units::money;
use super::one_pass::{Members, Picked};
use crate::providers::json::{Kind, string};

const MEMBERS: [&str; 17] = [
    "id",
    "amount",
    "amount_capturable",
    "amount_captured",
    "amount_received",
    "amount_refunded",
    "amount_total",
    "captured",
    "charge",
    "charges",
    "currency",
    "last_payment_error",
    "latest_charge",
    "payment_intent",
    "payment_status",
    "refunded",
    "status",
];

/// The members of the object that say what became of money.
#[derive(Clone, Copy, Default)]
pub struct StripeObject<'a>(Picked<'a, { MEMBERS.len() }>);

impl<'a> StripeObject<'a> {
    /// The member's value; `None` when it is missing or null.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(&MEMBERS, name)
    }

    /// The member's value as text; `None` unless it is a string that is not empty.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(string).filter(|text| !text.is_empty())
    }

    /// The member's value as text.
    ///
    /// # Errors
    /// It is missing or no string.
    pub fn wanted_text(&self, name: &str) -> Result<Cow<'a, str>, Untranslatable> {
        self.text(name).ok_or_else(|| match self.get(name) {
            None => wrong(name, "is missing"),
            Some(_) => wrong(name, "is not a usable string"),
        })
    }

    /// Whether the member is `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.get() == "true")
    }

    /// The member's amount, in the object's currency.
    ///
    /// # Errors
    /// The amount or the currency is missing or not usable.
    pub fn amount(&self, name: &str) -> Result<Money, Untranslatable> {
        self.amount_if_told(name)?.ok_or_else(|| wrong(name, "is missing"))
    }

    /// The member's amount; `None` where the object has none, as in old versions of the API.
    ///
    /// # Errors
    /// The amount or the currency is not usable.
    pub fn amount_if_told(&self, name: &str) -> Result<Option<Money>, Untranslatable> {
        let Some(value) = self.get(name) else { return Ok(None) };
        if Kind::of(value) != Kind::Number {
            return Err(wrong(name, &format!("is {}, not a number", Kind::of(value).name())));
        }
        let currency = self.wanted_text("currency")?;
        money(value, &currency).map(Some).map_err(|problem| wrong(name, &problem))
    }

    /// The object's id as the identity of a fact.
    ///
    /// # Errors
    /// There is no usable id.
    pub fn fact_id(&self) -> Result<FactId, Untranslatable> {
        self.fact_id_in("id")
    }

    /// The member's id as the identity of a fact.
    ///
    /// # Errors
    /// There is no usable id.
    pub fn fact_id_in(&self, name: &str) -> Result<FactId, Untranslatable> {
        let id = self.wanted_text(name)?;
        FactId::parse(&id).map_err(|error| wrong(name, &error.to_string()))
    }
}

impl<'de> Members<'de> for StripeObject<'de> {
    fn take<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error> {
        self.0.take(&MEMBERS, name, map)
    }
}

/// What is wrong with a member of the object, which it never repeats.
pub fn wrong(name: &str, what: &str) -> Untranslatable {
    Untranslatable(format!("/data/object/{name} {what}"))
}
