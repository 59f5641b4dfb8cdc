//! Takes dead letters from their queue.

use std::collections::BTreeSet;
use std::time::Duration;

use application::ports::dead_letter_queue::{DeadLetterMessage, DeadLetterQueue, DeadLetterSubscription};
use application::ports::event_queue::QueueError;
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use lapin::options::{BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{Acker, Channel, Connection, Consumer};
use tokio::time::Instant;

use super::acknowledge::{Outstanding, send};
use super::queue::failed;
use super::subscription::say_goodbye;
use crate::outbound::amqp::connection::{AmqpSettings, close, connect};
use crate::outbound::amqp::topology;
use crate::outbound::amqp::wire::read_dead_letter;

/// How much of the dead-letter queue may be in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeadLetterSettings {
    /// How many letters may be handed out and not acknowledged.
    pub in_hand_max: u16,
    /// How many bytes of payloads. The broker counts letters alone, so this is kept by handing out no more of
    /// them than fit when each has as many bytes as [`Self::payload_bytes_max`].
    pub in_hand_bytes_max: usize,
    /// The longest payload that gets into the queue.
    pub payload_bytes_max: usize,
    /// How long a batch waits for more after its first letter.
    pub linger: Duration,
    /// The longest that acknowledging waits for the broker.
    pub acknowledge_timeout: Duration,
}

impl Default for DeadLetterSettings {
    fn default() -> Self {
        Self {
            in_hand_max: 64,
            in_hand_bytes_max: 32 * 1024 * 1024,
            payload_bytes_max: 1024 * 1024,
            linger: Duration::from_millis(50),
            acknowledge_timeout: Duration::from_secs(10),
        }
    }
}

impl DeadLetterSettings {
    fn prefetch(&self) -> u16 {
        let fit = self.in_hand_bytes_max / self.payload_bytes_max.max(1);
        u16::try_from(fit).unwrap_or(u16::MAX).min(self.in_hand_max).max(1)
    }
}

/// The dead-letter queue. Every subscription has a connection of its own, so that nothing survives its end by
/// which an old acknowledgement could reach a new channel.
pub struct AmqpDeadLetterQueue {
    amqp: AmqpSettings,
    settings: DeadLetterSettings,
}

struct AmqpDeadLetterSubscription {
    connection: Connection,
    channel: Channel,
    consumer: Consumer,
    settings: DeadLetterSettings,
    /// Where the letters lie, and which queue they came from.
    queue: String,
    main: String,
    /// Received and not handed out. Kept here, so that dropping `next_batch` loses nothing.
    gathered: Vec<DeadLetterMessage>,
    /// When the batch that is being gathered is handed out even if it is not full.
    hand_out_at: Instant,
    /// Everything that the broker waits to hear of, by delivery tag.
    outstanding: Outstanding<Acker>,
    ended: Option<String>,
}

impl AmqpDeadLetterQueue {
    /// Connects when subscribed to.
    pub fn new(amqp: AmqpSettings, settings: DeadLetterSettings) -> Self {
        Self { amqp, settings }
    }

    async fn consume_on(&self, connection: &Connection) -> Result<(Channel, Consumer), QueueError> {
        topology::declare(connection, &self.amqp.consumers, &self.amqp.retry_tiers)
            .await
            .map_err(|error| failed("declaring the topology", error))?;
        let queue = self.amqp.queues.dead_letters();
        let subscribing = |error| failed(&format!("subscribing to {queue}"), error);
        let channel = connection.create_channel().await.map_err(subscribing)?;
        // Before the consumer starts: what lapin has received it keeps without bound.
        let prefetch = self.settings.prefetch();
        channel.basic_qos(prefetch, BasicQosOptions::default()).await.map_err(subscribing)?;
        let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
        let consumer = channel
            .basic_consume(queue.as_str().into(), "".into(), options, arguments)
            .await
            .map_err(subscribing)?;
        Ok((channel, consumer))
    }
}

#[async_trait]
impl DeadLetterQueue for AmqpDeadLetterQueue {
    async fn subscribe(&self) -> Result<Box<dyn DeadLetterSubscription>, QueueError> {
        let connection =
            connect(&self.amqp).await.map_err(|error| failed("connecting to take dead letters", error))?;
        let limit = self.amqp.connect_timeout;
        let consuming = match tokio::time::timeout(limit, self.consume_on(&connection)).await {
            Ok(consuming) => consuming,
            Err(elapsed) => Err(failed("subscribing: the broker did not answer in time", elapsed)),
        };
        match consuming {
            Ok((channel, consumer)) => Ok(Box::new(AmqpDeadLetterSubscription {
                connection,
                channel,
                consumer,
                settings: self.settings,
                queue: self.amqp.queues.dead_letters(),
                main: self.amqp.queues.main(),
                gathered: Vec::new(),
                hand_out_at: Instant::now(),
                outstanding: Outstanding::new(),
                ended: None,
            })),
            Err(error) => {
                close(&connection).await;
                Err(error)
            }
        }
    }
}

