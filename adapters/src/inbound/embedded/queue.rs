//! Opens subscriptions to the main queue.

use std::sync::Arc;
use std::time::Duration;

use application::ports::BoxError;
use application::ports::event_queue::{EventQueue, QueueError, Subscription};
use application::ports::readiness::ReadinessCheck;
use async_trait::async_trait;

use super::subscription::EmbeddedSubscription;
use crate::outbound::embedded::EmbeddedBroker;

/// How a subscription takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsumeSettings {
    /// How many deliveries may be handed out and not settled. At least twice the batch keeps it busy.
    pub prefetch: u16,
    /// The most deliveries in a batch.
    pub batch_max: usize,
    /// How long a batch waits for more after its first delivery.
    pub linger: Duration,
}

impl Default for ConsumeSettings {
    fn default() -> Self {
        Self { prefetch: 1024, batch_max: 256, linger: Duration::from_millis(5) }
    }
}

/// The main queue.
pub struct EmbeddedQueue {
    broker: Arc<EmbeddedBroker>,
    consume: ConsumeSettings,
}

impl EmbeddedBroker {
    /// Consumes from the main queue.
    pub fn queue(self: &Arc<Self>, consume: ConsumeSettings) -> Arc<EmbeddedQueue> {
        Arc::new(EmbeddedQueue { broker: Arc::clone(self), consume })
    }
}

pub(super) fn failed(doing: &str, source: impl Into<BoxError>) -> QueueError {
    QueueError { doing: doing.to_owned(), source: source.into() }
}

#[async_trait]
impl EventQueue for EmbeddedQueue {
    async fn subscribe(&self) -> Result<Box<dyn Subscription>, QueueError> {
        match self.broker.claims().register() {
            Some(id) => Ok(Box::new(EmbeddedSubscription::new(Arc::clone(&self.broker), id, self.consume))),
            None => Err(failed("subscribing to the queue file", "this process is stopping")),
        }
    }
}

#[async_trait]
impl ReadinessCheck for EmbeddedQueue {
    fn component(&self) -> &'static str {
        "consumer"
    }

    fn required(&self) -> bool {
        true
    }

    async fn check(&self) -> Result<(), String> {
        self.broker.claims().check()
    }
}
