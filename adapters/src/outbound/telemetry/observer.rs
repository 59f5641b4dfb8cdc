//! The observer port over OpenTelemetry.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use application::ports::observer::Observer;
use application::{DeadLetterReason, Disposition, TraceContext};
use domain::SourceName;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::buckets::{batch_size_buckets, seconds_buckets};
use crate::trace::span_context;

/// How many traces a batch's span is linked to at most: what the SDK keeps of a span's links.
const LINKS_MAX: usize = 128;

/// The labels of a source's secrets by their place; those further back share [`FURTHER_SECRETS`]. A source
/// has one, or two while it is being replaced: more labels would say nothing.
const SECRETS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];
const FURTHER_SECRETS: &str = "more";

/// Counts and times by OpenTelemetry instruments. Counters are named without `_total`, which the Prometheus
/// exporter appends.
pub struct OpenTelemetryObserver {
    requests: Counter<u64>,
    events_accepted: Counter<u64>,
    signatures: Counter<u64>,
    signature_refusals: Counter<u64>,
    events_processed: Counter<u64>,
    duplicates: Counter<u64>,
    retries: Counter<u64>,
    dead_letters: Counter<u64>,
    acks_lost: Counter<u64>,
    subscriptions_lost: Counter<u64>,
    processing_paused: Gauge<u64>,
    accept_seconds: Histogram<f64>,
    age_at_commit_seconds: Histogram<f64>,
    batch_size: Histogram<u64>,
    batch_seconds: Histogram<f64>,
    /// The label of each source, made once: sources are configured, so there are few.
    source_labels: RwLock<HashMap<SourceName, KeyValue>>,
}

impl OpenTelemetryObserver {
    /// Makes the instruments on `meter`.
    pub fn new(meter: &Meter) -> Self {
        let counter =
            |name: &'static str, about: &'static str| meter.u64_counter(name).with_description(about).build();
        let seconds = |name: &'static str, about: &'static str| {
            let histogram = meter.f64_histogram(name).with_description(about);
            histogram.with_boundaries(seconds_buckets()).build()
        };
        let observer = Self {
            requests: counter("payonce_requests", "Webhook requests answered, by source and outcome"),
            events_accepted: counter("payonce_events_accepted", "Events accepted and durable, by source"),
            signatures: counter(
                "payonce_signatures",
                "Signatures that hold, by source and place of the secret",
            ),
            signature_refusals: counter(
                "payonce_signature_refusals",
                "Signatures that do not hold, by source and reason",
            ),
            events_processed: counter("payonce_events_processed", "Events judged, by source and outcome"),
            duplicates: counter("payonce_duplicates", "Duplicates, by what told that they are"),
            retries: counter("payonce_retries", "Events sent to the retry queue, by class"),
            dead_letters: counter("payonce_dead_letters", "Events sent to the dead letters, by reason"),
            acks_lost: counter("payonce_acks_lost", "Acknowledgements that went nowhere"),
            subscriptions_lost: counter(
                "payonce_subscriptions_lost",
                "Subscriptions that ended and were rebuilt",
            ),
            processing_paused: meter
                .u64_gauge("payonce_processing_paused")
                .with_description("1 while processing waits for a dependency")
                .build(),
            accept_seconds: seconds("payonce_accept_seconds", "Time from request to answer"),
            age_at_commit_seconds: seconds(
                "payonce_age_at_commit_seconds",
                "Time from an event's arrival to its commit",
            ),
            batch_size: meter
                .u64_histogram("payonce_batch_size")
                .with_description("Events in a batch")
                .with_boundaries(batch_size_buckets())
                .build(),
            batch_seconds: seconds("payonce_batch_seconds", "Time to process a batch"),
            source_labels: RwLock::default(),
        };
        observer.start_from_zero();
        observer
    }

    /// A counter that is missing until its first loss cannot be alerted on.
    fn start_from_zero(&self) {
        self.acks_lost.add(0, &[]);
        self.subscriptions_lost.add(0, &[]);
        self.processing_paused.record(0, &[]);
    }

    fn source_label(&self, source: &SourceName) -> KeyValue {
        let known = self.source_labels.read().unwrap_or_else(PoisonError::into_inner).get(source).cloned();
        known.unwrap_or_else(|| {
            let label = KeyValue::new("source", std::sync::Arc::<str>::from(source.as_str()));
            self.source_labels
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(source.clone(), label.clone());
            label
        })
    }
}

const fn outcome(disposition: &Disposition) -> &'static str {
    match disposition {
        Disposition::Applied => "applied",
        Disposition::Duplicate(_) => "duplicate",
        Disposition::Recorded(_) => "recorded",
        Disposition::Retry(..) => "retry",
        Disposition::DeadLetter(_) => "dead_letter",
    }
}

fn count(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

impl Observer for OpenTelemetryObserver {
    fn request_answered(&self, source: &SourceName, outcome: &'static str, took: Duration) {
        let labels = [self.source_label(source), KeyValue::new("outcome", outcome)];
        self.requests.add(1, &labels);
        self.accept_seconds.record(took.as_secs_f64(), &labels[..1]);
    }

    fn events_accepted(&self, source: &SourceName, events: usize) {
        self.events_accepted.add(count(events), &[self.source_label(source)]);
    }

    fn signature_matched(&self, source: &SourceName, slot: usize) {
        let secret = SECRETS.get(slot).copied().unwrap_or(FURTHER_SECRETS);
        self.signatures.add(1, &[self.source_label(source), KeyValue::new("secret", secret)]);
    }

    fn signature_refused(&self, source: &SourceName, reason: &'static str) {
        self.signature_refusals.add(1, &[self.source_label(source), KeyValue::new("reason", reason)]);
    }

    fn batch_started(&self, producers: &[TraceContext]) {
        let span = Span::current();
        if span.is_disabled() {
            return;
        }
        for producer in producers.iter().filter_map(span_context).take(LINKS_MAX) {
            span.add_link(producer);
        }
    }

    fn event_processed(&self, source: &SourceName, disposition: &Disposition, age: Duration) {
        let labels = [self.source_label(source), KeyValue::new("outcome", outcome(disposition))];
        self.events_processed.add(1, &labels);
        match disposition {
            Disposition::Applied | Disposition::Recorded(_) => {
                self.age_at_commit_seconds.record(age.as_secs_f64(), &labels[..1]);
            }
            Disposition::Duplicate(layer) => {
                self.duplicates.add(1, &[KeyValue::new("layer", layer.as_str())]);
            }
            Disposition::Retry(..) | Disposition::DeadLetter(_) => {}
        }
    }

    fn batch_processed(&self, size: usize, took: Duration) {
        self.batch_size.record(count(size), &[]);
        self.batch_seconds.record(took.as_secs_f64(), &[]);
    }

    fn event_retried(&self, class: &str) {
        self.retries.add(1, &[KeyValue::new("class", class.to_owned())]);
    }

    fn event_dead_lettered(&self, reason: &DeadLetterReason) {
        self.dead_letters.add(1, &[KeyValue::new("reason", reason.label())]);
    }

    fn acks_lost(&self, lost: usize) {
        self.acks_lost.add(count(lost), &[]);
    }

    fn subscription_lost(&self) {
        self.subscriptions_lost.add(1, &[]);
    }

    fn paused(&self, paused: bool) {
        self.processing_paused.record(u64::from(paused), &[]);
    }
}

#[cfg(test)]
mod tests;
