//! Removes messages that every destination has had for long enough.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::purging::{self, PurgeSettings};
use crate::ports::outbox::Outbox;

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
        let remove = |age, limit| self.outbox.purge(age, limit);
        purging::run(self.settings, stop, "messages of the outbox", remove).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ports::outbox::MockOutbox;
    use crate::ports::unit_of_work::StoreError;

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
