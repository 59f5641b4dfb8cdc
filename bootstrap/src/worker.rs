//! The worker: applies events, relays what they have changed, keeps what was given up, and tells people of it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::Context;
use application::dead_letter::LetterFilter;
use application::error_chain::describe;
use application::ports::event_queue::{EventQueue, QueueDepths, QueueInspector};
use application::ports::observer::Observer;
use application::ports::readiness::ReadinessCheck;
use application::ports::seen_events::SeenEvents;
use application::ports::unit_of_work::StoreError;
use application::use_cases::{ConsumeEvents, ConsumeSettings, ProcessEvents};
use async_trait::async_trait;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use adapters::clock::SystemClock;
use adapters::inbound::ops::services::StoreServices;
use adapters::outbound::telemetry::{LatestLetterCounts, LatestOutboxDepths, register_queue_depths};

use crate::config::{Config, ms};
use crate::telemetry::Telemetry;
use crate::wiring::{self, Alerts, Broker, Cache, DeadLetterWork, Queue, Relays, Store};

/// Counting many letters takes a moment, so they are counted at most so often.
const LETTER_COUNT_INTERVAL_MIN: Duration = Duration::from_secs(15);

/// The queue depths that were read last, for the gauge; `None` while they cannot be read.
type LatestDepths = Arc<Mutex<Option<QueueDepths>>>;

/// A worker that has not begun to consume.
pub struct Worker {
    config: Config,
    store: Store,
    queue: Queue,
    inspector: Arc<dyn QueueInspector>,
    depths: LatestDepths,
    outbox_depths: LatestOutboxDepths,
    letter_counts: LatestLetterCounts,
    cache_readiness: Arc<LateCheck>,
    observer: Arc<dyn Observer>,
    relays: Relays,
    dead_letters: DeadLetterWork,
    alerts: Alerts,
}

impl Worker {
    /// Sets everything up without connecting: store, broker and cache may be away.
    ///
    /// # Errors
    /// A setting cannot be used.
    pub fn build(
        config: &Config,
        broker: &Broker,
        observer: Arc<dyn Observer>,
        telemetry: &Telemetry,
    ) -> anyhow::Result<Self> {
        let depths = LatestDepths::default();
        // The instrument lives in its meter; the handle is not needed.
        let _gauge = register_queue_depths(&telemetry.meter(), depths.clone());
        let store = wiring::store(config)?;
        let relays = Relays::new(config, &store.outbox(), &wiring::relay_observer(telemetry))?;
        let dead_letters = DeadLetterWork::new(config, broker, &store, telemetry)?;
        let alerts = Alerts::new(config, &store, telemetry)?;
        Ok(Self {
            config: config.clone(),
            store,
            queue: broker.queue(config)?,
            inspector: broker.inspector(config),
            depths,
            outbox_depths: wiring::outbox_gauges(telemetry),
            letter_counts: wiring::letter_gauges(telemetry),
            cache_readiness: Arc::default(),
            observer,
            relays,
            dead_letters,
            alerts,
        })
    }

    /// What operators do with its store.
    ///
    /// # Errors
    /// A source cannot be set up.
    pub fn store_services(&self) -> anyhow::Result<StoreServices> {
        wiring::store_services(&self.config, &self.store)
    }

    /// Counts what waits for it.
    pub fn inspector(&self) -> Arc<dyn QueueInspector> {
        self.inspector.clone()
    }

    /// The parts that its readiness depends on.
    pub fn readiness(&self) -> Vec<Arc<dyn ReadinessCheck>> {
        vec![self.store.readiness(), self.queue.readiness(), self.cache_readiness.clone()]
    }

    /// Waits for the store, then consumes and relays until `stop`, then finishes the batches in hand.
    ///
    /// # Errors
    /// A consumer or a relay ended although nobody asked it to, or did not finish within the grace time.
    pub async fn run(mut self, stop: &CancellationToken) -> anyhow::Result<()> {
        let Some(namespace) = self.prepare_store(stop).await else {
            return Ok(());
        };
        let relays = std::mem::take(&mut self.relays);
        let dead_letters = std::mem::take(&mut self.dead_letters);
        let alerts = std::mem::take(&mut self.alerts);
        let cache = wiring::cache(&self.config, &namespace)?;
        self.cache_readiness.set(&cache);
        let watching = self.watch(stop);
        let purge = async {
            if let Some(purge) = wiring::purge_events(&self.config, &self.store) {
                purge.run(stop).await;
            }
            Ok(())
        };
        let consuming = self.consume(cache.port(), stop);
        let result =
            tokio::try_join!(consuming, relays.run(stop), dead_letters.run(stop), alerts.run(stop), purge);
        watching.iter().for_each(JoinHandle::abort);
        result.map(|_| ())
    }

