//! Refunds.

use application::ports::provider::Untranslatable;
use domain::Fact;

use super::object::StripeObject;
use super::translate::{Meaning, payment_of};
use crate::providers::facts::failed_refund;

/// What the refund's status says. One that the payer still has to act on moves nothing yet.
pub fn by_status(refund: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    match &*refund.wanted_text("status")? {
        "pending" | "succeeded" => {
            let refunded = Fact::Refunded { refund: refund.fact_id()?, amount: refund.amount("amount")? };
            of(refund, vec![refunded])
        }
        "failed" | "canceled" => failed(refund),
        _ => Ok(None),
    }
}

/// The money did not reach the payer.
pub fn failed(refund: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(refund, failed_refund(refund.fact_id()?, refund.amount("amount")?))
}

fn of(refund: &StripeObject<'_>, facts: Vec<Fact>) -> Result<Meaning, Untranslatable> {
    Ok(Some((payment_of(refund, "charge")?, facts)))
}
