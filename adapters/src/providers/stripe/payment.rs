//! Payment intents, and Checkout sessions, which tell of one.

use application::ports::provider::Untranslatable;
use domain::{EventId, Fact, FactId, Progress};
use serde_json::value::RawValue;

use super::object::StripeObject;
use super::translate::Meaning;
use crate::providers::facts::captured_once;
use crate::providers::json::{Object, elements};

/// The intent has come this far.
pub fn progressed(intent: &StripeObject<'_>, progress: Progress) -> Result<Meaning, Untranslatable> {
    of(intent, Fact::Progressed { progress })
}

/// An attempt to pay it failed.
pub fn failed(intent: &StripeObject<'_>, event: &EventId) -> Result<Meaning, Untranslatable> {
    // An attempt that made no charge has no id, and is told by this event alone.
    let attempt = failed_charge(intent).unwrap_or_else(|| event.as_str().to_owned());
    let attempt = FactId::parse(&attempt)
        .map_err(|error| Untranslatable(format!("/data/object/last_payment_error/charge {error}")))?;
    of(intent, Fact::Failed { attempt })
}

/// Nobody will pay it any more.
pub fn canceled(intent: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(intent, Fact::Canceled)
}

/// An amount may be captured. Only the first report counts, in which nothing could be captured before: what is
/// authorised later in addition, or is left after one of several captures, is no second authorisation.
pub fn authorised(intent: &StripeObject<'_>, before: Option<&RawValue>) -> Result<Meaning, Untranslatable> {
    let amount = intent.amount("amount_capturable")?;
    let could_be_captured = before
        .and_then(Object::of)
        .and_then(|before| before.get("amount_capturable"))
        .is_some_and(|amount| amount.get() != "0");
    if could_be_captured || amount.minor_units() == 0 {
        return Ok(None);
    }
    of(intent, Fact::Authorised { amount })
}

/// It is paid.
pub fn succeeded(intent: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(intent, captured_once(intent.amount("amount_received")?)?)
}

/// A session is completed, which says that its intent is paid, or will be later, or that there is none.
pub fn checked_out(session: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    if session.wanted_text("payment_status")? != "paid" {
        return Ok(None);
    }
    let Some(intent) = session.text("payment_intent") else { return Ok(None) };
    let captured = captured_once(session.amount("amount_total")?)?;
    Ok(Some((intent.into_owned(), vec![captured])))
}

fn of(intent: &StripeObject<'_>, fact: Fact) -> Result<Meaning, Untranslatable> {
    Ok(Some((intent.wanted_text("id")?.into_owned(), vec![fact])))
}

/// The charge of the attempt that failed last: as the error says, or, where there is no error, the latest
/// charge, or the first of the list in which versions before 2022-11-15 have it.
fn failed_charge(intent: &StripeObject<'_>) -> Option<String> {
    if let Some(error) = intent.get("last_payment_error") {
        return Object::of(error)?.text("charge").map(std::borrow::Cow::into_owned);
    }
    if let Some(charge) = intent.text("latest_charge") {
        return Some(charge.into_owned());
    }
    let charges = Object::of(intent.get("charges")?)?;
    let first = elements(charges.get("data")?)?.first().copied()?;
    Object::of(first)?.text("id").map(std::borrow::Cow::into_owned)
}
