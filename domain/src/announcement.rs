//! What the rest of the company hears of a change.

use crate::fact::FactKey;
use crate::ledger::AccountKey;
use crate::money::Money;
use crate::payment::PaymentKey;
use crate::timestamp::Timestamp;

/// One message about one fact. It says nothing that depends on the order in which events came, so the same
/// facts make the same messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// What happened, such as `payment.succeeded`.
    pub kind: &'static str,
    /// The payment or payout.
    pub payment: PaymentKey,
    /// Whose money it is.
    pub account: AccountKey,
    /// The fact, which with the payment is the message's identity.
    pub fact: FactKey,
    /// How much, where the fact names an amount.
    pub amount: Option<Money>,
    /// When it happened, by the provider; by our arrival time where the provider does not say.
    pub at: Timestamp,
}

impl Announcement {
    /// The message's id: the same however often the fact is told.
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.payment.source, self.payment.payment_id, self.fact)
    }
}
