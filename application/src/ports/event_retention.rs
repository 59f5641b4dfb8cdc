//! How long events are kept.

use std::time::Duration;

use async_trait::async_trait;

use super::unit_of_work::StoreError;

/// Removes the events of one consumer, which is fixed when it is made, once they are old. What they have done
/// stays: payments, facts, entries and messages. Since facts decide, an event that comes again after that has
/// no second effect; it is recorded as one whose facts are known.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait EventRetention: Send + Sync {
    /// Removes at most `limit` of the events that were settled longer ago than `age`, the oldest first, with
    /// what is kept of those without effect, and gives their number. Time is the store's. MUST note in the same
    /// transaction how many of which outcome were removed, and which facts may miss their events, so that the
    /// audit's totals stay what they were and nothing is missed that was removed on purpose.
    async fn purge(&self, age: Duration, limit: u32) -> Result<u64, StoreError>;
}
