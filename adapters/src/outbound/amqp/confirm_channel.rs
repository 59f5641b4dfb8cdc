//! Publishes many messages at once on one channel and tells for each whether the broker stored and routed it.
//!
//! lapin hands a returned message to whichever confirm completes next, not to the one it belongs to. So a
//! single confirm says nothing about its own message; a whole group of them does: every publish carries an
//! id of its own, and a return is matched by that id once the group is complete.

use std::collections::HashMap;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::{BasicProperties, Channel, Confirmation, Connection};
use tokio::time::Instant;

use super::connection::CLOSE_TIMEOUT;

/// A message to publish.
pub(crate) struct Outgoing<'a> {
    pub exchange: &'a str,
    pub routing_key: &'a str,
    /// The correlation id is overwritten, unless messages may be for nobody.
    pub properties: BasicProperties,
    pub payload: &'a [u8],
}

/// What became of it.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// In a queue, on disk; or, where messages may be for nobody, in all queues that want it.
    Stored,
    /// No queue for it.
    Unroutable(String),
    /// The broker said no.
    Refused,
    /// No answer in time.
    TimedOut,
    /// The channel broke before the answer.
    Broken(String),
}

/// A channel in confirm mode. After a group that got not all its answers it must be thrown away.
pub(crate) struct ConfirmChannel {
    channel: Channel,
    mandatory: bool,
    next_id: u64,
    intact: bool,
}

/// What lapin says of one publish.
enum Heard {
    Ack(Option<Returned>),
    Nack(Option<Returned>),
    Failed(String),
    Nothing,
}

/// Some message that came back.
struct Returned {
    id: Option<u64>,
    text: String,
}

impl ConfirmChannel {
    /// A channel on which every message must find a queue.
    pub(crate) async fn open(connection: &Connection) -> lapin::Result<Self> {
        Self::open_as(connection, true).await
    }

    /// A channel on which a message that no queue wants is dropped, which is no error.
    pub(crate) async fn open_for_whom_it_concerns(connection: &Connection) -> lapin::Result<Self> {
        Self::open_as(connection, false).await
    }

    async fn open_as(connection: &Connection, mandatory: bool) -> lapin::Result<Self> {
        let channel = connection.create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        Ok(Self { channel, mandatory, next_id: 0, intact: true })
    }

    /// Whether it may be used for another group.
    pub(crate) fn intact(&self) -> bool {
        self.intact && self.channel.status().connected()
    }

    /// Ends the channel before its connection is closed. Where it is only dropped, lapin ends it at the same moment
    /// as the connection, finds it ending already, and logs that as an error of the connection.
    pub(crate) async fn close(self) {
        let farewell = self.channel.close(200, "OK".into());
        if let Ok(Err(error)) = tokio::time::timeout(CLOSE_TIMEOUT, farewell).await {
            tracing::debug!(%error, "a channel did not close cleanly");
        }
    }

    /// Publishes all of them, pipelined and in their order, and waits for all answers until `deadline`.
    /// Element `i` answers `group[i]`. An `Outcome::Stored` holds even where others of the group failed.
    pub(crate) async fn publish(&mut self, group: Vec<Outgoing<'_>>, deadline: Instant) -> Vec<Outcome> {
        let first_id = self.next_id;
        let mut heard: Vec<Heard> = Vec::with_capacity(group.len());
        heard.resize_with(group.len(), || Heard::Nothing);
        let (channel, mandatory) = (&self.channel, self.mandatory);
        let mut flights: FuturesUnordered<_> = (first_id..)
            .zip(group)
            .enumerate()
            .map(|(index, (id, outgoing))| {
                // What cannot come back needs no id of ours.
                let id = mandatory.then_some(id);
                publish_one(channel, id, outgoing).map(move |said| (index, said))
            })
            .collect();
        self.next_id += heard.len() as u64;
        let all = async {
            while let Some((index, said)) = flights.next().await {
                heard[index] = said;
            }
        };
        if tokio::time::timeout_at(deadline, all).await.is_err() {
            while let Some(Some((index, said))) = flights.next().now_or_never() {
                heard[index] = said;
            }
        }
        drop(flights);
        self.intact &= heard.iter().all(Heard::is_answer);
        judge(first_id, heard)
    }
}

impl Heard {
    fn is_answer(&self) -> bool {
        matches!(self, Self::Ack(_) | Self::Nack(_))
    }

    fn returned(&self) -> Option<&Returned> {
        match self {
            Self::Ack(returned) | Self::Nack(returned) => returned.as_ref(),
            Self::Failed(_) | Self::Nothing => None,
        }
    }
}

