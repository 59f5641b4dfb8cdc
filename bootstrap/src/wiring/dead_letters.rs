//! What a worker does with dead letters: it archives them, and carries replay jobs out.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use application::ports::clock::Clock;
use application::ports::dead_letter_observer::DeadLetterObserver;
use application::use_cases::dead_letters::{
    ArchiveDeadLetters, ArchiveSettings, RunReplays, RunReplaysSettings,
};
use domain::ConsumerName;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use adapters::clock::SystemClock;
use adapters::outbound::telemetry::{
    LatestLetterCounts, OpenTelemetryDeadLetterObserver, register_letter_counts,
};

use super::broker::{Broker, Publisher};
use super::{process_name, sources};
use crate::config::{Config, ms};
use crate::telemetry::Telemetry;
use crate::wiring::Store;

/// The archive and the replays, before they run.
#[derive(Default)]
pub struct DeadLetterWork {
    archive: Option<ArchiveDeadLetters>,
    replays: Option<(RunReplays, Publisher)>,
}

impl DeadLetterWork {
    /// What is switched on. RabbitMQ is connected to in the background.
    ///
    /// # Errors
    /// A setting cannot be used.
    pub fn new(
        config: &Config,
        broker: &Broker,
        store: &Store,
        telemetry: &Telemetry,
    ) -> anyhow::Result<Self> {
        let settings = &config.dead_letters;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let observer: Arc<dyn DeadLetterObserver> =
            Arc::new(OpenTelemetryDeadLetterObserver::new(&telemetry.meter()));
        let archive = if settings.archive {
            Some(ArchiveDeadLetters::new(
                broker.dead_letter_queue(config),
                store.dead_letters(),
                sources(config)?,
                clock.clone(),
                observer.clone(),
                ArchiveSettings {
                    consumer: ConsumerName::parse(&config.worker.consumer)?,
                    backoff_max: ms(config.worker.backoff_max_ms),
                    hold_max: ms(config.worker.hold_max_ms),
                },
            ))
        } else {
            None
        };
        let replays = settings.replay.then(|| {
            let publisher = broker.replayer(config);
            let runner = RunReplays::new(
                store.replay_jobs(),
                publisher.port(),
                clock,
                observer,
                RunReplaysSettings {
                    runner: process_name().to_owned(),
                    lease: Duration::from_secs(settings.lease_s),
                    poll: ms(settings.poll_ms),
                    backoff_max: ms(config.worker.backoff_max_ms),
                },
            );
            (runner, publisher)
        });
        Ok(Self { archive, replays })
    }

    /// Works until `stop`, and until what is in hand then is brought to its end.
    ///
    /// # Errors
    /// A part of it ended although nobody asked it to.
    pub async fn run(self, stop: &CancellationToken) -> anyhow::Result<()> {
        let mut running = JoinSet::new();
        if let Some(archive) = self.archive {
            let stop = stop.clone();
            running.spawn(async move { archive.run(&stop).await });
        }
        if let Some((replays, publisher)) = self.replays {
            let stop = stop.clone();
            running.spawn(async move {
                replays.run(&stop).await;
                publisher.close().await;
            });
        }
        while let Some(ended) = running.join_next().await {
            ended.context("the work on dead letters ended unexpectedly")?;
            anyhow::ensure!(
                stop.is_cancelled(),
                "the work on dead letters ended although nobody asked it to"
            );
        }
        Ok(())
    }
}

/// Registers the gauge of the letters in the store; whoever counts them sets what is given.
pub fn letter_gauges(telemetry: &Telemetry) -> LatestLetterCounts {
    register_letter_counts(&telemetry.meter())
}
