//! All names and arguments at the broker.
//!
//! A queue's arguments are a contract: a queue that exists with others is refused, never changed. To change
//! one, declare a queue of another name and let the old one run empty. Every argument whose default differs
//! between RabbitMQ 3.10 and 4.x is set.

use std::fmt::Write;
use std::time::Duration;

use domain::ConsumerName;
use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, Connection, ErrorKind, ExchangeKind};

/// The exchange that receivers publish to.
pub const MAIN_EXCHANGE: &str = "main_exchange";

/// The routing key that receivers publish with.
pub const MAIN_ROUTING_KEY: &str = "events";

/// What workers consume.
pub const MAIN_QUEUE: &str = "events.main";

/// Where dead letters lie.
pub const DEAD_LETTER_QUEUE: &str = "events.dlq";

/// How often the broker hands an event out before it takes it for one that kills its consumer. Events that
/// merely fail never get here: they are republished with a count of their own.
pub const MAIN_DELIVERY_LIMIT: i64 = 20;

/// "No limit", in a form that every version understands: `-1` loses the message on 3.10, and saying nothing
/// means 20 from 4.0.
const UNLIMITED_DELIVERIES: i64 = 1_000_000;

/// The topology is not as it must be.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// Things exist under our names with other arguments; everything else is declared.
    #[error("{0}")]
    Mismatch(String),
    /// The broker did not do it.
    #[error("cannot declare {what}")]
    Failed {
        /// Which exchange or queue.
        what: String,
        /// Why.
        #[source]
        source: lapin::Error,
    },
}

/// The queues of one consumer. Every consumer has a copy of every event, attempts and dead letters of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queues {
    /// `events` for the first consumer, `events.NAME` for every other.
    prefix: String,
}

impl Queues {
    /// Of the consumer that is configured first: [`MAIN_QUEUE`] and [`DEAD_LETTER_QUEUE`].
    pub fn first() -> Self {
        Self { prefix: "events".to_owned() }
    }

    /// Of another consumer.
    pub fn of(consumer: &ConsumerName) -> Self {
        Self { prefix: format!("events.{consumer}") }
    }

    /// What its workers consume.
    pub fn main(&self) -> String {
        format!("{}.main", self.prefix)
    }

    /// Where its dead letters lie.
    pub fn dead_letters(&self) -> String {
        format!("{}.dlq", self.prefix)
    }

    /// Where its events wait for `delay`. The delay is in the name, so that another delay is another queue.
    pub fn retry(&self, delay: Duration) -> String {
        let (prefix, millis) = (&self.prefix, delay.as_millis());
        if millis.is_multiple_of(1000) {
            format!("{prefix}.retry.{}s", millis / 1000)
        } else {
            format!("{prefix}.retry.{millis}ms")
        }
    }

    /// The exchange at which the rest of the company hears of its effects, by the kind of what has happened.
    pub fn announcements(&self) -> String {
        format!("payonce.{}", self.prefix)
    }

    /// Where an event goes that has waited: exchange and routing key. Those of the first consumer go the way of
    /// every event, so that others see them as duplicates; those of others go back to them alone.
    fn after_waiting(&self) -> (&'static str, String) {
        if *self == Self::first() { (MAIN_EXCHANGE, MAIN_ROUTING_KEY.to_owned()) } else { ("", self.main()) }
    }
}

/// The tier for a wait of `delay`: the shortest that is long enough, or else the longest.
pub fn retry_tier(tiers: &[Duration], delay: Duration) -> Option<Duration> {
    let long_enough = tiers.iter().copied().filter(|tier| *tier >= delay).min();
    long_enough.or_else(|| tiers.iter().copied().max())
}

/// Declares everything that is missing. What exists as it should is left alone; what exists otherwise is an
/// error that names it and the argument, after the rest has been declared.
pub async fn declare(
    connection: &Connection,
    consumers: &[Queues],
    tiers: &[Duration],
) -> Result<(), TopologyError> {
    let mut mismatches = String::new();
    let mut channel = open(connection).await?;
    for part in parts(consumers, tiers) {
        let what = part.to_string();
        if let Err(source) = part.declare(&channel).await {
            if !is_mismatch(&source) {
                return Err(TopologyError::Failed { what, source });
            }
            let separator = if mismatches.is_empty() { "" } else { "; " };
            // Writing to a string does not fail.
            write!(
                mismatches,
                "{separator}{what} exists with other arguments than this version declares ({source}): \
                 let it run empty and delete it, or restore the setting that made it"
            )
            .ok();
            // The refusal closed the channel.
            channel = open(connection).await?;
        }
    }
    if let Err(error) = channel.close(200, "OK".into()).await {
        tracing::debug!(%error, "the declaring channel did not close cleanly");
    }
    if mismatches.is_empty() { Ok(()) } else { Err(TopologyError::Mismatch(mismatches)) }
}

