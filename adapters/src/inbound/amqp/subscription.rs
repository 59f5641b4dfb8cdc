//! One consumer on one connection.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use application::envelope::Envelope;
use application::ports::clock::Clock;
use application::ports::event_queue::{Action, Delivery, QueueError, SettleReport, Settlement, Subscription};
use async_trait::async_trait;
use bytes::Bytes;
use lapin::options::BasicCancelOptions;
use lapin::types::ShortString;
use lapin::{BasicProperties, Channel, Connection};
use tokio::time::Instant;

use super::acknowledge::send;
use super::intake::Intake;
use super::queue::{Alive, ConsumeSettings, Subscriptions, failed};
use crate::outbound::amqp::connection::{AmqpSettings, close};
use crate::outbound::amqp::topology::{Queues, retry_tier};
use crate::outbound::amqp::wire::{self, GivenUpBy, HeadersTooLarge};
use crate::outbound::amqp::{ConfirmChannel, Outcome, Outgoing};

/// How long a consumer may take to say good-bye.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct AmqpSubscription {
    connection: Connection,
    /// Keeps what was received and not handed out, so that dropping `next_batch` loses nothing.
    intake: Intake,
    confirms: ConfirmChannel,
    settings: ConsumeSettings,
    queues: Queues,
    retry_tiers: Vec<Duration>,
    worker: Option<String>,
    clock: Arc<dyn Clock>,
    ended: Option<String>,
    alive: Option<Alive>,
    subscriptions: Subscriptions,
}

/// A message to publish before its original is acknowledged.
struct Onward {
    tag: u64,
    queue: String,
    properties: BasicProperties,
    payload: Bytes,
}

/// What a subscription is opened with.
pub(super) struct Opened {
    pub connection: Connection,
    pub intake: Intake,
    pub confirms: ConfirmChannel,
}

impl AmqpSubscription {
    pub(super) fn new(
        opened: Opened,
        settings: ConsumeSettings,
        amqp: &AmqpSettings,
        clock: Arc<dyn Clock>,
        subscriptions: &Subscriptions,
    ) -> Self {
        let Opened { connection, intake, confirms } = opened;
        let alive = Some(subscriptions.add(connection.status().clone()));
        Self {
            connection,
            intake,
            confirms,
            settings,
            queues: amqp.queues.clone(),
            retry_tiers: amqp.retry_tiers.clone(),
            worker: amqp.worker.clone(),
            clock,
            ended: None,
            alive,
            subscriptions: subscriptions.clone(),
        }
    }

    /// The subscription is of no use from now on.
    fn end(&mut self, reason: String) -> QueueError {
        self.alive = None;
        self.subscriptions.note_failure(reason.clone());
        self.ended = Some(reason.clone());
        failed(&format!("consuming {}", self.queues.main()), reason)
    }

    fn onward(&self, settlement: &mut Settlement) -> Result<Option<Onward>, QueueError> {
        let Settlement { delivery, action } = settlement;
        let too_large = |error: HeadersTooLarge| failed("preparing a retry or dead letter", error);
        let (queue, properties) = match action {
            Action::Acknowledge => return Ok(None),
            Action::RetryAfter { delay, failed_attempts, history } => {
                let Ok(envelope) = &delivery.content else {
                    return Err(failed("retrying", "an unreadable message cannot be tried again"));
                };
                let tier = retry_tier(&self.retry_tiers, *delay)
                    .ok_or_else(|| failed("retrying", "no retry tier is configured"))?;
                let properties =
                    wire::retry_properties(envelope, (*delay).min(tier), *failed_attempts, history)
                        .map_err(too_large)?;
                (self.queues.retry(tier), properties)
            }
            Action::DeadLetter { reason, failed_attempts, history } => {
                let (now, queue) = (self.clock.now(), self.queues.main());
                let by = GivenUpBy { queue: &queue, worker: self.worker.as_deref() };
                let properties =
                    wire::dead_letter_properties(delivery, by, reason, (*failed_attempts, history), now);
                (self.queues.dead_letters(), properties.map_err(too_large)?)
            }
        };
        let payload = match &mut delivery.content {
            Ok(Envelope { payload, .. }) => std::mem::take(payload),
            Err(unreadable) => std::mem::take(&mut unreadable.payload),
        };
        Ok(Some(Onward { tag: delivery.token, queue, properties, payload }))
    }

