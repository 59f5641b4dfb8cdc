//! The relays of a worker: one for each destination.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use application::error_chain::describe;
use application::ports::destination::Destination;
use application::ports::outbox::{Outbox, Start};
use application::ports::relay_observer::RelayObserver;
use application::use_cases::{KindFilter, PurgeOutbox, PurgeSettings, RelayOutbox, RelaySettings, Route};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use adapters::clock::SystemClock;
use adapters::outbound::amqp::AmqpAnnouncer;
use adapters::outbound::http::{HttpDestination, HttpSettings, HttpSetupError};
use adapters::outbound::telemetry::{LatestOutboxDepths, OpenTelemetryRelayObserver, register_outbox_depths};

use super::broker::amqp_settings;
use crate::config::{Config, DestinationConfig, DestinationKind, DestinationStart, ms};
use crate::telemetry::Telemetry;

/// How often it is looked for messages that are old enough to be removed.
const PURGE_INTERVAL: Duration = Duration::from_mins(10);
/// The most messages that one transaction removes.
const PURGE_BATCH_MAX: u32 = 1000;

/// The relays, and the purge beside them, before they run.
#[derive(Default)]
pub struct Relays {
    relays: Vec<RelayOutbox>,
    purge: Option<PurgeOutbox>,
}

impl Relays {
    /// One for each destination that is configured, none where relaying is switched off. Does not connect.
    ///
    /// # Errors
    /// A destination's setting cannot be used.
    pub fn new(
        config: &Config,
        outbox: &Arc<dyn Outbox>,
        observer: &Arc<dyn RelayObserver>,
    ) -> anyhow::Result<Self> {
        let settings = &config.outbox;
        if !settings.relay {
            return Ok(Self::default());
        }
        let owner = owner();
        let mut relays = Vec::new();
        for (name, destination) in config.active_destinations() {
            let section = || format!("destinations.{name}");
            relays.push(RelayOutbox::new(
                outbox.clone(),
                endpoint(config, destination).with_context(section)?,
                observer.clone(),
                route(name, destination).with_context(section)?,
                owner.clone(),
                RelaySettings {
                    batch_max: settings.batch_max,
                    lease: Duration::from_secs(settings.lease_s),
                    poll: ms(settings.poll_ms),
                    backoff_max: ms(settings.backoff_max_ms),
                },
            ));
        }
        let purge = PurgeSettings {
            retention: Duration::from_secs(settings.retention_s),
            interval: PURGE_INTERVAL,
            batch_max: PURGE_BATCH_MAX,
        };
        let purge = (settings.retention_s > 0).then(|| PurgeOutbox::new(outbox.clone(), purge));
        Ok(Self { relays, purge })
    }

    /// Runs them until `stop`, and until what they have in hand then is brought to its end.
    ///
    /// # Errors
    /// One of them ended although nobody asked it to.
    pub async fn run(self, stop: &CancellationToken) -> anyhow::Result<()> {
        let mut running = JoinSet::new();
        for relay in self.relays {
            let stop = stop.clone();
            running.spawn(async move { relay.run(&stop).await });
        }
        if let Some(purge) = self.purge {
            let stop = stop.clone();
            running.spawn(async move { purge.run(&stop).await });
        }
        while let Some(ended) = running.join_next().await {
            ended.context("a relay ended unexpectedly")?;
            anyhow::ensure!(stop.is_cancelled(), "a relay ended although nobody asked it to");
        }
        Ok(())
    }
}

/// What is wrong with an endpoint's settings.
pub fn endpoint_problems(destination: &DestinationConfig) -> Vec<HttpSetupError> {
    http_settings(destination).problems()
}

/// The metrics of this process's relays.
pub fn relay_observer(telemetry: &Telemetry) -> Arc<dyn RelayObserver> {
    Arc::new(OpenTelemetryRelayObserver::new(&telemetry.meter()))
}

/// Measures how far the destinations have come, again and again until `stop`.
pub async fn watch_outbox(
    outbox: Arc<dyn Outbox>,
    latest: LatestOutboxDepths,
    interval: Duration,
    stop: CancellationToken,
) {
    while !stop.is_cancelled() {
        let depths = outbox.depths().await;
        if let Err(error) = &depths {
            tracing::debug!(error = describe(error), "the outbox cannot be measured");
        }
        latest.set(depths.ok());
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(interval) => {}
        }
    }
}

fn endpoint(config: &Config, destination: &DestinationConfig) -> anyhow::Result<Arc<dyn Destination>> {
    match destination.kind().context("url")? {
        DestinationKind::Exchange => {
            let confirm_timeout = ms(config.broker.confirm_timeout_ms);
            Ok(Arc::new(AmqpAnnouncer::new(amqp_settings(config, "relay"), confirm_timeout)))
        }
        DestinationKind::Http => {
            Ok(Arc::new(HttpDestination::new(&http_settings(destination), Arc::new(SystemClock))?))
        }
    }
}

fn http_settings(destination: &DestinationConfig) -> HttpSettings {
    HttpSettings {
        url: destination.url.clone(),
        secrets: destination.secrets.clone(),
        timeout: ms(destination.timeout_ms),
        retry_after_max: Duration::from_secs(destination.retry_after_max_s),
        concurrency: usize::try_from(destination.concurrency).unwrap_or(usize::MAX),
    }
}

fn route(name: &str, destination: &DestinationConfig) -> anyhow::Result<Route> {
    Ok(Route {
        name: name.to_owned(),
        kinds: KindFilter::parse(&destination.kinds)?,
        start: match destination.start {
            DestinationStart::Oldest => Start::Oldest,
            DestinationStart::Newest => Start::Newest,
        },
        attempts_max: destination.attempts_max,
        max_age: Duration::from_secs(destination.max_age_s),
        retry_delay: ms(destination.retry_delay_ms),
    })
}

/// A name that no other process has: for people host and process, and a number that is random in each process.
pub(super) fn owner() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "localhost".to_owned());
    let random = RandomState::new().build_hasher().finish();
    format!("{host}/{}/{random:016x}", std::process::id())
}

/// Registers the gauges of the outbox; whoever measures it sets what is given.
pub fn outbox_gauges(telemetry: &Telemetry) -> LatestOutboxDepths {
    register_outbox_depths(&telemetry.meter())
}
