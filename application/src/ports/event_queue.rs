//! Takes envelopes from the main queue and settles them.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::BoxError;
use crate::disposition::DeadLetterReason;
use crate::envelope::Envelope;
use crate::retry_policy::AttemptFailure;

/// The subscription is of no use any more; everything it handed out and that was not settled comes again.
#[derive(Debug, thiserror::Error)]
#[error("{doing}")]
pub struct QueueError {
    /// What was being done, and to which queue.
    pub doing: String,
    /// Why it failed.
    #[source]
    pub source: BoxError,
}

/// One message, handed out and not yet settled.
#[derive(Debug)]
pub struct Delivery {
    /// Tells this delivery from all others of its subscription.
    pub token: u64,
    /// The envelope, or why the message is none.
    pub content: Result<Envelope, UnreadableMessage>,
    /// How many attempts have failed before.
    pub failed_attempts: u32,
    /// The failures, oldest first, bounded.
    pub history: Vec<AttemptFailure>,
}

/// A message that is not an envelope of ours. Its bytes are kept for the dead letter.
#[derive(Debug)]
pub struct UnreadableMessage {
    /// What is wrong with it.
    pub reason: String,
    /// The bytes.
    pub payload: Bytes,
}

/// What shall become of a delivery.
#[derive(Debug)]
pub struct Settlement {
    /// Which delivery, whole, since a retry or a dead letter carries it on.
    pub delivery: Delivery,
    /// What to do with it.
    pub action: Action,
}

/// What to do with a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It is done: take it off the queue.
    Acknowledge,
    /// It comes again after `delay`, with `history` and as many failed attempts as are told here.
    RetryAfter {
        /// How long it waits.
        delay: Duration,
        /// How many of its attempts have failed by now.
        failed_attempts: u32,
        /// The failures so far, this one included.
        history: Vec<AttemptFailure>,
    },
    /// It goes to the dead letters.
    DeadLetter {
        /// Why.
        reason: DeadLetterReason,
        /// How many of its attempts have failed by now.
        failed_attempts: u32,
        /// The failures so far.
        history: Vec<AttemptFailure>,
    },
}

/// What came of settling a batch.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SettleReport {
    /// Deliveries whose acknowledgement went nowhere, as after a reconnect; they will come again and be
    /// found duplicates.
    pub acks_lost: usize,
}

/// Opens subscriptions to the main queue.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait EventQueue: Send + Sync {
    /// A new subscription. MUST bound how many deliveries are handed out and not settled.
    async fn subscribe(&self) -> Result<Box<dyn Subscription>, QueueError>;
}

/// A stream of deliveries.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait Subscription: Send {
    /// Waits for a delivery, then gathers more until the batch is full or the linger time is over.
    /// MUST be safe to drop while waiting: no delivery is lost by it. MUST fail, not wait, when the
    /// subscription has ended for any reason. Never gives an empty batch.
    async fn next_batch(&mut self) -> Result<Vec<Delivery>, QueueError>;

    /// Settles deliveries of this subscription. A retry or a dead letter MUST be durable (confirmed and
    /// routed) before its original is acknowledged; what could not be settled MUST stay unsettled and the
    /// call MUST fail.
    async fn settle(&mut self, settlements: Vec<Settlement>) -> Result<SettleReport, QueueError>;

    /// Ends the subscription; what is not settled goes back to the queue.
    async fn close(self: Box<Self>) -> Result<(), QueueError>;
}

/// How many messages wait.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct QueueDepths {
    /// In the main queue, handed out or not.
    pub main: u64,
    /// Waiting for their next attempt.
    pub retry: u64,
    /// Dead letters.
    pub dead_letters: u64,
}

/// Counts what waits, for metrics and the audit.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait QueueInspector: Send + Sync {
    /// The depths now. For a broker that only tells what is ready, deliveries in hand are not in it.
    async fn depths(&self) -> Result<QueueDepths, QueueError>;
}
