//! Which adapter stands behind which port: chosen by the scheme of a URL, here and nowhere else.

mod broker;
mod cache;
mod store;

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use application::ports::observer::Observer;
use application::ports::provider::{Provider, Sources};
use application::use_cases::Audit;
use domain::SourceName;

use adapters::outbound::telemetry::OpenTelemetryObserver;
use adapters::providers::native::NativeProvider;

use crate::config::{Config, SourceConfig};
use crate::telemetry::Telemetry;

pub use broker::{Broker, Publisher, Queue, embedded_queue_exists, inspector};
pub use cache::{Cache, cache};
pub use store::{Store, store};

/// Every TLS connection of the process uses this one provider.
pub fn install_crypto_provider() {
    // An error says that one is installed already, which is what is wanted.
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
}

/// The configured sources that are switched on.
///
/// # Errors
/// A source's secret is not usable.
pub fn sources(config: &Config) -> anyhow::Result<Sources> {
    let mut providers: HashMap<SourceName, Arc<dyn Provider>> = HashMap::new();
    for (name, source) in config.sources.iter().filter(|(_, source)| source.enabled) {
        let provider = provider(source).with_context(|| format!("sources.{name}"))?;
        providers.insert(SourceName::parse(name)?, provider);
    }
    Ok(Sources::new(providers))
}

fn provider(source: &SourceConfig) -> anyhow::Result<Arc<dyn Provider>> {
    match source.provider.as_str() {
        "native" if source.secrets.is_empty() => Ok(Arc::new(NativeProvider::unsigned())),
        "native" => {
            let tolerance = Duration::from_secs(source.tolerance_s);
            Ok(Arc::new(NativeProvider::signed(source.secrets.clone(), tolerance)?))
        }
        other => anyhow::bail!("there is no provider {other:?}"),
    }
}

/// The metrics of this process.
pub fn observer(telemetry: &Telemetry) -> Arc<dyn Observer> {
    Arc::new(OpenTelemetryObserver::new(&telemetry.meter()))
}

/// The bound operators' listener.
///
/// # Errors
/// The address cannot be bound.
pub fn ops_listener(config: &Config) -> anyhow::Result<TcpListener> {
    TcpListener::bind(&config.ops.bind)
        .with_context(|| format!("ops.bind: cannot listen on {}", config.ops.bind))
}

/// The audit over store and broker.
///
/// # Errors
/// A URL cannot be used.
pub fn audit(config: &Config) -> anyhow::Result<Audit> {
    Ok(Audit::new(store(config)?.audit(), inspector(config)?))
}
