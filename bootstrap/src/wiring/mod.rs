//! Which adapter stands behind which port: chosen by the scheme of a URL or the name of a provider, here and
//! nowhere else.

mod broker;
mod cache;
mod ops;
mod outbox;
mod quarantine;
mod retention;
mod sources;
mod store;

use std::sync::Arc;

use application::ports::observer::Observer;
use application::use_cases::Audit;

use adapters::outbound::telemetry::OpenTelemetryObserver;

use crate::config::Config;
use crate::telemetry::Telemetry;

pub use broker::{Broker, Publisher, Queue, embedded_queue_exists, inspector};
pub use cache::{Cache, cache};
pub use ops::{OpsParts, ops_access, ops_address, ops_is_closed, ops_listener, ops_services, store_services};
pub use outbox::{Relays, endpoint_problems, outbox_gauges, relay_observer, watch_outbox};
pub use quarantine::quarantine;
pub use retention::purge_events;
pub use sources::{provider_names, source_mode, source_problems, source_provider, sources};
pub use store::{Store, store};

/// Every TLS connection of the process uses this one provider.
pub fn install_crypto_provider() {
    // An error says that one is installed already, which is what is wanted.
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
}

/// The metrics of this process.
pub fn observer(telemetry: &Telemetry) -> Arc<dyn Observer> {
    Arc::new(OpenTelemetryObserver::new(&telemetry.meter()))
}

/// The audit over store and broker.
///
/// # Errors
/// A URL cannot be used.
pub fn audit(config: &Config) -> anyhow::Result<Audit> {
    Ok(Audit::new(store(config)?.audit(), inspector(config)?))
}
