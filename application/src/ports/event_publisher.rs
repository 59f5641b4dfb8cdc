//! Makes envelopes durable, on the way in.

use async_trait::async_trait;

use super::BoxError;
use crate::envelope::Envelope;

/// Why an envelope is not known to be durable. Each of them means: answer the sender that it shall send again.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The broker is away or blocked. Told at once, without waiting.
    #[error("the broker is not available: {0}")]
    Unavailable(String),
    /// More requests are waiting than the limit allows.
    #[error("the publish queue is full ({limit} envelopes are waiting)")]
    Overloaded {
        /// How many may wait.
        limit: usize,
    },
    /// No confirm within the deadline. It may have been stored all the same; the second copy is a duplicate.
    #[error("the broker did not confirm within {} ms", .0.as_millis())]
    TimedOut(std::time::Duration),
    /// The broker took it and had no queue for it.
    #[error("the broker has no queue for it: {0}")]
    Unroutable(String),
    /// The broker refused it.
    #[error("the broker refused it")]
    Refused,
    /// The connection broke while it was in flight.
    #[error("the connection to the broker broke")]
    Broken(#[source] BoxError),
}

impl PublishError {
    /// The error as a metric label.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "unavailable",
            Self::Overloaded { .. } => "overloaded",
            Self::TimedOut(_) => "timed_out",
            Self::Unroutable(_) => "unroutable",
            Self::Refused => "refused",
            Self::Broken(_) => "broken",
        }
    }
}

/// Publishes to the main queue.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait EventPublisher: Send + Sync {
    /// Element `i` answers `envelopes[i]`.
    ///
    /// - `Ok` MUST mean that the envelope is on durable storage and in the main queue: persistent, routed and
    ///   confirmed. It MUST NOT be said on a hope.
    /// - MUST answer within its deadline, and at once while the broker is known to be away or blocked.
    /// - MUST work again by itself once the broker is back.
    /// - MUST keep the payload byte for byte.
    async fn publish(&self, envelopes: Vec<Envelope>) -> Vec<Result<(), PublishError>>;
}
