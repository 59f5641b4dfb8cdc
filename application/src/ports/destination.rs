//! Where messages for the rest of the company go.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

/// A message, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedMessage {
    /// The message's id: the same however often it is sent.
    pub id: String,
    /// What happened, such as `payment.succeeded`.
    pub kind: String,
    /// The payment that it is about, by source and id. Its messages must arrive in order.
    pub payment: (String, String),
    /// A `CloudEvent`, see [`crate::cloud_event`].
    pub body: Bytes,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The destination has said that it has it.
    Delivered,
    /// The destination does not want this message, or not now. It is there, and answers.
    Refused {
        /// What it said, bounded; nothing secret.
        error: String,
    },
    /// The destination could not be asked, or takes nothing at the moment. It may have it all the same.
    Unavailable {
        /// What happened, bounded; nothing secret.
        error: String,
        /// How long it asks to be left alone, where it says, or how long is needed to reach it again. Then it is
        /// certain that it is not about this message.
        retry_after: Option<Duration>,
    },
    /// It was not sent, since an earlier message of its payment was not delivered, or since the destination was
    /// lost before its turn.
    NotTried,
}

/// One destination.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait Destination: Send + Sync {
    /// Sends messages; element `i` answers `messages[i]`.
    ///
    /// - `Delivered` MUST mean that the destination has confirmed it.
    /// - A payment's messages MUST be sent in their order, each after the one before is delivered.
    /// - A message that is not delivered MUST NOT keep those of other payments from being tried.
    /// - MUST answer in bounded time. MUST be safe to drop; what is in flight may arrive then.
    /// - MUST work again by itself once the destination is back.
    async fn deliver(&self, messages: &[RenderedMessage]) -> Vec<DeliveryOutcome>;
}
