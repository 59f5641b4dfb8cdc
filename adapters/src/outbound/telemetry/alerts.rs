//! What becomes of alerts.

use application::ports::alert_observer::{AlertObserver, AlertOutcome};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Meter};

/// Counts by an OpenTelemetry instrument.
pub struct OpenTelemetryAlertObserver {
    alerts: Counter<u64>,
}

impl OpenTelemetryAlertObserver {
    /// Makes the instrument on `meter`. All outcomes are there from the beginning, so that the first of each is an
    /// increase.
    pub fn new(meter: &Meter) -> Self {
        let alerts = meter
            .u64_counter("payonce_alerts")
            .with_description("Attempts to send an alert about a group of failures, by outcome")
            .build();
        for outcome in AlertOutcome::ALL {
            alerts.add(0, &[label(outcome)]);
        }
        Self { alerts }
    }
}

fn label(outcome: AlertOutcome) -> KeyValue {
    KeyValue::new("outcome", outcome.label())
}

impl AlertObserver for OpenTelemetryAlertObserver {
    fn alert(&self, outcome: AlertOutcome) {
        self.alerts.add(1, &[label(outcome)]);
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::metrics::MeterProvider;
    use opentelemetry_sdk::metrics::SdkMeterProvider;
    use prometheus::{Registry, TextEncoder};

    use super::*;

    #[test]
    fn attempts_are_counted_by_outcome_and_begin_at_zero() {
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .scope_info_enabled(false)
            .without_target_info()
            .build()
            .unwrap();
        let provider = SdkMeterProvider::builder().with_reader(exporter).build();
        let observer = OpenTelemetryAlertObserver::new(&provider.meter("test"));
        observer.alert(AlertOutcome::Sent);
        observer.alert(AlertOutcome::Sent);
        observer.alert(AlertOutcome::GivenUp);
        let page = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        let counts: Vec<&str> = page.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            counts,
            [
                r#"payonce_alerts_total{outcome="failed"} 0"#,
                r#"payonce_alerts_total{outcome="given_up"} 1"#,
                r#"payonce_alerts_total{outcome="sent"} 2"#,
            ]
        );
    }
}
