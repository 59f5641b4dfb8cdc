//! What a sender's events mean: which values are where, and what its kinds are called here.

use std::collections::HashMap;

use application::ports::provider::{Problem, Untranslatable};
use domain::{Effect, EventId, FactId, IdError, MerchantId, NoEffect, PaymentChange, PaymentId};

use super::field::{Field, Message};
use super::meaning::{MEANINGS, Meaning, Part};
use super::options::{Options, bad, chosen};
use super::price::Price;
use super::time::{TIME_FORMATS, TimeFormat};
use crate::providers::joined_id::{joined, joined_text};
use crate::providers::members::{event_kind, single_capture};
use crate::providers::pack::Translation;
use crate::providers::settings::SetupError;

/// Where the values are, and what they mean.
pub struct Mapping {
    id: Vec<Field>,
    kind: Vec<Field>,
    payment: Option<Field>,
    price: Option<Price>,
    merchant: Option<Field>,
    parts: Vec<(Part, Field)>,
    occurred_at: Option<(Field, TimeFormat)>,
    kinds: HashMap<String, Meaning>,
}

impl Mapping {
    /// The mapping that the options say.
    ///
    /// # Errors
    /// An option is not usable, or one that the kinds need is missing.
    pub fn read(options: &mut Options) -> Result<Self, SetupError> {
        let id = fields(options, "id")?.ok_or_else(|| bad("id", "is missing"))?;
        let kind = fields(options, "kind")?.ok_or_else(|| bad("kind", "is missing"))?;
        let mut parts = Vec::new();
        for part in [Part::Capture, Part::Refund, Part::Dispute] {
            parts.extend(field(options, part.option())?.map(|field| (part, field)));
        }
        let occurred_at = field(options, "occurred_at")?;
        let format = options.choice("time_format", TIME_FORMATS)?;
        let occurred_at = match (occurred_at, format) {
            (Some(field), Some(format)) => Some((field, format)),
            (None, None) => None,
            (Some(_), None) => return Err(bad("time_format", "is missing: occurred_at is set")),
            (None, Some(_)) => return Err(bad("time_format", "has no use without occurred_at")),
        };
        let mut kinds = HashMap::new();
        for (theirs, ours) in options.table("kinds")? {
            kinds.insert(theirs, chosen("kinds", &ours, MEANINGS)?);
        }
        let payment = field(options, "payment")?;
        let merchant = field(options, "merchant")?;
        let mapping =
            Self { id, kind, payment, price: Price::read(options)?, merchant, parts, occurred_at, kinds };
        mapping.check()?;
        Ok(mapping)
    }

    /// That every kind finds what it needs.
    fn check(&self) -> Result<(), SetupError> {
        let missing = |name| Err(bad(name, "is missing: something in kinds needs it"));
        if !self.kinds.is_empty() && self.payment.is_none() {
            return missing("payment");
        }
        for meaning in self.kinds.values() {
            if meaning.has_amount() && self.price.is_none() {
                return missing("amount");
            }
            if let Some(part) = meaning.part()
                && self.part(part).is_none()
            {
                return missing(part.option());
            }
        }
        Ok(())
    }

    /// The header that is the event id, where one header is.
    pub fn id_header(&self) -> Option<&str> {
        match self.id.as_slice() {
            [field] => field.header(),
            _ => None,
        }
    }

    /// The headers that the event id is read from, by lower-case name.
    pub fn id_headers(&self) -> impl Iterator<Item = &str> {
        self.id.iter().filter_map(Field::header)
    }

    /// The headers that the event's meaning is read from, by lower-case name.
    pub fn headers(&self) -> impl Iterator<Item = &str> {
        let price = self.price.iter().flat_map(Price::fields);
        let parts = self.parts.iter().map(|(_, field)| field);
        let time = self.occurred_at.iter().map(|(field, _)| field);
        let single = self.payment.iter().chain(&self.merchant);
        self.kind.iter().chain(single).chain(price).chain(parts).chain(time).filter_map(Field::header)
    }