impl AmqpDeadLetterSubscription {
    /// Takes in what the consumer gave; an error when it has ended.
    fn take_in(&mut self, item: Option<lapin::Result<lapin::message::Delivery>>) -> Result<(), QueueError> {
        match item {
            Some(Ok(message)) => {
                if self.gathered.is_empty() {
                    self.hand_out_at = Instant::now() + self.settings.linger;
                }
                let tag = message.delivery_tag;
                self.outstanding.insert(tag, message.acker);
                let payload = Bytes::from(message.data);
                self.gathered.push(read_dead_letter(tag, &message.properties, payload, &self.main));
                Ok(())
            }
            Some(Err(error)) => Err(self.end(error.to_string())),
            None => {
                Err(self.end("the broker cancelled the consumer, as when its queue is deleted".to_owned()))
            }
        }
    }

    /// The subscription is of no use from now on.
    fn end(&mut self, reason: String) -> QueueError {
        self.ended = Some(reason.clone());
        failed(&format!("consuming {}", self.queue), reason)
    }

    async fn try_acknowledge(&mut self, done: BTreeSet<u64>) -> Result<(), QueueError> {
        let Some(acks) = self.outstanding.plan(&done) else {
            return Err(failed(
                "acknowledging",
                "a dead letter is not one of this subscription, or was acknowledged before",
            ));
        };
        match tokio::time::timeout(self.settings.acknowledge_timeout, send(&acks)).await {
            Ok(Ok(0)) => Ok(()),
            Ok(Ok(lost)) => {
                tracing::info!(count = lost, "acknowledgements were lost; the dead letters will come again");
                Ok(())
            }
            Ok(Err(error)) => Err(failed("acknowledging", error)),
            Err(elapsed) => Err(failed("acknowledging: the broker takes nothing", elapsed)),
        }
    }
}

#[async_trait]
impl DeadLetterSubscription for AmqpDeadLetterSubscription {
    async fn next_batch(&mut self) -> Result<Vec<DeadLetterMessage>, QueueError> {
        if let Some(reason) = &self.ended {
            return Err(failed(&format!("consuming {}", self.queue), reason.clone()));
        }
        if self.gathered.is_empty() {
            let item = self.consumer.next().await;
            self.take_in(item)?;
        }
        let over = tokio::time::sleep_until(self.hand_out_at);
        tokio::pin!(over);
        // When all that may be in hand is, waiting for more is vain.
        while self.outstanding.len() < usize::from(self.settings.prefetch()) {
            tokio::select! {
                biased;
                item = self.consumer.next() => self.take_in(item)?,
                () = &mut over => break,
            }
        }
        Ok(std::mem::take(&mut self.gathered))
    }

    async fn acknowledge(&mut self, tokens: Vec<u64>) -> Result<(), QueueError> {
        if let Some(reason) = &self.ended {
            return Err(failed(&format!("acknowledging in {}", self.queue), reason.clone()));
        }
        let acknowledged = self.try_acknowledge(tokens.into_iter().collect()).await;
        if let Err(error) = &acknowledged {
            // Part of it may be acknowledged: only a new subscription knows where it stands.
            self.end(application::error_chain::describe(error));
        }
        acknowledged
    }

    async fn close(self: Box<Self>) -> Result<(), QueueError> {
        let Self { connection, channel, consumer, ended, .. } = *self;
        say_goodbye(&connection, &channel, vec![consumer.tag()], ended.is_none()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_letters_are_in_hand_than_fit_and_never_none() {
        let prefetch = |payload_bytes_max| {
            DeadLetterSettings {
                in_hand_max: 10,
                in_hand_bytes_max: 100,
                payload_bytes_max,
                ..DeadLetterSettings::default()
            }
            .prefetch()
        };
        assert_eq!(prefetch(25), 4);
        assert_eq!(prefetch(1), 10);
        assert_eq!(prefetch(0), 10);
        assert_eq!(prefetch(101), 1);
    }
}
