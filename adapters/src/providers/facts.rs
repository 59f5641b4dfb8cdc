//! Facts that many packs make in the same way.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, MerchantId, Money, PaymentChange, PaymentId};

use super::members::single_capture;

/// These facts of that payment or payout.
pub const fn change(payment: PaymentId, merchant: Option<MerchantId>, facts: Vec<Fact>) -> Effect {
    Effect::Change(PaymentChange { payment, merchant, facts })
}

/// All of a payment was taken, by the only capture that it can have.
///
/// # Errors
/// Never.
pub fn captured_once(amount: Money) -> Result<Fact, Untranslatable> {
    Ok(Fact::Captured { capture: single_capture()?, amount, last: true })
}

/// The fee of a payment that is captured once. `None` for nothing: a fee of zero is what some providers say
/// before they know it, and the fee that they say later would contradict it.
///
/// # Errors
/// Never.
pub fn charged_once(amount: Money) -> Result<Option<Fact>, Untranslatable> {
    if amount.minor_units() == 0 {
        return Ok(None);
    }
    Ok(Some(Fact::Charged { fee: single_capture()?, amount }))
}

/// A refund failed. It was a refund before, whether or not that was told: both facts together move nothing
/// where it was not told, and take the refund back where it was.
pub fn failed_refund(refund: FactId, amount: Money) -> Vec<Fact> {
    vec![Fact::Refunded { refund: refund.clone(), amount }, Fact::RefundFailed { refund, amount }]
}
