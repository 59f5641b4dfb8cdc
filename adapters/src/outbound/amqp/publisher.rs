//! Publishes envelopes to the main queue: many callers, few channels, groups of confirms.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use application::envelope::Envelope;
use application::ports::event_publisher::{EventPublisher, PublishError};
use application::ports::readiness::ReadinessCheck;
use async_trait::async_trait;
use bytes::Bytes;
use lapin::BasicProperties;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::connection::AmqpSettings;
use super::wire;

mod lane;
mod supervisor;

/// Who gets what is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Every consumer, as with what has just arrived.
    EveryConsumer,
    /// The own consumer alone, as with what it is to process once more.
    OwnConsumer,
}

/// Who gets it, how much may wait, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublisherSettings {
    /// Who gets it.
    pub audience: Audience,
    /// The longest that a caller waits for its answer, the time in the waiting queue included.
    pub confirm_timeout: Duration,
    /// How many envelopes may wait for a channel; more are refused at once.
    pub waiting_max: usize,
    /// The most envelopes whose confirms are awaited together on one channel.
    pub group_max: usize,
    /// How many channels publish at the same time.
    pub channels: usize,
}

impl Default for PublisherSettings {
    fn default() -> Self {
        Self {
            audience: Audience::EveryConsumer,
            confirm_timeout: Duration::from_secs(5),
            waiting_max: 4096,
            group_max: 256,
            channels: 3,
        }
    }
}

/// Publishes to the main queue of every consumer, or of its own. Keeps its connection by itself: while there is none, every publish fails
/// at once; when the broker is back, publishing goes on.
pub struct AmqpPublisher {
    waiting: mpsc::Sender<Job>,
    condition: watch::Receiver<Condition>,
    settings: PublisherSettings,
    closing: CancellationToken,
    supervisor: Mutex<Option<JoinHandle<()>>>,
    _abandoned: DropGuard,
}

type Answer = Result<(), PublishError>;

/// An envelope that waits for a channel, and its caller.
struct Job {
    properties: BasicProperties,
    payload: Bytes,
    deadline: Instant,
    answer: oneshot::Sender<Answer>,
}

impl Job {
    fn finish(self, answer: Answer) {
        // A caller that has gone needs no answer.
        self.answer.send(answer).ok();
    }
}

/// Whether publishing is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// No connection, for this reason.
    Away(String),
    /// The broker takes nothing, for this reason.
    Blocked(String),
    /// It works; the topology may differ from what it should be, in this way.
    Serving { mismatch: Option<String> },
}

impl Condition {
    /// Why publishing is of no use now.
    fn obstacle(&self) -> Option<String> {
        match self {
            Self::Away(reason) => Some(reason.clone()),
            Self::Blocked(reason) => Some(format!("it blocks publishers: {reason}")),
            Self::Serving { .. } => None,
        }
    }
}

impl AmqpPublisher {
    /// Starts to connect, and returns at once. Needs a tokio runtime.
    pub fn start(amqp: AmqpSettings, settings: PublisherSettings) -> Arc<Self> {
        let (waiting, queue) = mpsc::channel(settings.waiting_max.max(1));
        let (condition, seen) = watch::channel(Condition::Away("not connected yet".to_owned()));
        let (closing, abandoned) = (CancellationToken::new(), CancellationToken::new());
        let supervisor = supervisor::Supervisor::new(amqp, settings, queue, condition, closing.clone());
        let stop = abandoned.clone();
        let running = tokio::spawn(async move {
            stop.run_until_cancelled_owned(supervisor.run()).await;
        });
        Arc::new(Self {
            waiting,
            condition: seen,
            settings,
            closing,
            supervisor: Mutex::new(Some(running)),
            _abandoned: abandoned.drop_guard(),
        })
    }

    /// Waits, for at most `limit`, until publishing is possible.
    pub async fn wait_until_serving(&self, limit: Duration) -> bool {
        let mut condition = self.condition.clone();
        let serving = condition.wait_for(|condition| condition.obstacle().is_none());
        matches!(tokio::time::timeout(limit, serving).await, Ok(Ok(_)))
    }

    /// Takes nothing more, brings what waits to its end, and closes the connection.
    pub async fn close(&self) {
        self.closing.cancel();
        let running = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(running) = running
            && let Err(error) = running.await
        {
            tracing::error!(%error, "the publisher did not end cleanly");
        }
    }

    fn enqueue(
        &self,
        envelope: Envelope,
        deadline: Instant,
    ) -> Result<oneshot::Receiver<Answer>, PublishError> {
        if self.closing.is_cancelled() {
            return Err(PublishError::Unavailable("this process is stopping".to_owned()));
        }
        if let Some(obstacle) = self.condition.borrow().obstacle() {
            return Err(PublishError::Unavailable(obstacle));
        }
        let properties = wire::properties(&envelope).map_err(|error| PublishError::Broken(error.into()))?;
        let (answer, answered) = oneshot::channel();
        let job = Job { properties, payload: envelope.payload, deadline, answer };
        match self.waiting.try_send(job) {
            Ok(()) => Ok(answered),
            Err(mpsc::error::TrySendError::Full(_)) => {
                Err(PublishError::Overloaded { limit: self.settings.waiting_max })
            }
            Err(mpsc::error::TrySendError::Closed(_)) => {
                Err(PublishError::Unavailable("the publisher has ended".to_owned()))
            }
        }
    }

    async fn answer(&self, answered: oneshot::Receiver<Answer>, deadline: Instant) -> Answer {
        match tokio::time::timeout_at(deadline, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(dropped)) => Err(PublishError::Broken(dropped.into())),
            Err(_) => Err(PublishError::TimedOut(self.settings.confirm_timeout)),
        }
    }
}

#[async_trait]
impl EventPublisher for AmqpPublisher {
    async fn publish(&self, envelopes: Vec<Envelope>) -> Vec<Answer> {
        let deadline = Instant::now() + self.settings.confirm_timeout;
        // All are handed over before the first answer is awaited.
        let waiting: Vec<_> =
            envelopes.into_iter().map(|envelope| self.enqueue(envelope, deadline)).collect();
        let mut answers = Vec::with_capacity(waiting.len());
        for handed_over in waiting {
            answers.push(match handed_over {
                Ok(answered) => self.answer(answered, deadline).await,
                Err(error) => Err(error),
            });
        }
        answers
    }
}

#[async_trait]
impl ReadinessCheck for AmqpPublisher {
    fn component(&self) -> &'static str {
        "broker"
    }

    fn required(&self) -> bool {
        true
    }

    async fn check(&self) -> Result<(), String> {
        match &*self.condition.borrow() {
            Condition::Serving { mismatch: None } => Ok(()),
            Condition::Serving { mismatch: Some(mismatch) } => Err(mismatch.clone()),
            obstructed => Err(obstructed.obstacle().unwrap_or_default()),
        }
    }
}
