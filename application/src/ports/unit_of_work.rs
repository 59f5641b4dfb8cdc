//! The database, as one transaction that carries a batch.

use async_trait::async_trait;
use bytes::Bytes;
use domain::{
    Announcement, EstablishedFact, EventKey, FactKey, Fingerprint, LedgerEntry, Payment, PaymentEvent,
    PaymentKey, RecordReason,
};

use super::BoxError;

/// Why the store did not do it. The adapter classifies, because only it knows.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store is away: no connection, or the connection broke. Says nothing about the events.
    #[error("the store is not available")]
    Unavailable(#[source] BoxError),
    /// It may work when run again: a lock or statement time-out, a deadlock, a lost race, or anything that
    /// the driver does not tell apart.
    #[error("the store failed for now")]
    Transient(#[source] BoxError),
    /// It will not work: a constraint refuses it.
    #[error("the store refuses it")]
    Permanent(#[source] BoxError),
}

/// What the unique key says of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Not processed before; this unit owns it now.
    Fresh,
    /// Processed before, with the same meaning.
    Duplicate,
    /// The key was used before for another meaning.
    Conflict {
        /// The meaning that is stored.
        stored: Fingerprint,
    },
}

/// An event that is settled without effect, with its bytes, so that it can be replayed one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The event.
    pub event: PaymentEvent,
    /// Why it has none.
    pub reason: RecordReason,
    /// The bytes as they came.
    pub payload: Bytes,
}

/// A fact of a payment, with the event that told it first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFact {
    /// The payment.
    pub payment: PaymentKey,
    /// The fact.
    pub fact: EstablishedFact,
    /// The event.
    pub event: EventKey,
}

/// A message for the rest of the company, with the event that caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxMessage {
    /// What it says.
    pub announcement: Announcement,
    /// The event.
    pub event: EventKey,
}

/// Begins transactions.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait UnitOfWork: Send + Sync {
    /// A new transaction. Failing to get one is [`StoreError::Unavailable`].
    async fn begin(&self) -> Result<Box<dyn Transaction>, StoreError>;

    /// Asks whether the store can be written to. MUST answer within a short time-out.
    async fn probe(&self) -> Result<(), StoreError>;
}

/// One transaction. Dropping it without a commit MUST roll it back at once and leave no session open.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait Transaction: Send {
    /// Element `i` answers `events[i]`; the keys MUST be distinct. A fresh event is stored with its
    /// fingerprint, as applied when it has a change and as recorded when it has none. Two units that race for
    /// one event: the second MUST wait for the first and then see its outcome. Keys MUST be taken in one
    /// order by everybody, so that batches do not deadlock.
    async fn claim(&mut self, events: &[PaymentEvent]) -> Result<Vec<Claim>, StoreError>;

    /// The payments that exist of `keys`, locked until the transaction ends, in key order.
    async fn lock_payments(&mut self, keys: &[PaymentKey]) -> Result<Vec<Payment>, StoreError>;

    /// Stores payments as they are now, each one revision on from what is stored; a payment that several events
    /// of a unit change is saved for each of them. `payments` has each key once. A payment of revision 1 is new and
    /// MUST NOT overwrite one that another unit has created meanwhile: that is [`StoreError::Transient`].
    async fn save_payments(&mut self, payments: &[Payment]) -> Result<(), StoreError>;

    /// Those of `facts` that are known of their payments. Asked only for payments that this unit has locked,
    /// so nobody else can add to them meanwhile.
    async fn known_facts(
        &mut self,
        facts: &[(PaymentKey, FactKey)],
    ) -> Result<Vec<(PaymentKey, EstablishedFact)>, StoreError>;

    /// Stores facts that were not known. A fact that is known all the same MUST NOT be overwritten: another
    /// unit has been faster, which is [`StoreError::Transient`].
    async fn establish_facts(&mut self, facts: &[NewFact]) -> Result<(), StoreError>;

    /// Appends entries to the ledger and changes the balances of their accounts by them. The balances MUST be
    /// locked in the order of account, ledger account and currency, each once, so that units do not deadlock;
    /// called last before the commit, so that a balance that many events share is held for a short time.
    async fn post_entries(&mut self, entries: &[LedgerEntry]) -> Result<(), StoreError>;

    /// Puts messages into the outbox, where they are seen once the transaction is committed. A message of an
    /// id that is there already MUST NOT be stored again: that is [`StoreError::Transient`], as for facts.
    async fn enqueue_messages(&mut self, messages: &[OutboxMessage]) -> Result<(), StoreError>;

    /// Stores that claimed events had no effect, why, and their bytes.
    async fn record(&mut self, recorded: &[RecordedEvent]) -> Result<(), StoreError>;

    /// Makes it durable. MUST fail if any earlier call failed, even if the caller went on.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
