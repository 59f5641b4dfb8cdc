//! Announces what has happened at a topic exchange, each message under its kind as the routing key.
//!
//! Messages are persistent and confirmed, but not mandatory: nobody has to listen. A queue that is bound later
//! does not get what was announced before.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use application::cloud_event;
use application::error_chain::describe;
use application::ports::destination::{DeliveryOutcome, Destination, RenderedMessage};
use async_trait::async_trait;
use lapin::types::ShortString;
use lapin::{BasicProperties, Connection};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::connection::{AmqpSettings, close, connect};
use super::topology::declare_announcements;
use super::{ConfirmChannel, Outcome, Outgoing};

/// Survives a restart of the broker, in a queue that does.
const PERSISTENT: u8 = 2;

/// How long a message waits at least that a broken connection has kept from being confirmed.
const CONNECT_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Publishes to the exchange of its settings' queues. Connects when it has something to announce, and anew
/// after anything went wrong.
pub struct AmqpAnnouncer {
    amqp: AmqpSettings,
    exchange: String,
    confirm_timeout: Duration,
    link: Mutex<Option<Link>>,
}

/// An open connection, ready to announce.
struct Link {
    connection: Connection,
    channel: ConfirmChannel,
}

impl AmqpAnnouncer {
    /// Does not connect. Messages that are sent together must be confirmed within `confirm_timeout`.
    pub fn new(amqp: AmqpSettings, confirm_timeout: Duration) -> Self {
        let exchange = amqp.queues.announcements();
        Self { amqp, exchange, confirm_timeout, link: Mutex::new(None) }
    }

    async fn open(&self) -> Result<Link, String> {
        let connection = connect(&self.amqp).await.map_err(|error| describe(&error))?;
        let prepared = tokio::time::timeout(self.amqp.connect_timeout, async {
            declare_announcements(&connection, &self.amqp.queues).await.map_err(|error| describe(&error))?;
            ConfirmChannel::open_for_whom_it_concerns(&connection).await.map_err(|error| describe(&error))
        });
        match prepared
            .await
            .unwrap_or_else(|_| Err("the broker did not declare the exchange in time".to_owned()))
        {
            Ok(channel) => Ok(Link { connection, channel }),
            Err(reason) => {
                close(&connection).await;
                Err(reason)
            }
        }
    }

    /// Publishes those at `places`, and waits for their confirms.
    async fn publish(
        &self,
        channel: &mut ConfirmChannel,
        messages: &[RenderedMessage],
        places: &[usize],
    ) -> Vec<DeliveryOutcome> {
        let outgoing = places
            .iter()
            .filter_map(|place| messages.get(*place))
            .map(|message| Outgoing {
                exchange: &self.exchange,
                routing_key: &message.kind,
                properties: properties(message),
                payload: &message.body,
            })
            .collect();
        let deadline = Instant::now() + self.confirm_timeout;
        channel.publish(outgoing, deadline).await.into_iter().map(told).collect()
    }

    /// Sends waves of messages, one of each payment in a wave: so a message that the broker refuses is not
    /// overtaken by the next one of its payment.
    async fn announce(
        &self,
        channel: &mut ConfirmChannel,
        messages: &[RenderedMessage],
    ) -> Vec<DeliveryOutcome> {
        let mut outcomes = vec![DeliveryOutcome::NotTried; messages.len()];
        let mut stuck: HashSet<&(String, String)> = HashSet::new();
        for mut places in waves(messages) {
            places.retain(|place| {
                messages.get(*place).is_some_and(|message| !stuck.contains(&message.payment))
            });
            if places.is_empty() || !channel.intact() {
                break;
            }
            for (place, outcome) in places.iter().zip(self.publish(channel, messages, &places).await) {
                if let (Some(message), Some(kept)) = (messages.get(*place), outcomes.get_mut(*place)) {
                    if outcome != DeliveryOutcome::Delivered {
                        stuck.insert(&message.payment);
                    }
                    *kept = outcome;
                }
            }
        }
        outcomes
    }
}

/// The places of every payment's first message, then those of every payment's second, and so on.
fn waves(messages: &[RenderedMessage]) -> Vec<Vec<usize>> {
    let mut waves: Vec<Vec<usize>> = Vec::new();
    let mut counts: HashMap<&(String, String), usize> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        let count = counts.entry(&message.payment).or_default();
        match waves.get_mut(*count) {
            Some(wave) => wave.push(place),
            None => waves.push(vec![place]),
        }
        *count += 1;
    }
    waves
}

fn properties(message: &RenderedMessage) -> BasicProperties {
    let properties = BasicProperties::default()
        .with_delivery_mode(PERSISTENT)
        .with_content_type(cloud_event::CONTENT_TYPE.into())
        .with_app_id("payonce".into());
    // A property holds 255 bytes, and an id may be longer; it is in the body as well.
    match ShortString::try_new(message.id.as_str()) {
        Ok(id) => properties.with_message_id(id),
        Err(_) => properties,
    }
}

fn told(outcome: Outcome) -> DeliveryOutcome {
    let lost = |error| DeliveryOutcome::Unavailable { error, retry_after: Some(CONNECT_AGAIN_AFTER) };
    match outcome {
        Outcome::Stored => DeliveryOutcome::Delivered,
        // A queue that is full, and will not always be.
        Outcome::Refused => {
            DeliveryOutcome::Unavailable { error: "a queue refused it".to_owned(), retry_after: None }
        }
        Outcome::Unroutable(reason) => DeliveryOutcome::Refused { error: reason },
        Outcome::TimedOut => lost("no confirm came in time".to_owned()),
        Outcome::Broken(reason) => lost(reason),
    }
}

#[async_trait]
impl Destination for AmqpAnnouncer {
    async fn deliver(&self, messages: &[RenderedMessage]) -> Vec<DeliveryOutcome> {
        let away = |error: String| {
            let retry_after = Some(CONNECT_AGAIN_AFTER);
            vec![DeliveryOutcome::Unavailable { error, retry_after }; messages.len()]
        };
        let mut kept = self.link.lock().await;
        // Taken out, and put back only after success: an error or a cancelled call leaves a fresh start.
        let opened = match kept.take() {
            Some(link) if link.connection.status().connected() && link.channel.intact() => Ok(link),
            _ => self.open().await,
        };
        let mut link = match opened {
            Ok(link) => link,
            Err(reason) => return away(reason),
        };
        if link.connection.status().blocked() {
            *kept = Some(link);
            return away("the broker blocks publishers".to_owned());
        }
        let outcomes = self.announce(&mut link.channel, messages).await;
        if link.channel.intact() {
            *kept = Some(link);
        } else {
            close(&link.connection).await;
        }
        outcomes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, payment: &str) -> RenderedMessage {
        RenderedMessage {
            id: id.to_owned(),
            kind: "payment.succeeded".to_owned(),
            payment: ("shop".to_owned(), payment.to_owned()),
            body: bytes::Bytes::new(),
        }
    }

    #[test]
    fn a_wave_has_one_message_of_each_payment_in_order() {
        let of = ["pi_1", "pi_2", "pi_1", "pi_1", "pi_3", "pi_2"].map(|payment| message("id", payment));
        assert_eq!(waves(&of), [vec![0, 1, 4], vec![2, 5], vec![3]]);
        assert!(waves(&[]).is_empty());
    }

    #[test]
    fn an_id_that_no_property_can_hold_is_left_to_the_body() {
        let id = |length| properties(&message(&"x".repeat(length), "pi_1")).message_id().clone();
        assert_eq!(id(255).map(|id| id.as_str().len()), Some(255));
        assert_eq!(id(256), None);
    }
}
