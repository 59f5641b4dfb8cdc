//! What the rest of the company must hear, handed out in order to one destination at a time.
//!
//! A destination has a row of its own: how far it has come (its position), and who may relay to it (a lease).
//! So a destination that is slow or away holds back no other, and any number of relays may run: one has the
//! lease, the others stand by.

use std::time::Duration;

use async_trait::async_trait;
use domain::Timestamp;

use super::unit_of_work::StoreError;

/// Why a relay cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// Another relay has taken the lease over. What was asked for was not done.
    #[error("another relay has the lease")]
    LeaseLost,
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where a destination begins that has never been relayed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With the oldest message that the outbox still has.
    Oldest,
    /// With what is announced from now on.
    Newest,
}

/// Who wants to relay to which destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseClaim {
    /// The destination's name.
    pub destination: String,
    /// The relay, by a name that no other has.
    pub owner: String,
    /// How long the lease holds, unless it is renewed.
    pub lease: Duration,
    /// Where to begin.
    pub start: Start,
}

/// How an entry stands with its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has not been handed out before.
    New,
    /// The same, and an earlier message of its payment waits for another attempt.
    Behind,
    /// It has waited for its turn.
    Waiting {
        /// How many attempts have failed.
        attempts: u32,
        /// How long ago the first of them was; zero when there was none.
        tried_for: Duration,
    },
}

/// A message, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEntry {
    /// Its place. Places of one payment are in the order in which its messages were committed.
    pub seq: i64,
    /// The message's id.
    pub id: String,
    /// What happened, such as `payment.succeeded`.
    pub kind: String,
    /// The payment's source.
    pub source: String,
    /// The payment's id in its source.
    pub payment_id: String,
    /// Whose money it is.
    pub account: String,
    /// Which fact of the payment.
    pub fact: String,
    /// How much, in minor units, where the fact names an amount.
    pub amount_minor: Option<i64>,
    /// Of which currency.
    pub currency: Option<String>,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// How it stands with this destination.
    pub standing: Standing,
}

/// What is handed out together.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OutboxBatch {
    /// The entries, by place, each once.
    pub entries: Vec<OutboxEntry>,
    /// There may be more that can be handed out at once.
    pub more: bool,
}

/// What shall become of an entry, for this destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is delivered, or not wanted there.
    Done,
    /// It is to be tried again.
    TryAgain {
        /// How long it waits.
        after: Duration,
        /// How many attempts have failed by now.
        attempts: u32,
        /// Why it was not delivered, bounded.
        error: String,
    },
    /// It was not tried: an earlier message of its payment was not delivered. It comes when that one is.
    Behind,
    /// It is given up, and kept as failed. The messages behind it go on.
    Failed {
        /// How many attempts have failed.
        attempts: u32,
        /// Why the last of them did, bounded.
        error: String,
    },
}

/// An entry and what shall become of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The entry.
    pub entry: OutboxEntry,
    /// What shall become of it.
    pub verdict: Verdict,
}

/// How far a destination has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestinationDepth {
    /// The destination's name.
    pub destination: String,
    /// How many messages it has not been handed yet, at most: places that were never used are counted, too.
    pub behind: u64,
    /// How long the oldest of them has been waiting.
    pub oldest_age: Duration,
    /// How many wait for another attempt, or behind one that does.
    pub waiting: u64,
    /// How many were given up.
    pub failed: u64,
}

/// Hands messages out.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait Outbox: Send + Sync {
    /// The lease of a destination, or `None` while another relay has it. A lease that is over MUST be given
    /// to whoever asks, one that is not to its owner only. Time is the store's. The destination is stored when
    /// it is named for the first time.
    async fn lease(&self, claim: &LeaseClaim) -> Result<Option<Box<dyn OutboxLease>>, StoreError>;

    /// How far the destinations have come that are stored.
    async fn depths(&self) -> Result<Vec<DestinationDepth>, StoreError>;

    /// Removes at most `limit` messages that are older than `age` and gives their number. MUST keep what a
    /// destination has not been handed yet, or has not settled, or has failed; but a destination that nobody
    /// has relayed to for as long as `age` keeps nothing.
    async fn purge(&self, age: Duration, limit: u32) -> Result<u64, StoreError>;
}

/// The right to relay to one destination. Every call MUST fail with [`OutboxError::LeaseLost`], and change
/// nothing, once another relay has it.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait OutboxLease: Send {
    /// The next entries: what waits and is due, and what is new, at most `limit` of each. MUST hand out a
    /// payment's messages in their order, over all batches. MUST NOT pass over a message that is committed
    /// later than one of a higher place: it is handed out once it is there. May be called again before
    /// [`settle`](Self::settle), and gives the same entries then, or more.
    async fn next(&mut self, limit: usize) -> Result<OutboxBatch, OutboxError>;

    /// Stores what became of all entries of the last batch, and renews the lease, in one transaction.
    async fn settle(&mut self, settled: Vec<Settled>) -> Result<(), OutboxError>;

    /// Has the lease begin anew.
    async fn renew(&mut self) -> Result<(), OutboxError>;

    /// Gives the lease back, so that another relay need not wait until it is over.
    async fn release(self: Box<Self>) -> Result<(), OutboxError>;
}
