//! Opens subscriptions to the main queue.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use application::error_chain::describe;
use application::ports::BoxError;
use application::ports::clock::Clock;
use application::ports::event_queue::{EventQueue, QueueError, Subscription};
use application::ports::readiness::ReadinessCheck;
use async_trait::async_trait;
use lapin::{Channel, Connection, ConnectionStatus};

use super::intake::{Intake, Turn};
use super::subscription::{AmqpSubscription, Opened};
use crate::outbound::amqp::ConfirmChannel;
use crate::outbound::amqp::connection::{AmqpSettings, close, connect};
use crate::outbound::amqp::topology;

/// How a subscription takes and settles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsumeSettings {
    /// How many deliveries may be handed out and not settled. At least twice the batch keeps it busy.
    pub prefetch: u16,
    /// The most deliveries in a batch.
    pub batch_max: usize,
    /// How long a batch waits for more after its first delivery.
    pub linger: Duration,
    /// The longest that settling waits for the broker.
    pub confirm_timeout: Duration,
}

impl Default for ConsumeSettings {
    fn default() -> Self {
        Self {
            prefetch: 1024,
            batch_max: 256,
            linger: Duration::from_millis(5),
            confirm_timeout: Duration::from_secs(10),
        }
    }
}

/// The main queue. Every subscription has a connection of its own, so that nothing survives its end by which
/// an old acknowledgement could reach a new channel.
pub struct AmqpQueue {
    amqp: AmqpSettings,
    consume: ConsumeSettings,
    clock: Arc<dyn Clock>,
    subscriptions: Subscriptions,
    turn: Turn,
}

/// The connections of the subscriptions that are in use, and why the last attempt at one failed.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    alive: Vec<(u64, ConnectionStatus)>,
    next_id: u64,
    last_failure: Option<String>,
}

/// Keeps a subscription among those that are alive.
pub(super) struct Alive {
    id: u64,
    subscriptions: Subscriptions,
}

impl AmqpQueue {
    /// Connects when subscribed to.
    pub fn new(amqp: AmqpSettings, consume: ConsumeSettings, clock: Arc<dyn Clock>) -> Self {
        Self { amqp, consume, clock, subscriptions: Subscriptions::default(), turn: Turn::default() }
    }

    async fn open(&self) -> Result<AmqpSubscription, QueueError> {
        let connection = connect(&self.amqp).await.map_err(|error| failed("connecting to consume", error))?;
        let limit = self.amqp.connect_timeout;
        let consuming = match tokio::time::timeout(limit, self.channels_on(&connection)).await {
            Ok(consuming) => consuming,
            Err(elapsed) => Err(failed("subscribing: the broker did not answer in time", elapsed)),
        };
        match consuming {
            Ok((channel, confirms)) => Ok(AmqpSubscription::new(
                Opened { connection, intake: self.intake(channel), confirms },
                self.consume,
                &self.amqp,
                Arc::clone(&self.clock),
                &self.subscriptions,
            )),
            Err(error) => {
                close(&connection).await;
                Err(error)
            }
        }
    }

    async fn channels_on(&self, connection: &Connection) -> Result<(Channel, ConfirmChannel), QueueError> {
        topology::declare(connection, &self.amqp.consumers, &self.amqp.retry_tiers)
            .await
            .map_err(|error| failed("declaring the topology", error))?;
        let subscribing = |error| failed(&format!("subscribing to {}", self.amqp.queues.main()), error);
        let confirms = ConfirmChannel::open(connection).await.map_err(subscribing)?;
        let channel = connection.create_channel().await.map_err(subscribing)?;
        Ok((channel, confirms))
    }

    fn intake(&self, channel: Channel) -> Intake {
        Intake::new(channel, self.amqp.queues.main(), self.consume, Arc::clone(&self.turn))
    }
}

pub(super) fn failed(doing: &str, source: impl Into<BoxError>) -> QueueError {
    QueueError { doing: doing.to_owned(), source: source.into() }
}

#[async_trait]
impl EventQueue for AmqpQueue {
    async fn subscribe(&self) -> Result<Box<dyn Subscription>, QueueError> {
        match self.open().await {
            Ok(subscription) => Ok(Box::new(subscription)),
            Err(error) => {
                self.subscriptions.note_failure(describe(&error));
                Err(error)
            }
        }
    }
}

#[async_trait]
impl ReadinessCheck for AmqpQueue {
    fn component(&self) -> &'static str {
        "consumer"
    }

    fn required(&self) -> bool {
        true
    }

    async fn check(&self) -> Result<(), String> {
        self.subscriptions.check()
    }
}

impl Subscriptions {
    pub(super) fn add(&self, status: ConnectionStatus) -> Alive {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = state.next_id;
        state.next_id += 1;
        state.alive.push((id, status));
        state.last_failure = None;
        Alive { id, subscriptions: self.clone() }
    }

    pub(super) fn note_failure(&self, reason: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last_failure = Some(reason);
    }

    fn check(&self) -> Result<(), String> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.alive.iter().any(|(_, status)| status.connected()) {
            return Ok(());
        }
        let failure = state.last_failure.as_ref();
        Err(failure.map_or_else(
            || "nothing is subscribed".to_owned(),
            |reason| format!("nothing is subscribed: {reason}"),
        ))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        let mut state = self.subscriptions.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.alive.retain(|(id, _)| *id != self.id);
    }
}
