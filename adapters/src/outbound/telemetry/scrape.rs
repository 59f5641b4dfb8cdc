//! What a scrape would show, for tests.

use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};

/// The lines with values, after `with` has made and used its instruments.
pub(super) fn page(with: impl FnOnce(&Meter)) -> Vec<String> {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        .scope_info_enabled(false)
        .without_target_info()
        .build()
        .unwrap();
    let provider = SdkMeterProvider::builder().with_reader(exporter).build();
    with(&provider.meter("test"));
    let page = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
    page.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}