    /// Where the event id is, in words.
    pub fn id_description(&self) -> String {
        self.id.iter().map(Field::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The event id, or everything that is missing for it.
    pub fn event_id(&self, message: &Message<'_>) -> Result<EventId, Vec<Problem>> {
        let problem = |pointer: &str, code, message: &str| Problem {
            pointer: pointer.to_owned(),
            code,
            message: message.to_owned(),
        };
        let (mut texts, mut problems) = (Vec::new(), Vec::new());
        for field in &self.id {
            match (field.text(message), field) {
                (Some(text), _) => texts.push(text),
                (None, Field::Body(_)) if !message.is_json() => {
                    problems.push(problem("", "not_json", "is not JSON"));
                }
                (None, Field::Body(pointer)) => {
                    problems.push(problem(pointer.as_str(), "missing", "is not a text"));
                }
                (None, Field::Header(name)) => {
                    problems.push(problem("", "missing", &format!("came without the header {name}")));
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        // A single id stays as the sender writes it.
        let id = if let [text] = texts.as_slice() { EventId::parse(text) } else { joined(&texts) };
        id.map_err(|error| {
            let pointer = self.id.first().map(Field::to_string).unwrap_or_default();
            vec![problem(&pointer, "invalid", &error.to_string())]
        })
    }

    /// What an event means.
    pub fn translate(&self, message: &Message<'_>) -> Result<Translation, Untranslatable> {
        let kind = self.kind_text(message);
        let meaning = kind.as_ref().and_then(|kind| self.kinds.get(kind)).copied();
        let effect = match meaning {
            Some(meaning) => Effect::Change(self.change(meaning, message)?),
            None => Effect::Nothing(NoEffect::Kind),
        };
        let occurred_at =
            self.occurred_at.as_ref().and_then(|(field, format)| format.read(&field.text(message)?));
        Ok(Translation { kind: event_kind(kind.as_deref())?, live: None, occurred_at, effect })
    }

    /// The sender's name of what happened. Of several parts one may be missing.
    fn kind_text(&self, message: &Message<'_>) -> Option<String> {
        let texts: Vec<Option<String>> = self.kind.iter().map(|field| field.text(message)).collect();
        if texts.iter().all(Option::is_none) {
            return None;
        }
        let texts: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or_default()).collect();
        Some(if let [text] = texts.as_slice() { (*text).to_owned() } else { joined_text(&texts) })
    }

    fn change(&self, meaning: Meaning, message: &Message<'_>) -> Result<PaymentChange, Untranslatable> {
        let payment: PaymentId = id("payment", self.payment.as_ref(), message, PaymentId::parse)?;
        let merchant = match &self.merchant {
            Some(field) => Some(id("merchant", Some(field), message, MerchantId::parse)?),
            None => None,
        };
        let fact_id = match meaning.part() {
            Some(part) => id(part.option(), self.part(part), message, FactId::parse)?,
            None if meaning == Meaning::Captured => single_capture()?,
            None => id("payment", self.payment.as_ref(), message, FactId::parse)?,
        };
        let amount = match &self.price {
            Some(price) if meaning.has_amount() => Some(price.amount(message)?),
            _ => None,
        };
        let facts = meaning.facts(fact_id, amount).ok_or_else(|| wanting("amount"))?;
        Ok(PaymentChange { payment, merchant, facts })
    }

    fn part(&self, wanted: Part) -> Option<&Field> {
        self.parts.iter().find(|(part, _)| *part == wanted).map(|(_, field)| field)
    }
}

/// The field that an option says.
pub fn field(options: &mut Options, name: &str) -> Result<Option<Field>, SetupError> {
    options.text(name)?.map(|text| Field::parse(name, &text)).transpose()
}

fn fields(options: &mut Options, name: &str) -> Result<Option<Vec<Field>>, SetupError> {
    let Some(texts) = options.texts(name)? else { return Ok(None) };
    texts.iter().map(|text| Field::parse(name, text)).collect::<Result<_, _>>().map(Some)
}

fn id<T>(
    option: &str,
    field: Option<&Field>,
    message: &Message<'_>,
    parse: impl FnOnce(&str) -> Result<T, IdError>,
) -> Result<T, Untranslatable> {
    let field = field.ok_or_else(|| wanting(option))?;
    let text = field.text(message).ok_or_else(|| Untranslatable(format!("{field} is not a text")))?;
    parse(&text).map_err(|_| Untranslatable(format!("{field} is not a usable id")))
}

fn wanting(option: &str) -> Untranslatable {
    Untranslatable(format!("no option says where the {option} is"))
}
