//! Removes messages that every destination has had for long enough.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::error_chain::describe;
use crate::ports::outbox::Outbox;
use crate::ports::unit_of_work::StoreError;

/// How much is kept, and how it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurgeSettings {
    /// How long messages are kept.
    pub retention: Duration,
    /// How often it is looked for what is older.
    pub interval: Duration,
    /// The most messages that one transaction removes.
    pub batch_max: u32,
}

/// The purge of one process; any number of processes may run it.
pub struct PurgeOutbox {
    outbox: Arc<dyn Outbox>,
    settings: PurgeSettings,
}

impl PurgeOutbox {
    /// Removes from `outbox`.
    pub fn new(outbox: Arc<dyn Outbox>, settings: PurgeSettings) -> Self {
        Self { outbox, settings }
    }

    /// Runs until `stop`. The first time is after one interval, so that the relays of this process have shown
    /// by then which destinations there are.
    pub async fn run(&self, stop: &CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(self.settings.interval) => {}
            }
            match self.purge(stop).await {
                Ok(0) => {}
                Ok(count) => info!(count, "removed old messages from the outbox"),
                Err(error) => {
                    warn!(error = describe(&error), "old messages were not removed; trying again later");
                }
            }
        }
    }

    /// One transaction after the other, until there is nothing more to remove.
    async fn purge(&self, stop: &CancellationToken) -> Result<u64, StoreError> {
        let mut removed = 0;
        while !stop.is_cancelled() {
            let count = self.outbox.purge(self.settings.retention, self.settings.batch_max).await?;
            removed += count;
            if count < u64::from(self.settings.batch_max) {
                break;
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::outbox::MockOutbox;

    const SETTINGS: PurgeSettings = PurgeSettings {
        retention: Duration::from_hours(24),
        interval: Duration::from_mins(10),
        batch_max: 100,
    };

    #[tokio::test(start_paused = true)]
    async fn it_goes_on_as_long_as_transactions_are_full_and_then_waits() {
        let mut outbox = MockOutbox::new();
        let mut counts = [100, 100, 7, 0].into_iter();
        let stop = CancellationToken::new();
        let done = stop.clone();
        outbox.expect_purge().times(4).returning(move |age, limit| {
            assert_eq!((age, limit), (SETTINGS.retention, 100));
            let count = counts.next().unwrap();
            if count == 0 {
                done.cancel();
            }
            Ok(count)
        });
        let started = tokio::time::Instant::now();
        PurgeOutbox::new(Arc::new(outbox), SETTINGS).run(&stop).await;
        assert_eq!(started.elapsed(), SETTINGS.interval * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_away_is_asked_again_later() {
        let mut outbox = MockOutbox::new();
        let stop = CancellationToken::new();
        let done = stop.clone();
        let mut answers = [Err(StoreError::Unavailable("gone".into())), Ok(3)].into_iter();
        outbox.expect_purge().times(2).returning(move |_, _| {
            let answer = answers.next().unwrap();
            if answer.is_ok() {
                done.cancel();
            }
            answer
        });
        PurgeOutbox::new(Arc::new(outbox), SETTINGS).run(&stop).await;
    }
}
