//! Payouts. One of less than nothing takes money from the merchant's bank to cover a negative balance; there is
//! no fact for that, so it is recorded only.

use application::ports::provider::Untranslatable;
use domain::{Fact, Money};

use super::object::StripeObject;
use super::translate::Meaning;

/// It is on its way.
pub fn started(payout: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(payout, |amount| Fact::PayoutStarted { amount })
}

/// It has arrived, which it may still turn out not to have.
pub fn paid(payout: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(payout, |amount| Fact::PayoutPaid { amount })
}

/// It did not arrive.
pub fn failed(payout: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(payout, |amount| Fact::PayoutFailed { amount })
}

/// It was called back before it left.
pub fn canceled(payout: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    of(payout, |amount| Fact::PayoutCanceled { amount })
}

/// What its status says.
pub fn by_status(payout: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    match &*payout.wanted_text("status")? {
        "pending" | "in_transit" => started(payout),
        "paid" => paid(payout),
        "failed" => failed(payout),
        "canceled" => canceled(payout),
        _ => Ok(None),
    }
}

fn of(payout: &StripeObject<'_>, fact: impl FnOnce(Money) -> Fact) -> Result<Meaning, Untranslatable> {
    let amount = payout.amount("amount")?;
    if amount.minor_units() < 0 {
        return Ok(None);
    }
    Ok(Some((payout.wanted_text("id")?.into_owned(), vec![fact(amount)])))
}
