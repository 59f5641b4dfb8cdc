//! Charges: attempts to pay an intent, or, before there were intents, payments.

use application::ports::provider::Untranslatable;
use domain::{Fact, Money, Progress};

use super::object::{StripeObject, wrong};
use super::translate::{Meaning, payment_of};
use crate::providers::facts::captured_once;

/// The payer's bank is at work.
pub fn pending(charge: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(charge, Fact::Progressed { progress: Progress::Processing })
}

/// It is paid, or its amount is reserved until it is captured.
pub fn succeeded(charge: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    if charge.is_true("captured") {
        return captured(charge);
    }
    of(charge, Fact::Authorised { amount: charge.amount("amount")? })
}

/// The reserved amount, or less, was taken.
pub fn captured(charge: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    let amount = match charge.amount_if_told("amount_captured")? {
        Some(amount) => amount,
        // Before there was that member, the rest of the amount was told as refunded.
        None => less(charge.amount("amount")?, charge.amount_if_told("amount_refunded")?)?,
    };
    of(charge, captured_once(amount)?)
}

/// The attempt failed.
pub fn failed(charge: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(charge, Fact::Failed { attempt: charge.fact_id()? })
}

/// It was reserved and not captured in time.
pub fn expired(charge: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(charge, Fact::Canceled)
}

/// So much went back in all. What a partial capture leaves, or what was never captured, counts as refunded for
/// Stripe; it never was the merchant's, so it is no refund here.
pub fn refunded(charge: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    let refunded = charge.amount("amount_refunded")?;
    if !charge.is_true("captured") {
        let released = charge.is_true("refunded") && charge.text("payment_intent").is_none();
        return if released { of(charge, Fact::Canceled) } else { Ok(None) };
    }
    let total = match charge.amount_if_told("amount_captured")? {
        Some(captured) => {
            let released = less(charge.amount("amount")?, Some(captured))?;
            less(refunded, (released.minor_units() > 0).then_some(released))?
        }
        None => refunded,
    };
    if total.minor_units() > 0 { of(charge, Fact::RefundedInAll { total }) } else { Ok(None) }
}

fn of(charge: &StripeObject<'_>, fact: Fact) -> Result<Meaning, Untranslatable> {
    Ok(Some((payment_of(charge, "id")?, vec![fact])))
}

fn less(amount: Money, part: Option<Money>) -> Result<Money, Untranslatable> {
    match part {
        Some(part) => amount.checked_sub(part).map_err(|error| wrong("amount", &error.to_string())),
        None => Ok(amount),
    }
}
