//! The operators' listener: what it shows, and to whom.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use application::ports::event_queue::QueueInspector;
use application::ports::provider::Sources;
use application::ports::readiness::ReadinessCheck;
use application::use_cases::ReviewQuarantine;
use application::use_cases::dead_letters::{DiscardDeadLetters, ReplayDeadLetters};
use domain::ConsumerName;

use adapters::clock::SystemClock;
use adapters::inbound::ops::access::{Access, AccessSettings, AccessSetupError};
use adapters::inbound::ops::masking::Masking;
use adapters::inbound::ops::services::{OpsServices, StoreServices};

use super::{Store, sources};
use crate::config::Config;
use crate::telemetry::Telemetry;

/// What the parts of this process have for operators.
#[derive(Default)]
pub struct OpsParts {
    /// The worker's store.
    pub store: Option<StoreServices>,
    /// What waits for the worker.
    pub queue: Option<Arc<dyn QueueInspector>>,
    /// What the receiver has refused.
    pub quarantine: Option<Arc<ReviewQuarantine>>,
    /// What they depend on.
    pub checks: Vec<Arc<dyn ReadinessCheck>>,
}

/// The bound operators' listener.
///
/// # Errors
/// The address cannot be bound.
pub fn ops_listener(config: &Config) -> anyhow::Result<TcpListener> {
    TcpListener::bind(&config.ops.bind)
        .with_context(|| format!("ops.bind: cannot listen on {}", config.ops.bind))
}

/// Who is let in on a listener of that address.
///
/// # Errors
/// The file of tokens is of no use.
pub fn ops_access(config: &Config, address: IpAddr) -> Result<Access, AccessSetupError> {
    let ops = &config.ops;
    let hosts = ops.hosts.iter().map(|host| host.trim().to_owned()).filter(|host| !host.is_empty());
    let tokens_file = ops.tokens_file.trim();
    let settings = AccessSettings {
        address,
        tokens_file: (!tokens_file.is_empty()).then(|| PathBuf::from(tokens_file)),
        hosts: hosts.collect(),
        cookie_secure: ops.cookie_secure,
    };
    Access::new(&settings, Arc::new(SystemClock))
}

/// Whether nobody is let in, since others reach the listener and there are no tokens.
pub fn ops_is_closed(config: &Config, address: IpAddr) -> bool {
    config.ops.tokens_file.trim().is_empty() && !address.is_loopback()
}

/// What operators do with that store.
///
/// # Errors
/// A source cannot be set up.
pub fn store_services(config: &Config, store: &Store) -> anyhow::Result<StoreServices> {
    let (letters, jobs): (_, _) = (store.dead_letters(), store.replay_jobs());
    let sources: Sources = sources(config)?;
    Ok(StoreServices {
        replay: ReplayDeadLetters::new(letters.clone(), jobs.clone(), sources),
        discard: DiscardDeadLetters::new(letters.clone()),
        letters,
        jobs,
        actions: store.operator_actions(),
        payments: store.payments(),
        events: store.events(),
        audit: store.audit(),
        outbox: store.outbox(),
    })
}

/// What this process shows to operators.
///
/// # Errors
/// A setting cannot be used.
pub fn ops_services(config: &Config, telemetry: &Telemetry, parts: OpsParts) -> anyhow::Result<OpsServices> {
    let OpsParts { store, queue, quarantine, checks } = parts;
    Ok(OpsServices {
        consumer: ConsumerName::parse(&config.worker.consumer)?,
        sources: sources(config)?.names().into_iter().cloned().collect(),
        store,
        quarantine,
        queue,
        checks,
        metrics: telemetry.metrics_page(),
        clock: Arc::new(SystemClock),
        masking: Masking::new(&config.ops.masked_fields),
    })
}

/// The address that the listener would have, for a look before the start.
///
/// # Errors
/// It is none.
pub fn ops_address(config: &Config) -> anyhow::Result<SocketAddr> {
    config.ops.bind.parse().context("ops.bind")
}
