//! payonce as the system under test: its store and its queue are asked.

use std::sync::Arc;

use application::ports::event_queue::{QueueDepths, QueueInspector};
use application::ports::store_audit::{StoreAudit, StoreTotals};
use async_trait::async_trait;

use super::drain::Progress;

/// What a load test asks beside the requests it sends.
#[derive(Clone)]
pub struct SystemUnderTest {
    /// Counts what is settled and finds broken invariants.
    pub store: Arc<dyn StoreAudit>,
    /// Counts what waits and what is dead.
    pub queue: Arc<dyn QueueInspector>,
}

/// What the system has and knows at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Events settled, of those that are looked at.
    pub totals: StoreTotals,
    /// What waits, whosever it is.
    pub depths: QueueDepths,
}

impl State {
    pub const fn settled(&self) -> u64 {
        self.totals.applied + self.totals.recorded
    }

    /// In the store, of the events that are looked at; and in the queue, whosever they are.
    pub const fn dead_letters(&self) -> u64 {
        self.totals.dead_letters + self.depths.dead_letters
    }

    pub const fn waiting(&self) -> u64 {
        self.depths.main + self.depths.retry
    }
}

/// The system, as far as events of one id prefix are concerned, or all.
pub(super) struct Observed {
    pub system: SystemUnderTest,
    pub prefix: Option<String>,
}

impl Observed {
    pub async fn state(&self) -> anyhow::Result<State> {
        Ok(State {
            totals: self.system.store.totals(self.prefix.as_deref()).await?,
            depths: self.system.queue.depths().await?,
        })
    }
}

#[async_trait]
impl Progress for Observed {
    async fn committed(&self) -> anyhow::Result<u64> {
        let state = self.state().await?;
        Ok(state.settled() + state.dead_letters())
    }

    async fn waiting(&self) -> anyhow::Result<Option<u64>> {
        Ok(Some(self.state().await?.waiting()))
    }
}
