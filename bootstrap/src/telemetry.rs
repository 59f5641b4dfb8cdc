//! Logs, metrics and traces of a process.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use prometheus::{Registry, TextEncoder};
use tracing::Level;
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{Config, LogFormat};

/// How long one export to the collector may take, and the last one at the end of the process.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(3);
/// The variable that overrides `log.filter`, as everywhere in Rust.
const FILTER_VARIABLE: &str = "RUST_LOG";

/// Renders the metrics of this process in the Prometheus text format.
pub type MetricsPage = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// The telemetry of a process. [`Telemetry::shut_down`] sends what is left.
#[derive(Debug)]
pub struct Telemetry {
    registry: Registry,
    metrics: SdkMeterProvider,
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Logs to standard error, metrics in memory, traces to the collector if one is configured. Must be
    /// called outside of an async runtime, since the exporter's HTTP client is a blocking one; it exports on
    /// a thread of its own, so that a collector that is away slows nothing down.
    ///
    /// # Errors
    /// The log filter or the collector's address cannot be used.
    pub fn start(config: &Config, process: &'static str) -> anyhow::Result<Self> {
        let resource = Resource::builder()
            .with_service_name(format!("payonce-{process}"))
            .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .scope_info_enabled(false)
            .without_target_info()
            .build()?;
        let metrics =
            SdkMeterProvider::builder().with_reader(exporter).with_resource(resource.clone()).build();
        opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
        let traces = trace_provider(&config.telemetry.otlp_endpoint, resource)?;
        start_logs(config, process, traces.as_ref())?;
        Ok(Self { registry, metrics, traces })
    }

    /// Where the adapters' instruments come from.
    pub fn meter(&self) -> Meter {
        self.metrics.meter("payonce")
    }

    /// The page of `/metrics`.
    pub fn metrics_page(&self) -> MetricsPage {
        let registry = self.registry.clone();
        Arc::new(move || {
            TextEncoder::new().encode_to_string(&registry.gather()).map_err(|error| error.to_string())
        })
    }

    /// Sends what is left, within a few seconds. Must be called after the async runtime has ended.
    pub fn shut_down(self) {
        if let Some(traces) = self.traces
            && let Err(error) = traces.shutdown_with_timeout(EXPORT_TIMEOUT)
        {
            tracing::warn!(%error, "the last traces were not sent");
        }
        if let Err(error) = self.metrics.shutdown() {
            tracing::warn!(%error, "the metrics did not shut down cleanly");
        }
    }
}

fn trace_provider(endpoint: &str, resource: Resource) -> anyhow::Result<Option<SdkTracerProvider>> {
    if endpoint.is_empty() {
        return Ok(None);
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .with_timeout(EXPORT_TIMEOUT)
        .build()?;
    Ok(Some(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build()))
}

/// Whether a line may be written at all, whatever filter is set. Libraries write what goes over the wire at
/// their finer levels, and lapin writes the payload of a returned message even as a warning.
fn is_safe(target: &str, level: Level) -> bool {
    const OURS: [&str; 4] = ["payonce", "adapters", "application", "domain"];
    const PAYLOADS: &str = "lapin::returned_messages";
    let root = target.split("::").next().unwrap_or(target);
    (OURS.contains(&root) || level <= Level::INFO) && !target.starts_with(PAYLOADS)
}

fn start_logs(
    config: &Config,
    process: &'static str,
    traces: Option<&SdkTracerProvider>,
) -> anyhow::Result<()> {
    let filter = match std::env::var(FILTER_VARIABLE) {
        Ok(filter) if !filter.is_empty() => EnvFilter::try_new(filter)?,
        _ => EnvFilter::try_new(&config.log.filter)
            .map_err(|error| anyhow::anyhow!("log.filter is {:?}: {error}", config.log.filter))?,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match config.log.format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Human => {
            lines.with_target(false).with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).boxed()
        }
    };
    let spans = traces.map(|provider| {
        tracing_opentelemetry::layer().with_tracer(provider.tracer("payonce")).with_location(false)
    });
    tracing_subscriber::registry()
        .with(
            lines
                .with_filter(filter.and(filter_fn(|metadata| is_safe(metadata.target(), *metadata.level())))),
        )
        .with(spans.with_filter(tracing_subscriber::filter::LevelFilter::INFO))
        .try_init()?;
    tracing::debug!(process, "logging");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_never_write_what_goes_over_the_wire() {
        assert!(!is_safe("lapin::returned_messages", Level::WARN));
        assert!(!is_safe("lapin::channel", Level::TRACE));
        assert!(!is_safe("tokio_postgres::query", Level::DEBUG));
        assert!(is_safe("lapin::channel", Level::ERROR));
        assert!(is_safe("actix_server::server", Level::INFO));
        assert!(is_safe("adapters::inbound::http::webhook", Level::TRACE));
    }
}