/// Declares the exchange at which `queues`' consumer announces: topic, durable. Whoever wants to hear declares
/// a queue and binds it; who they are is not our affair.
pub async fn declare_announcements(connection: &Connection, queues: &Queues) -> Result<(), TopologyError> {
    let (name, channel) = (queues.announcements(), open(connection).await?);
    let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
    let declared = channel
        .exchange_declare(name.as_str().into(), ExchangeKind::Topic, options, FieldTable::default())
        .await;
    match declared {
        Ok(()) => {
            if let Err(error) = channel.close(200, "OK".into()).await {
                tracing::debug!(%error, "the declaring channel did not close cleanly");
            }
            Ok(())
        }
        Err(source) if is_mismatch(&source) => Err(TopologyError::Mismatch(format!(
            "the exchange {name} exists and is not a durable topic exchange ({source}): delete it"
        ))),
        Err(source) => Err(TopologyError::Failed { what: format!("the exchange {name}"), source }),
    }
}

async fn open(connection: &Connection) -> Result<Channel, TopologyError> {
    connection
        .create_channel()
        .await
        .map_err(|source| TopologyError::Failed { what: "anything: no channel opens".to_owned(), source })
}

fn is_mismatch(error: &lapin::Error) -> bool {
    const PRECONDITION_FAILED: u16 = 406;
    matches!(error.kind(), ErrorKind::ProtocolError(error) if error.get_id() == PRECONDITION_FAILED)
}

/// One thing to declare.
enum Part {
    Exchange,
    Queue { name: String, arguments: FieldTable },
    Binding { queue: String },
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exchange => write!(f, "the exchange {MAIN_EXCHANGE}"),
            Self::Queue { name, .. } => write!(f, "the queue {name}"),
            Self::Binding { queue } => write!(f, "the binding of {queue} to {MAIN_EXCHANGE}"),
        }
    }
}

impl Part {
    async fn declare(self, channel: &Channel) -> lapin::Result<()> {
        match self {
            Self::Exchange => {
                let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
                channel
                    .exchange_declare(
                        MAIN_EXCHANGE.into(),
                        ExchangeKind::Direct,
                        options,
                        FieldTable::default(),
                    )
                    .await
            }
            Self::Queue { name, arguments } => {
                channel.queue_declare(name.into(), QueueDeclareOptions::durable(), arguments).await.map(drop)
            }
            Self::Binding { queue } => {
                channel
                    .queue_bind(
                        queue.into(),
                        MAIN_EXCHANGE.into(),
                        MAIN_ROUTING_KEY.into(),
                        QueueBindOptions::default(),
                        FieldTable::default(),
                    )
                    .await
            }
        }
    }
}

/// Everything, in an order in which nothing points to what is not there yet.
fn parts(consumers: &[Queues], tiers: &[Duration]) -> Vec<Part> {
    let mut parts = vec![Part::Exchange];
    for queues in consumers {
        parts.push(Part::Queue { name: queues.dead_letters(), arguments: quorum(UNLIMITED_DELIVERIES) });
        let main = dead_lettering(quorum(MAIN_DELIVERY_LIMIT), "", &queues.dead_letters());
        parts.push(Part::Queue { name: queues.main(), arguments: main });
        parts.push(Part::Binding { queue: queues.main() });
        parts.extend(tiers.iter().map(|delay| tier(queues, *delay)));
    }
    parts
}

fn tier(queues: &Queues, delay: Duration) -> Part {
    let (exchange, routing_key) = queues.after_waiting();
    let mut arguments = dead_lettering(quorum(UNLIMITED_DELIVERIES), exchange, &routing_key);
    let millis = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
    arguments.insert("x-message-ttl".into(), AMQPValue::LongLongInt(millis));
    Part::Queue { name: queues.retry(delay), arguments }
}

fn quorum(delivery_limit: i64) -> FieldTable {
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), text("quorum"));
    arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(delivery_limit));
    arguments
}

/// At least once, which asks for `reject-publish`: the broker keeps a message until its target has it.
fn dead_lettering(mut arguments: FieldTable, exchange: &str, routing_key: &str) -> FieldTable {
    arguments.insert("x-dead-letter-exchange".into(), text(exchange));
    arguments.insert("x-dead-letter-routing-key".into(), text(routing_key));
    arguments.insert("x-dead-letter-strategy".into(), text("at-least-once"));
    arguments.insert("x-overflow".into(), text("reject-publish"));
    arguments
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_queue_is_named_after_its_delay() {
        assert_eq!(Queues::first().retry(Duration::from_secs(5)), "events.retry.5s");
        assert_eq!(Queues::first().retry(Duration::from_millis(200)), "events.retry.200ms");
        assert_eq!(Queues::first().retry(Duration::from_millis(1500)), "events.retry.1500ms");
    }

    #[test]
    fn an_event_waits_at_least_as_long_as_asked_where_a_tier_allows() {
        let tiers = [20, 5, 60].map(Duration::from_secs);
        let tier = |seconds| retry_tier(&tiers, Duration::from_secs(seconds));
        assert_eq!(tier(1), Some(Duration::from_secs(5)));
        assert_eq!(tier(5), Some(Duration::from_secs(5)));
        assert_eq!(tier(6), Some(Duration::from_secs(20)));
        assert_eq!(tier(600), Some(Duration::from_mins(1)));
        assert_eq!(retry_tier(&[], Duration::from_secs(1)), None);
    }
}
