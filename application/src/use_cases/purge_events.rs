//! Removes events that were settled long enough ago.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::purging::{self, PurgeSettings};
use crate::ports::event_retention::EventRetention;

/// The purge of one process; any number of processes may run it.
pub struct PurgeEvents {
    events: Arc<dyn EventRetention>,
    settings: PurgeSettings,
}

impl PurgeEvents {
    /// Removes `events`.
    pub fn new(events: Arc<dyn EventRetention>, settings: PurgeSettings) -> Self {
        Self { events, settings }
    }

    /// Runs until `stop`.
    pub async fn run(&self, stop: &CancellationToken) {
        let remove = |age, limit| self.events.purge(age, limit);
        purging::run(self.settings, stop, "events", remove).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ports::event_retention::MockEventRetention;
    use crate::ports::unit_of_work::StoreError;

    const SETTINGS: PurgeSettings = PurgeSettings {
        retention: Duration::from_hours(24 * 30),
        interval: Duration::from_mins(10),
        batch_max: 100,
    };

    #[tokio::test(start_paused = true)]
    async fn it_leaves_the_store_to_others_for_as_long_as_it_had_it() {
        let mut events = MockEventRetention::new();
        let stop = CancellationToken::new();
        let done = stop.clone();
        let mut counts = [100, 100, 3].into_iter();
        events.expect_purge().times(3).returning(move |age, limit| {
            assert_eq!((age, limit), (SETTINGS.retention, 100));
            let count = counts.next().unwrap();
            if count == 3 {
                done.cancel();
            }
            Ok(count)
        });
        let slow = SlowEvents(events);
        let started = tokio::time::Instant::now();
        PurgeEvents::new(Arc::new(slow), SETTINGS).run(&stop).await;
        assert_eq!(started.elapsed(), SETTINGS.interval + TAKES * 3 + TAKES * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_away_is_asked_again_later() {
        let mut events = MockEventRetention::new();
        let stop = CancellationToken::new();
        let done = stop.clone();
        let mut answers = [Err(StoreError::Unavailable("gone".into())), Ok(0)].into_iter();
        events.expect_purge().times(2).returning(move |_, _| {
            let answer = answers.next().unwrap();
            if answer.is_ok() {
                done.cancel();
            }
            answer
        });
        let started = tokio::time::Instant::now();
        PurgeEvents::new(Arc::new(events), SETTINGS).run(&stop).await;
        assert_eq!(started.elapsed(), SETTINGS.interval * 2);
    }

    /// How long a transaction of [`SlowEvents`] takes.
    const TAKES: Duration = Duration::from_millis(20);

    struct SlowEvents(MockEventRetention);

    #[async_trait::async_trait]
    impl EventRetention for SlowEvents {
        async fn purge(&self, age: Duration, limit: u32) -> Result<u64, StoreError> {
            tokio::time::sleep(TAKES).await;
            self.0.purge(age, limit).await
        }
    }
}