/// Hands the message over when first polled, so that a group is written out before any answer is awaited.
async fn publish_one(channel: &Channel, id: Option<u64>, outgoing: Outgoing<'_>) -> Heard {
    let options = BasicPublishOptions { mandatory: id.is_some(), ..BasicPublishOptions::default() };
    let properties = match id {
        Some(id) => outgoing.properties.with_correlation_id(id.to_string().into()),
        None => outgoing.properties,
    };
    let handed_over = channel
        .basic_publish(
            outgoing.exchange.into(),
            outgoing.routing_key.into(),
            options,
            outgoing.payload,
            properties,
        )
        .await;
    let confirmation = match handed_over {
        Ok(confirm) => confirm.await,
        Err(error) => Err(error),
    };
    match confirmation {
        Ok(Confirmation::Ack(message)) => Heard::Ack(message.map(Returned::from)),
        Ok(Confirmation::Nack(message)) => Heard::Nack(message.map(Returned::from)),
        Ok(Confirmation::NotRequested) => Heard::Failed("the channel is not in confirm mode".to_owned()),
        Err(error) => Heard::Failed(error.to_string()),
    }
}

impl From<lapin::message::BasicReturnMessage> for Returned {
    fn from(message: lapin::message::BasicReturnMessage) -> Self {
        let id = message.properties.correlation_id().as_ref();
        Self {
            id: id.and_then(|id| id.as_str().parse().ok()),
            text: format!(
                "{} {} (exchange {:?}, routing key {:?})",
                message.reply_code,
                message.reply_text,
                message.exchange.as_str(),
                message.routing_key.as_str()
            ),
        }
    }
}

/// The outcome of each publish, of which the first had the id `first_id`.
///
/// A return always comes before its message's confirm. So a confirm that carries no return completed when
/// none was waiting: its own, if there was one, is among those seen. A confirm that carries another's return
/// is only clear once the group is complete, since its own return may still be waiting for a confirm.
fn judge(first_id: u64, heard: Vec<Heard>) -> Vec<Outcome> {
    let complete = heard.iter().all(Heard::is_answer);
    let mut unattributed = None;
    let mut returned = HashMap::new();
    for message in heard.iter().filter_map(Heard::returned) {
        match message.id {
            Some(id) => drop(returned.insert(id, message.text.clone())),
            None => unattributed = Some(message.text.clone()),
        }
    }
    (first_id..)
        .zip(heard)
        .map(|(id, said)| {
            if let Some(text) = returned.remove(&id) {
                return Outcome::Unroutable(text);
            }
            match (said, &unattributed) {
                (Heard::Ack(_), Some(text)) => Outcome::Unroutable(text.clone()),
                (Heard::Ack(Some(_)), None) if !complete => {
                    Outcome::Broken("the channel broke before it was clear what came back".to_owned())
                }
                (Heard::Ack(_), None) => Outcome::Stored,
                (Heard::Nack(_), _) => Outcome::Refused,
                (Heard::Failed(error), _) => Outcome::Broken(error),
                (Heard::Nothing, _) => Outcome::TimedOut,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(id: u64) -> Returned {
        Returned { id: Some(id), text: "312 NO_ROUTE".to_owned() }
    }

    fn labels(heard: Vec<Heard>) -> Vec<&'static str> {
        let label = |outcome: &Outcome| match outcome {
            Outcome::Stored => "stored",
            Outcome::Unroutable(_) => "unroutable",
            Outcome::Refused => "refused",
            Outcome::TimedOut => "timed out",
            Outcome::Broken(_) => "broken",
        };
        judge(10, heard).iter().map(label).collect()
    }

    #[test]
    fn a_return_is_attributed_by_id_whichever_confirm_carries_it() {
        let heard = vec![Heard::Ack(Some(returned(12))), Heard::Ack(None), Heard::Ack(None)];
        assert_eq!(labels(heard), ["stored", "stored", "unroutable"]);
    }

    #[test]
    fn a_confirm_that_carries_anothers_return_counts_only_in_a_complete_group() {
        let heard = vec![Heard::Ack(Some(returned(12))), Heard::Ack(None), Heard::Nothing];
        assert_eq!(labels(heard), ["broken", "stored", "unroutable"]);
    }

    #[test]
    fn a_return_of_unknown_origin_spoils_every_confirm() {
        let stranger = Some(Returned { id: None, text: "?".to_owned() });
        let heard = vec![Heard::Ack(stranger), Heard::Ack(None), Heard::Nack(None)];
        assert_eq!(labels(heard), ["unroutable", "unroutable", "refused"]);
    }

    #[test]
    fn what_was_not_confirmed_is_told_apart() {
        let heard = vec![Heard::Ack(None), Heard::Failed("gone".to_owned()), Heard::Nothing];
        assert_eq!(labels(heard), ["stored", "broken", "timed out"]);
    }
}
