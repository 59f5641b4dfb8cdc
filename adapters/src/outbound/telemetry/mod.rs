//! What is counted and timed, as OpenTelemetry instruments.

mod alerts;
mod buckets;
mod dead_letters;
mod observer;
mod outbox;
mod queue_depths;
#[cfg(test)]
mod scrape;

pub use alerts::OpenTelemetryAlertObserver;
pub use buckets::{batch_size_buckets, seconds_buckets};
pub use dead_letters::{LatestLetterCounts, OpenTelemetryDeadLetterObserver, register_letter_counts};
pub use observer::OpenTelemetryObserver;
pub use outbox::{LatestOutboxDepths, OpenTelemetryRelayObserver, register_outbox_depths};
pub use queue_depths::register_queue_depths;
