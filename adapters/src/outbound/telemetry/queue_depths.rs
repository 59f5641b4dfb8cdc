//! How many messages wait, as a gauge.

use std::sync::{Arc, Mutex, PoisonError};

use application::ports::event_queue::QueueDepths;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, ObservableGauge};

/// Registers the gauge `payonce_queue_depth{queue}` over the last snapshot that somebody took. While there is
/// none (`None`), or none any more, nothing is reported: an old number would look like a quiet queue.
pub fn register_queue_depths(meter: &Meter, latest: Arc<Mutex<Option<QueueDepths>>>) -> ObservableGauge<u64> {
    let labels = ["main", "retry", "dead_letters"].map(|queue| [KeyValue::new("queue", queue)]);
    meter
        .u64_observable_gauge("payonce_queue_depth")
        .with_description("Messages that wait, by queue")
        .with_callback(move |gauge| {
            let snapshot = *latest.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(depths) = snapshot {
                for (depth, label) in [depths.main, depths.retry, depths.dead_letters].iter().zip(&labels) {
                    gauge.observe(*depth, label);
                }
            }
        })
        .build()
}
