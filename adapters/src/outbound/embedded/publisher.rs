//! Publishes envelopes to the main queue: many callers, one commit.

use std::sync::Arc;

use application::envelope::Envelope;
use application::ports::event_publisher::{EventPublisher, PublishError};
use application::ports::readiness::ReadinessCheck;
use async_trait::async_trait;
use tokio::sync::oneshot;

use super::broker::EmbeddedBroker;
use super::inbox::{Closed, Written};

/// How long a readiness check waits for the disk.
const PROBE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(1);

/// Publishes by way of the broker's writer. While the file cannot be written, every group finds out anew, so it
/// works again by itself.
pub struct EmbeddedPublisher {
    broker: Arc<EmbeddedBroker>,
}

impl EmbeddedPublisher {
    pub(super) fn new(broker: Arc<EmbeddedBroker>) -> Self {
        Self { broker }
    }

    async fn answer(&self, answered: oneshot::Receiver<Written>) -> Result<(), PublishError> {
        let limit = self.broker.settings.publish_timeout;
        match tokio::time::timeout(limit, answered).await {
            Ok(Ok(written)) => written.map_err(PublishError::Unavailable),
            Ok(Err(dropped)) => Err(PublishError::Broken(dropped.into())),
            Err(_) => Err(PublishError::TimedOut(limit)),
        }
    }
}

/// The same answer once more: all envelopes of a call are stored together or not at all.
fn again(answer: &Result<(), PublishError>) -> Result<(), PublishError> {
    match answer {
        Ok(()) => Ok(()),
        Err(PublishError::TimedOut(limit)) => Err(PublishError::TimedOut(*limit)),
        Err(error) => Err(PublishError::Unavailable(error.to_string())),
    }
}

#[async_trait]
impl EventPublisher for EmbeddedPublisher {
    async fn publish(&self, envelopes: Vec<Envelope>) -> Vec<Result<(), PublishError>> {
        let asked = envelopes.len();
        let mut answers = Vec::with_capacity(asked);
        match self.broker.inbox.publish(envelopes) {
            Ok((0, _)) => {}
            Ok((taken, answered)) => {
                let answer = self.answer(answered).await;
                answers.extend((1..taken).map(|_| again(&answer)));
                answers.push(answer);
            }
            Err(Closed) => answers.extend(
                (0..asked).map(|_| Err(PublishError::Unavailable("this process is stopping".to_owned()))),
            ),
        }
        let limit = self.broker.settings.publish_waiting_max;
        answers.resize_with(asked, || Err(PublishError::Overloaded { limit }));
        answers
    }
}

#[async_trait]
impl ReadinessCheck for EmbeddedPublisher {
    fn component(&self) -> &'static str {
        "broker"
    }

    fn required(&self) -> bool {
        true
    }

    async fn check(&self) -> Result<(), String> {
        if self.broker.condition.borrow().is_ok() {
            return Ok(());
        }
        // Nobody may be publishing any more, since this says that it is of no use: find out.
        let probed = self.broker.inbox.probe();
        let answered = probed.map_err(|Closed| "this process is stopping".to_owned())?;
        match tokio::time::timeout(PROBE_TIMEOUT, answered).await {
            Ok(Ok(written)) => written,
            Ok(Err(_)) => Err("the queue's writer has ended".to_owned()),
            Err(_) => Err("the queue file is written to too slowly".to_owned()),
        }
    }
}
