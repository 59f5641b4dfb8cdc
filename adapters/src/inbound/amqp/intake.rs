//! What a subscription receives, and in whose company it is handed out.
//!
//! An event that kills the process takes all that the process holds back to the queue, and the broker counts one
//! return for each of them: for those that wait behind it as well. At its limit the broker gives all of them up. So
//! an event that has come back too often is a suspect, and is handed out alone, with as little else held as can be:
//!
//! - A subscription begins by looking: it takes one delivery at a time. What came back is handed out first by the
//!   broker, so the first delivery that is no suspect tells that those are through. Only one subscription of a
//!   process looks at a time, and the others hold nothing until then or have looked before.
//! - Then it is open: it takes as many as it may.
//! - A suspect that comes then, as from another process that died, ends that: it takes nothing more, hands out what
//!   it has, then the suspects one by one, and looks again. Those that came back least often go first, and equals
//!   in no order: so even those that another death takes back get done, all but the culprit.

use std::cmp::Reverse;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use application::error_chain::describe;
use application::ports::event_queue::Delivery;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::SelectAll;
use lapin::options::{BasicCancelOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{Acker, Channel, Consumer};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use super::acknowledge::Outstanding;
use super::queue::ConsumeSettings;
use crate::outbound::amqp::wire;

/// From this many returns on an event is handed out alone. Less than the broker's limit by far, and more than a few
/// restarts cost.
pub const ALONE_AFTER_RETURNS: u64 = 3;

/// How many deliveries are taken at a time while looking.
const LOOKING_PREFETCH: u16 = 1;

/// How often a wait for something else looks whether the channel is still there.
const CHANNEL_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Of all subscriptions of a process, who may look.
pub(super) type Turn = Arc<Mutex<()>>;

pub(super) struct Intake {
    channel: Channel,
    queue: String,
    settings: ConsumeSettings,
    turn: Turn,
    phase: Phase,
    consumers: SelectAll<Consumer>,
    tags: Vec<ShortString>,
    /// Under way at the broker. Kept here, so that dropping `next_batch` loses no consumer and what it got.
    changing: Option<JoinHandle<lapin::Result<Option<Consumer>>>>,
    /// Received and not handed out.
    gathered: Vec<Delivery>,
    suspects: Vec<Suspect>,
    /// When the batch that is being gathered is handed out even if it is not full.
    hand_out_at: Instant,
    /// Everything that the broker waits to hear of.
    pub(super) outstanding: Outstanding<Acker>,
    shuffle: RandomState,
}

enum Phase {
    /// It takes nothing, until it may look.
    Waiting,
    /// It takes one at a time, while it has the turn.
    Looking { _turn: OwnedMutexGuard<()> },
    /// It takes as many as it may.
    Open,
    /// It takes nothing more, until what it has is settled.
    Draining,
}

struct Suspect {
    returns: u64,
    delivery: Delivery,
}

impl Intake {
    pub(super) fn new(channel: Channel, queue: String, settings: ConsumeSettings, turn: Turn) -> Self {
        Self {
            channel,
            queue,
            settings,
            turn,
            phase: Phase::Waiting,
            consumers: SelectAll::new(),
            tags: Vec::new(),
            changing: None,
            gathered: Vec::new(),
            suspects: Vec::new(),
            hand_out_at: Instant::now(),
            outstanding: Outstanding::new(),
            shuffle: RandomState::new(),
        }
    }

    /// The channel, and the consumers that may be on it.
    pub(super) fn into_parts(self) -> (Channel, Vec<ShortString>) {
        (self.channel, self.tags)
    }

    /// The next batch. An error says why there is none any more. Safe to drop.
    pub(super) async fn next_batch(&mut self) -> Result<Vec<Delivery>, String> {
        loop {
            self.change().await?;
            if let Some(batch) = self.ready() {
                return Ok(batch);
            }
            if self.is_drained() {
                if self.outstanding.is_empty() {
                    self.phase = Phase::Waiting;
                    continue;
                }
                // Something is in hand that was not settled, and nothing may be beside a suspect.
                return Err(lost(&self.channel).await);
            }
            let gathering = !self.gathered.is_empty();
            tokio::select! {
                biased;
                item = self.consumers.next() => self.take_in(item)?,
                () = sleep_until(self.hand_out_at), if gathering => return Ok(self.hand_out()),
            }
        }
    }

    /// Brings to its end what is under way at the broker.
    async fn change(&mut self) -> Result<(), String> {
        if matches!(self.phase, Phase::Waiting) {
            let turn = tokio::select! {
                turn = Arc::clone(&self.turn).lock_owned() => turn,
                reason = lost(&self.channel) => return Err(reason),
            };
            self.phase = Phase::Looking { _turn: turn };
            self.consume(LOOKING_PREFETCH);
        }
        let Some(changing) = &mut self.changing else {
            return Ok(());
        };
        let changed = changing.await;
        self.changing = None;
        match changed {
            Ok(Ok(consumer)) => {
                self.tags.extend(consumer.iter().map(Consumer::tag));
                self.consumers.extend(consumer);
                Ok(())
            }
            Ok(Err(error)) => Err(describe(&error)),
            Err(error) => Err(describe(&error)),
        }
    }

    /// Has one more consumer started.
    fn consume(&mut self, prefetch: u16) {
        let (channel, queue) = (self.channel.clone(), self.queue.clone());
        self.changing = Some(tokio::spawn(async move {
            // Before the consumer starts: what lapin has received it keeps without bound.
            channel.basic_qos(prefetch, BasicQosOptions::default()).await?;
            let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
            channel.basic_consume(queue.into(), "".into(), options, arguments).await.map(Some)
        }));
    }

    /// Has all consumers ended; what they were sent before still comes.
    fn drain(&mut self) {
        self.phase = Phase::Draining;
        let (channel, tags) = (self.channel.clone(), std::mem::take(&mut self.tags));
        self.changing = Some(tokio::spawn(async move {
            for tag in tags {
                channel.basic_cancel(tag, BasicCancelOptions::default()).await?;
            }
            Ok(None)
        }));
    }

    /// Everything that was sent has come.
    fn is_drained(&self) -> bool {
        matches!(self.phase, Phase::Draining) && self.consumers.is_empty()
    }

    /// Takes in what a consumer gave; an error when they have ended.
    fn take_in(&mut self, item: Option<lapin::Result<lapin::message::Delivery>>) -> Result<(), String> {
        let message = match item {
            Some(Ok(message)) => message,
            Some(Err(error)) => return Err(error.to_string()),
            None if matches!(self.phase, Phase::Draining) => return Ok(()),
            None => {
                return Err("the broker cancelled the consumer, as when its queue is deleted".to_owned());
            }
        };
        let returns = wire::returns(&message.properties);
        let tag = message.delivery_tag;
        self.outstanding.insert(tag, message.acker);
        let delivery = wire::read(tag, &message.properties, Bytes::from(message.data));
        if returns >= ALONE_AFTER_RETURNS {
            self.suspects.push(Suspect { returns, delivery });
            if matches!(self.phase, Phase::Open) {
                self.drain();
            }
            return Ok(());
        }
        if self.gathered.is_empty() {
            self.hand_out_at = Instant::now() + self.settings.linger;
        }
        self.gathered.push(delivery);
        if matches!(self.phase, Phase::Looking { .. }) {
            // The turn is free for others, too.
            self.phase = Phase::Open;
            let more = self.settings.prefetch.saturating_sub(LOOKING_PREFETCH);
            if more > 0 {
                self.consume(more);
            }
        }
        Ok(())
    }

    /// What is handed out without waiting for more.
    fn ready(&mut self) -> Option<Vec<Delivery>> {
        if !self.gathered.is_empty() {
            let full = self.gathered.len() >= self.batch_max();
            return (full || self.is_drained()).then(|| self.hand_out());
        }
        // All that was handed out is settled, so it will be alone in hand.
        let alone = !self.suspects.is_empty() && self.suspects.len() == self.outstanding.len();
        let more_may_come = matches!(self.phase, Phase::Draining) && !self.is_drained();
        (alone && !more_may_come).then(|| self.suspect())
    }

    fn batch_max(&self) -> usize {
        self.settings.batch_max.max(1)
    }

    /// The oldest of what is gathered: it comes by more than one consumer.
    fn hand_out(&mut self) -> Vec<Delivery> {
        self.gathered.sort_unstable_by_key(|delivery| delivery.token);
        let rest = self.gathered.split_off(self.batch_max().min(self.gathered.len()));
        std::mem::replace(&mut self.gathered, rest)
    }

    fn suspect(&mut self) -> Vec<Delivery> {
        let shuffle = &self.shuffle;
        self.suspects.sort_by_cached_key(|suspect| {
            Reverse((suspect.returns, shuffle.hash_one(suspect.delivery.token)))
        });
        self.suspects.pop().map(|suspect| suspect.delivery).into_iter().collect()
    }
}

/// Waits until the channel is gone, and says so.
async fn lost(channel: &Channel) -> String {
    while channel.status().connected() {
        sleep(CHANNEL_CHECK_INTERVAL).await;
    }
    "the channel is closed".to_owned()
}
