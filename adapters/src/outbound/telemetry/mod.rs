//! What is counted and timed, as OpenTelemetry instruments.

mod alerts;
mod buckets;
mod observer;
mod outbox;
mod queue_depths;

pub use alerts::OpenTelemetryAlertObserver;
pub use buckets::{batch_size_buckets, seconds_buckets};
pub use observer::OpenTelemetryObserver;
pub use outbox::{LatestOutboxDepths, OpenTelemetryRelayObserver, register_outbox_depths};
pub use queue_depths::register_queue_depths;