    /// Counts what waits and what was given up, for the gauges.
    fn watch(&self, stop: &CancellationToken) -> [JoinHandle<()>; 3] {
        let interval = ms(self.config.worker.queue_depth_interval_ms);
        let (inspector, depths) = (self.inspector.clone(), self.depths.clone());
        let queues = wiring::watch(
            "the queues",
            interval,
            stop.clone(),
            move || {
                let inspector = inspector.clone();
                async move { inspector.depths().await }
            },
            move |found| *depths.lock().unwrap_or_else(PoisonError::into_inner) = found,
        );
        let (outbox, latest) = (self.store.outbox(), self.outbox_depths.clone());
        let outbox = wiring::watch(
            "the outbox",
            interval,
            stop.clone(),
            move || {
                let outbox = outbox.clone();
                async move { outbox.depths().await }
            },
            move |found| latest.set(found),
        );
        let (letters, latest) = (self.store.dead_letters(), self.letter_counts.clone());
        let letters = wiring::watch(
            "the dead letters",
            interval.max(LETTER_COUNT_INTERVAL_MIN),
            stop.clone(),
            move || {
                let letters = letters.clone();
                async move { letters.counts(&LetterFilter::default()).await }
            },
            move |found| latest.set(found),
        );
        [tokio::spawn(queues), tokio::spawn(outbox), tokio::spawn(letters)]
    }

    /// Migrates or checks the schema and reads the store's identity, as often as it takes. `None` on `stop`.
    async fn prepare_store(&self, stop: &CancellationToken) -> Option<String> {
        let wait = ms(self.config.worker.backoff_max_ms);
        loop {
            match self.try_prepare_store().await {
                Ok(namespace) => return Some(namespace),
                Err(error) => {
                    warn!(error = describe(&error), "the store is not ready; trying again");
                    tokio::select! {
                        () = stop.cancelled() => return None,
                        () = tokio::time::sleep(wait) => {}
                    }
                }
            }
        }
    }

    async fn try_prepare_store(&self) -> Result<String, StoreError> {
        if self.config.store.migrate_on_start {
            for migration in self.store.admin().migrate().await? {
                info!(migration, "applied a migration");
            }
        } else {
            let pending = self.store.admin().pending_migrations().await?;
            if !pending.is_empty() {
                let names = pending.join(", ");
                let hint =
                    format!("{} migrations are pending ({names}); run `payonce migrate`", pending.len());
                return Err(StoreError::Unavailable(hint.into()));
            }
        }
        self.store.admin().identity().await
    }

    async fn consume(&self, cache: Arc<dyn SeenEvents>, stop: &CancellationToken) -> anyhow::Result<()> {
        let worker = &self.config.worker;
        let process = ProcessEvents::new(wiring::sources(&self.config)?, self.store.unit_of_work(), cache);
        let settings = ConsumeSettings {
            retry: worker.retry_policy(),
            backoff_max: ms(worker.backoff_max_ms),
            hold_max: ms(worker.hold_max_ms),
        };
        let mut consumers = tokio::task::JoinSet::new();
        for _ in 0..worker.concurrency {
            let queue: Arc<dyn EventQueue> = self.queue.port();
            let consumer = ConsumeEvents::new(
                queue,
                process.clone(),
                Arc::new(SystemClock),
                self.observer.clone(),
                settings,
            );
            let stop = stop.clone();
            consumers.spawn(async move { consumer.run(&stop).await });
        }
        info!(consumers = worker.concurrency, "consuming");
        let mut grace = std::pin::pin!(async {
            stop.cancelled().await;
            tokio::time::sleep(ms(worker.shutdown_grace_ms)).await;
        });
        loop {
            tokio::select! {
                ended = consumers.join_next() => match ended {
                    None => return Ok(()),
                    Some(Err(error)) => return Err(error).context("a consumer ended unexpectedly"),
                    Some(Ok(())) if !stop.is_cancelled() => anyhow::bail!("a consumer ended although nobody asked it to"),
                    Some(Ok(())) => {}
                },
                () = &mut grace => anyhow::bail!(
                    "a batch was not finished within {} ms; its events will be delivered again",
                    worker.shutdown_grace_ms
                ),
            }
        }
    }
}

/// The readiness of the cache, which is set up only once the store's identity is known.
#[derive(Default)]
struct LateCheck(OnceLock<Arc<dyn ReadinessCheck>>);

impl LateCheck {
    fn set(&self, cache: &Cache) {
        self.0.get_or_init(|| cache.readiness());
    }
}

#[async_trait]
impl ReadinessCheck for LateCheck {
    fn component(&self) -> &'static str {
        "cache"
    }

    fn required(&self) -> bool {
        false
    }

    async fn check(&self) -> Result<(), String> {
        match self.0.get() {
            Some(check) => check.check().await,
            None => Err("waiting for the store".to_owned()),
        }
    }
}
