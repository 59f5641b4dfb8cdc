//! What relays do, and how far the destinations have come.

use std::sync::{Arc, Mutex, PoisonError};

use application::ports::outbox::DestinationDepth;
use application::ports::relay_observer::RelayObserver;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Counter, Gauge, Meter};

/// Counts by OpenTelemetry instruments, by destination.
pub struct OpenTelemetryRelayObserver {
    messages: Counter<u64>,
    leading: Gauge<u64>,
    away: Gauge<u64>,
}

impl OpenTelemetryRelayObserver {
    /// Makes the instruments on `meter`.
    pub fn new(meter: &Meter) -> Self {
        Self {
            messages: meter
                .u64_counter("payonce_outbox_messages")
                .with_description("Messages sent to a destination, by outcome")
                .build(),
            leading: meter
                .u64_gauge("payonce_outbox_leading")
                .with_description("1 while this process relays to the destination")
                .build(),
            away: meter
                .u64_gauge("payonce_outbox_destination_away")
                .with_description("1 while the destination takes nothing")
                .build(),
        }
    }

    fn count(&self, destination: &str, outcome: &'static str, count: usize) {
        let labels = [label(destination), KeyValue::new("outcome", outcome)];
        self.messages.add(u64::try_from(count).unwrap_or(u64::MAX), &labels);
    }
}

fn label(destination: &str) -> KeyValue {
    KeyValue::new("destination", destination.to_owned())
}

impl RelayObserver for OpenTelemetryRelayObserver {
    fn leading(&self, destination: &str, leading: bool) {
        self.leading.record(u64::from(leading), &[label(destination)]);
        if !leading {
            // Whoever relays now knows.
            self.away.record(0, &[label(destination)]);
        }
    }

    fn delivered(&self, destination: &str, count: usize) {
        self.count(destination, "delivered", count);
    }

    fn retried(&self, destination: &str, count: usize) {
        self.count(destination, "retried", count);
    }

    fn failed(&self, destination: &str, count: usize) {
        self.count(destination, "failed", count);
    }

    fn away(&self, destination: &str, away: bool) {
        self.away.record(u64::from(away), &[label(destination)]);
    }
}

/// What was measured last of the outbox; nothing while it cannot be measured, since an old number would look
/// like a quiet one.
#[derive(Clone, Default)]
pub struct LatestOutboxDepths(Arc<Mutex<Option<Vec<DestinationDepth>>>>);

impl LatestOutboxDepths {
    /// Takes the place of what was measured before.
    pub fn set(&self, depths: Option<Vec<DestinationDepth>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = depths;
    }

    fn observe<T>(&self, gauge: &dyn AsyncInstrument<T>, value: impl Fn(&DestinationDepth) -> T) {
        let depths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for depth in depths.iter().flatten() {
            gauge.observe(value(depth), &[label(&depth.destination)]);
        }
    }
}

/// Registers the gauges over the outbox, and gives the place for what is measured.
pub fn register_outbox_depths(meter: &Meter) -> LatestOutboxDepths {
    let latest = LatestOutboxDepths::default();
    let register = |name: &'static str, about: &'static str, value: fn(&DestinationDepth) -> u64| {
        let latest = latest.clone();
        // The instrument lives in its meter; the handle is not needed.
        let _gauge = meter
            .u64_observable_gauge(name)
            .with_description(about)
            .with_callback(move |gauge| latest.observe(gauge, value))
            .build();
    };
    register("payonce_outbox_behind", "Messages not handed to the destination yet, at most", |depth| {
        depth.behind
    });
    register(
        "payonce_outbox_waiting",
        "Messages that wait for another attempt, or behind one that does",
        |depth| depth.waiting,
    );
    register("payonce_outbox_failed", "Messages that were given up", |depth| depth.failed);
    let oldest = latest.clone();
    let _gauge = meter
        .f64_observable_gauge("payonce_outbox_oldest_seconds")
        .with_description("Age of the oldest message not handed to the destination yet")
        .with_callback(move |gauge| oldest.observe(gauge, |depth| depth.oldest_age.as_secs_f64()))
        .build();
    latest
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::scrape::page;
    use super::*;

    #[test]
    fn messages_are_counted_by_destination_and_outcome() {
        let lines = page(|meter| {
            let observer = OpenTelemetryRelayObserver::new(meter);
            observer.delivered("shop", 3);
            observer.delivered("shop", 1);
            observer.failed("shop", 1);
            observer.leading("shop", true);
            observer.away("shop", true);
        });
        for line in [
            r#"payonce_outbox_messages_total{destination="shop",outcome="delivered"} 4"#,
            r#"payonce_outbox_messages_total{destination="shop",outcome="failed"} 1"#,
            r#"payonce_outbox_leading{destination="shop"} 1"#,
            r#"payonce_outbox_destination_away{destination="shop"} 1"#,
        ] {
            assert!(lines.iter().any(|found| found == line), "{line} in {lines:#?}");
        }
    }

    #[test]
    fn whoever_relays_no_more_says_nothing_of_the_destination() {
        let lines = page(|meter| {
            let observer = OpenTelemetryRelayObserver::new(meter);
            observer.away("shop", true);
            observer.leading("shop", false);
        });
        assert!(
            lines.contains(&r#"payonce_outbox_destination_away{destination="shop"} 0"#.to_owned()),
            "{lines:#?}"
        );
    }

    #[test]
    fn how_far_destinations_have_come_is_told_only_as_long_as_it_is_measured() {
        let depth = DestinationDepth {
            destination: "shop".to_owned(),
            behind: 5,
            oldest_age: Duration::from_millis(1500),
            waiting: 2,
            failed: 1,
        };
        let lines = page(|meter| register_outbox_depths(meter).set(Some(vec![depth.clone()])));
        for line in [
            r#"payonce_outbox_behind{destination="shop"} 5"#,
            r#"payonce_outbox_waiting{destination="shop"} 2"#,
            r#"payonce_outbox_failed{destination="shop"} 1"#,
            r#"payonce_outbox_oldest_seconds{destination="shop"} 1.5"#,
        ] {
            assert!(lines.iter().any(|found| found == line), "{line} in {lines:#?}");
        }
        let lines = page(|meter| {
            let latest = register_outbox_depths(meter);
            latest.set(Some(vec![depth]));
            latest.set(None);
        });
        assert!(lines.is_empty(), "{lines:#?}");
    }
}
