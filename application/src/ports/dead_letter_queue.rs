//! Takes dead letters from where the broker keeps them, so that the store can.

use async_trait::async_trait;
use domain::Timestamp;

use super::event_queue::{QueueError, UnreadableMessage};
use crate::envelope::Envelope;
use crate::retry_policy::AttemptFailure;

/// A message of the dead-letter queue. All of it was written by some release of a worker, or by the broker, or
/// by anybody else; so nothing but its bytes can be relied on.
#[derive(Debug)]
pub struct DeadLetterMessage {
    /// Tells this delivery from all others of its subscription.
    pub token: u64,
    /// The envelope, or why the message is none.
    pub content: Result<Envelope, UnreadableMessage>,
    /// The label of the reason, where a worker has given up on it.
    pub reason: Option<String>,
    /// The reason in full, where a worker has given up on it.
    pub detail: Option<String>,
    /// Why the broker has given up on it, in its words, where it was the broker; such as `delivery_limit`.
    pub broker_reason: Option<String>,
    /// How many attempts have failed.
    pub failed_attempts: u32,
    /// The failures, oldest first.
    pub history: Vec<AttemptFailure>,
    /// When it was given up. MUST be the same for every delivery of one message; `None` where the message does
    /// not say.
    pub dead_lettered_at: Option<Timestamp>,
    /// The worker that gave up on it.
    pub worker: Option<String>,
    /// That worker's release.
    pub release: Option<String>,
}

/// Opens subscriptions to the dead-letter queue.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait DeadLetterQueue: Send + Sync {
    /// A new subscription. MUST bound how many messages, and how many bytes of them, are handed out and not
    /// acknowledged.
    async fn subscribe(&self) -> Result<Box<dyn DeadLetterSubscription>, QueueError>;
}

/// A stream of dead letters.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait DeadLetterSubscription: Send {
    /// Waits for a message, then gathers more until the batch is full or the linger time is over. MUST be safe
    /// to drop while waiting: no message is lost by it. MUST fail, not wait, when the subscription has ended
    /// for any reason. Never gives an empty batch.
    async fn next_batch(&mut self) -> Result<Vec<DeadLetterMessage>, QueueError>;

    /// Takes messages of this subscription off the queue. An acknowledgement that goes nowhere is no error:
    /// the message comes again.
    async fn acknowledge(&mut self, tokens: Vec<u64>) -> Result<(), QueueError>;

    /// Ends the subscription; what is not acknowledged goes back to the queue.
    async fn close(self: Box<Self>) -> Result<(), QueueError>;
}
