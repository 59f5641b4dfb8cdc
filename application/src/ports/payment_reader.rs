//! Payments, their history and the balances, for people and programs that ask.

use async_trait::async_trait;
use domain::{EstablishedFact, EventId, EventKind, LedgerAccount, Money, Payment, PaymentKey, Timestamp};

use super::unit_of_work::StoreError;

/// A payment, and when we heard of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentView {
    /// The payment as it is.
    pub payment: Payment,
    /// When its first event was applied.
    pub created_at: Timestamp,
    /// When its last event was applied.
    pub updated_at: Timestamp,
}

/// What an event meant for a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimelineItem {
    /// It established this fact.
    Fact(EstablishedFact),
    /// It had no effect, for the reason of this name.
    Recorded(String),
}

/// One line of a payment's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// The event.
    pub event_id: EventId,
    /// The provider's name of what happened; kept of recorded events only.
    pub kind: Option<EventKind>,
    /// What it meant.
    pub item: TimelineItem,
    /// When that was stored.
    pub at: Timestamp,
}

/// What an account holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// Which account of theirs.
    pub ledger: LedgerAccount,
    /// How much: a debit when positive, a credit when negative.
    pub amount: Money,
}

/// Reads what the events of one consumer, which is fixed when the reader is made, have done. Sees only what is
/// committed, and holds nobody up.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait PaymentReader: Send + Sync {
    /// The payment or payout of that key, if there is one.
    async fn payment(&self, key: &PaymentKey) -> Result<Option<PaymentView>, StoreError>;

    /// What its events meant, the latest first, at most `limit` entries. An event with several facts has
    /// several entries.
    async fn timeline(&self, key: &PaymentKey, limit: u32) -> Result<Vec<TimelineEntry>, StoreError>;

    /// The balances of `account`, which is an [`AccountKey`](domain::AccountKey) as it is shown, in the order of
    /// [`LedgerAccount::ALL`] and then by currency.
    async fn balances(&self, account: &str) -> Result<Vec<Balance>, StoreError>;
}
