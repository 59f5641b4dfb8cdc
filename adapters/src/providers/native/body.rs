//! The shape of a native event, and everything that can be wrong with it.

use std::borrow::Cow;

use application::ports::provider::Problem;
use domain::fact::SINGLE;
use domain::{Currency, EventId, EventKind, Fact, FactId, IdError, Money, PaymentChange, PaymentId};
use serde_json::value::RawValue;

use crate::providers::json::{Kind, Object, string};

const SUCCEEDED: &str = "payment_intent.succeeded";

/// A native event, parsed.
pub struct Body {
    /// Its id.
    pub id: EventId,
    /// Its type.
    pub kind: EventKind,
    /// What it does; `None` for a type that has no effect here.
    pub change: Option<PaymentChange>,
}

impl Body {
    /// Parses a body, or tells everything that is wrong with it at once. Never repeats what the body says.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let text = std::str::from_utf8(body)
            .map_err(|_| vec![problem("", "not_json", "is not JSON: it is not valid UTF-8")])?;
        let root: Object<'_> = serde_json::from_str(text).map_err(|error| vec![not_an_object(&error)])?;
        let mut reader = Reader::default();
        let id = reader.id(&root, "id", "/id", EventId::parse);
        let kind = reader.id(&root, "type", "/type", EventKind::parse);
        let data = reader.object(&root, "data", "/data");
        let change = match (&kind, &data) {
            (Some(kind), Some(data)) if kind.as_str() == SUCCEEDED => reader.succeeded(data),
            _ => None,
        };
        match (id, kind) {
            (Some(id), Some(kind)) if reader.problems.is_empty() => Ok(Self { id, kind, change }),
            _ => Err(reader.problems),
        }
    }
}

fn problem(pointer: &str, code: &'static str, message: impl Into<String>) -> Problem {
    Problem { pointer: pointer.to_owned(), code, message: message.into() }
}

fn not_an_object(error: &serde_json::Error) -> Problem {
    if error.is_data() {
        return problem("", "wrong_type", "is not a JSON object");
    }
    let place = format!("is not JSON (line {}, column {})", error.line(), error.column());
    problem("", "not_json", place)
}

/// Reads members and gathers what is wrong with them.
#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn refuse<T>(&mut self, pointer: &str, code: &'static str, message: impl Into<String>) -> Option<T> {
        self.problems.push(problem(pointer, code, message));
        None
    }

    /// The one value of a member. Which of two would count is not for us to guess.
    fn member<'a>(&mut self, object: &Object<'a>, name: &str, pointer: &str) -> Option<&'a RawValue> {
        match object.find(name) {
            (0, _) => self.refuse(pointer, "missing", "is missing"),
            (1, value) => value,
            (count, _) => self.refuse(pointer, "invalid", format!("is there {count} times")),
        }
    }

    fn member_of<'a>(
        &mut self,
        object: &Object<'a>,
        name: &str,
        pointer: &str,
        wanted: Kind,
    ) -> Option<&'a RawValue> {
        let value = self.member(object, name, pointer)?;
        let kind = Kind::of(value);
        if kind == wanted {
            return Some(value);
        }
        let message = format!("is {}, not {}", kind.name(), wanted.name());
        self.refuse(pointer, "wrong_type", message)
    }

    fn object<'a>(&mut self, object: &Object<'a>, name: &str, pointer: &str) -> Option<Object<'a>> {
        let value = self.member_of(object, name, pointer, Kind::Object)?;
        let Ok(object) = serde_json::from_str(value.get()) else {
            return self.refuse(pointer, "invalid", "cannot be read");
        };
        Some(object)
    }

    fn text<'a>(&mut self, object: &Object<'a>, name: &str, pointer: &str) -> Option<Cow<'a, str>> {
        let value = self.member_of(object, name, pointer, Kind::String)?;
        match string(value) {
            Some(text) => Some(text),
            None => self.refuse(pointer, "invalid", "holds half of a surrogate pair"),
        }
    }

    fn id<T>(
        &mut self,
        object: &Object<'_>,
        name: &str,
        pointer: &str,
        parse: impl FnOnce(&str) -> Result<T, IdError>,
    ) -> Option<T> {
        let text = self.text(object, name, pointer)?;
        match parse(&text) {
            Ok(id) => Some(id),
            Err(error) => self.refuse(pointer, "invalid", error.to_string()),
        }
    }

    fn succeeded(&mut self, data: &Object<'_>) -> Option<PaymentChange> {
        let payment = self.id(data, "payment_intent", "/data/payment_intent", PaymentId::parse);
        let amount = self.amount(data);
        let currency = self.currency(data);
        self.status(data);
        Some(PaymentChange {
            payment: payment?,
            merchant: None,
            facts: vec![Fact::Captured {
                capture: FactId::parse(SINGLE).ok()?,
                amount: Money::new(amount?, currency?),
                last: true,
            }],
        })
    }

    /// Whole minor units, as JSON integers only: `49.99`, `4999.0`, `5e3` and `"4999"` are all refused, since
    /// each has been a sender's mistake of a factor, and nothing may be rounded in silence.
    fn amount(&mut self, data: &Object<'_>) -> Option<i64> {
        const POINTER: &str = "/data/amount_cents";
        let number = self.member_of(data, "amount_cents", POINTER, Kind::Number)?.get();
        if number.contains(['.', 'e', 'E']) {
            return self.refuse(POINTER, "wrong_type", "is not a whole number without fraction and exponent");
        }
        match number.parse::<i64>() {
            Ok(amount) if amount >= 0 => Some(amount),
            Ok(_) => self.refuse(POINTER, "out_of_range", "is negative"),
            Err(_) => self.refuse(POINTER, "out_of_range", "does not fit 64 bits"),
        }
    }

    fn currency(&mut self, data: &Object<'_>) -> Option<Currency> {
        const POINTER: &str = "/data/currency";
        let text = self.text(data, "currency", POINTER)?;
        match Currency::parse(&text) {
            Ok(currency) => Some(currency),
            Err(error) => self.refuse(POINTER, "invalid", error.to_string()),
        }
    }

    /// An event that says that a payment succeeded and that it has another status is not to be believed.
    fn status(&mut self, data: &Object<'_>) {
        const POINTER: &str = "/data/status";
        if let Some(status) = self.text(data, "status", POINTER)
            && status != "succeeded"
        {
            self.problems.push(problem(POINTER, "invalid", "contradicts the type: it is not \"succeeded\""));
        }
    }
}