    /// Publishes them all. Gives the tags of those that are durable, and why others are not.
    async fn publish(&mut self, mut onward: Vec<Onward>) -> (Vec<u64>, Option<QueueError>) {
        let deadline = Instant::now() + self.settings.confirm_timeout;
        let group = onward
            .iter_mut()
            .map(|message| Outgoing {
                exchange: "",
                routing_key: &message.queue,
                properties: std::mem::take(&mut message.properties),
                payload: &message.payload,
            })
            .collect();
        let outcomes = self.confirms.publish(group, deadline).await;
        let mut durable = Vec::with_capacity(onward.len());
        let mut failure = None;
        for (message, outcome) in onward.iter().zip(outcomes) {
            let reason = match outcome {
                Outcome::Stored => {
                    durable.push(message.tag);
                    continue;
                }
                Outcome::Unroutable(text) => format!("there is no such queue: {text}"),
                Outcome::Refused => "the broker refused it".to_owned(),
                Outcome::TimedOut => "no confirm came in time".to_owned(),
                Outcome::Broken(reason) => reason,
            };
            failure = Some(failed(&format!("publishing to {}", message.queue), reason));
        }
        (durable, failure)
    }

    async fn acknowledge(&mut self, done: BTreeSet<u64>) -> Result<SettleReport, QueueError> {
        let Some(acks) = self.intake.outstanding.plan(&done) else {
            return Err(failed(
                "acknowledging",
                "a delivery is not one of this subscription, or was settled before",
            ));
        };
        let acks_lost = send(&acks).await.map_err(|error| failed("acknowledging", error))?;
        Ok(SettleReport { acks_lost })
    }

    async fn settle_all(&mut self, settlements: Vec<Settlement>) -> Result<SettleReport, QueueError> {
        let mut done = BTreeSet::new();
        let mut onward = Vec::new();
        let mut failure = None;
        for mut settlement in settlements {
            match self.onward(&mut settlement) {
                Ok(None) => drop(done.insert(settlement.delivery.token)),
                Ok(Some(message)) => onward.push(message),
                Err(error) => failure = Some(error),
            }
        }
        if !onward.is_empty() {
            let (durable, unpublished) = self.publish(onward).await;
            done.extend(durable);
            failure = unpublished.or(failure);
        }
        let limit = self.settings.confirm_timeout;
        let report = match tokio::time::timeout(limit, self.acknowledge(done)).await {
            Ok(report) => report?,
            Err(elapsed) => return Err(failed("acknowledging: the broker takes nothing", elapsed)),
        };
        failure.map_or(Ok(report), Err)
    }
}

#[async_trait]
impl Subscription for AmqpSubscription {
    async fn next_batch(&mut self) -> Result<Vec<Delivery>, QueueError> {
        if let Some(reason) = &self.ended {
            return Err(failed(&format!("consuming {}", self.queues.main()), reason.clone()));
        }
        self.intake.next_batch().await.map_err(|reason| self.end(reason))
    }

    async fn settle(&mut self, settlements: Vec<Settlement>) -> Result<SettleReport, QueueError> {
        let settled = self.settle_all(settlements).await;
        if let Err(error) = &settled {
            // Part of it may be settled: only a new subscription knows where it stands.
            self.end(application::error_chain::describe(error));
        }
        settled
    }

    async fn close(self: Box<Self>) -> Result<(), QueueError> {
        let Self { connection, intake, ended, .. } = *self;
        let (channel, consumers) = intake.into_parts();
        say_goodbye(&connection, &channel, consumers, ended.is_none()).await
    }
}

/// Ends consumers, their channel and the connection, for at most [`CLOSE_TIMEOUT`] each. Where the channel is not
/// `intact`, only the connection.
pub(super) async fn say_goodbye(
    connection: &Connection,
    channel: &Channel,
    consumers: Vec<ShortString>,
    intact: bool,
) -> Result<(), QueueError> {
    let mut closed = Ok(());
    if intact && connection.status().connected() {
        let farewell = async {
            for consumer in consumers {
                channel.basic_cancel(consumer, BasicCancelOptions::default()).await?;
            }
            channel.close(200, "OK".into()).await
        };
        closed = match tokio::time::timeout(CLOSE_TIMEOUT, farewell).await {
            Ok(said) => said.map_err(|error| failed("ending the subscription", error)),
            Err(elapsed) => Err(failed("ending the subscription", elapsed)),
        };
    }
    close(connection).await;
    closed
}
