//! Takes dead letters from the queue file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use application::error_chain::describe;
use application::ports::BoxError;
use application::ports::dead_letter_queue::{DeadLetterMessage, DeadLetterQueue, DeadLetterSubscription};
use application::ports::event_queue::QueueError;
use async_trait::async_trait;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::queue::failed;
use crate::outbound::embedded::{ClaimedLetters, EmbeddedBroker, Room, SubscriptionId};

const TAKING: &str = "taking dead letters from the queue file";
const ACKNOWLEDGING: &str = "acknowledging dead letters in the queue file";

/// How much of the dead letters may be in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeadLetterSettings {
    /// How many letters may be handed out and not acknowledged.
    pub in_hand_max: u16,
    /// How many bytes of payloads. One letter that has more is handed out alone.
    pub in_hand_bytes_max: usize,
    /// How long a batch waits for more after its first letter.
    pub linger: Duration,
}

impl Default for DeadLetterSettings {
    fn default() -> Self {
        Self { in_hand_max: 64, in_hand_bytes_max: 32 * 1024 * 1024, linger: Duration::from_millis(50) }
    }
}

/// The dead letters of the queue file.
pub struct EmbeddedDeadLetterQueue {
    broker: Arc<EmbeddedBroker>,
    settings: DeadLetterSettings,
}

impl EmbeddedBroker {
    /// Takes dead letters.
    pub fn dead_letter_queue(self: &Arc<Self>, settings: DeadLetterSettings) -> Arc<EmbeddedDeadLetterQueue> {
        Arc::new(EmbeddedDeadLetterQueue { broker: Arc::clone(self), settings })
    }
}

struct EmbeddedDeadLetterSubscription {
    broker: Arc<EmbeddedBroker>,
    id: SubscriptionId,
    settings: DeadLetterSettings,
    changed: watch::Receiver<()>,
    /// A claim on its way. Kept here, so that dropping `next_batch` loses nothing.
    claiming: Option<JoinHandle<Result<ClaimedLetters, BoxError>>>,
    /// Claimed and not handed out.
    gathered: Vec<DeadLetterMessage>,
    /// When the batch that is being gathered is handed out even if it is not full.
    hand_out_at: Instant,
    /// No more fits in hand.
    full: bool,
    /// Claimed and not acknowledged: the bytes of the payload by token.
    in_hand: BTreeMap<u64, usize>,
    ended: Option<String>,
}

#[async_trait]
impl DeadLetterQueue for EmbeddedDeadLetterQueue {
    async fn subscribe(&self) -> Result<Box<dyn DeadLetterSubscription>, QueueError> {
        let letters = self.broker.letters();
        let changed = letters.changes();
        let Some(id) = letters.register() else {
            return Err(failed(TAKING, "this process is stopping"));
        };
        Ok(Box::new(EmbeddedDeadLetterSubscription {
            broker: Arc::clone(&self.broker),
            id,
            settings: self.settings,
            changed,
            claiming: None,
            gathered: Vec::new(),
            hand_out_at: Instant::now(),
            full: false,
            in_hand: BTreeMap::new(),
            ended: None,
        }))
    }
}

impl EmbeddedDeadLetterSubscription {
    fn room(&self) -> Room {
        let bytes: usize = self.in_hand.values().sum();
        Room {
            letters: usize::from(self.settings.in_hand_max.max(1)).saturating_sub(self.in_hand.len()),
            bytes: self.settings.in_hand_bytes_max.saturating_sub(bytes),
            empty_handed: self.in_hand.is_empty(),
        }
    }

    /// Takes what there is, as far as there is room. Safe to drop: the claim goes on and is taken in by the next
    /// call.
    async fn claim(&mut self) -> Result<(), QueueError> {
        if self.claiming.is_none() {
            // Before the claim reads: what changes after this wakes the wait that follows.
            self.changed.borrow_and_update();
        }
        let room = self.room();
        let claiming = self.claiming.get_or_insert_with(|| {
            let (letters, id) = (Arc::clone(self.broker.letters()), self.id);
            tokio::task::spawn_blocking(move || letters.claim(id, room))
        });
        let claimed = claiming.await;
        self.claiming = None;
        let claimed = match claimed {
            Ok(Ok(claimed)) => claimed,
            Ok(Err(error)) => return Err(self.end(TAKING, describe(&*error))),
            Err(error) => return Err(self.end(TAKING, describe(&error))),
        };
        if self.gathered.is_empty() {
            self.hand_out_at = Instant::now() + self.settings.linger;
        }
        for (letter, bytes) in claimed.letters {
            self.in_hand.insert(letter.token, bytes);
            self.gathered.push(letter);
        }
        self.full = claimed.more || self.room().letters == 0;
        Ok(())
    }

    /// The subscription is of no use from now on.
    fn end(&mut self, doing: &str, reason: String) -> QueueError {
        self.broker.letters().end(self.id);
        self.ended = Some(reason.clone());
        failed(doing, reason)
    }

    async fn take_off(&mut self, tokens: &[u64]) -> Result<(), BoxError> {
        if !tokens.iter().all(|token| self.in_hand.contains_key(token)) {
            return Err("a dead letter is not one of this subscription, or was acknowledged before".into());
        }
        let ids: Vec<i64> = tokens.iter().map(|token| token.cast_signed()).collect();
        let answered = self.broker.take_off(ids.clone()).ok_or("this process is stopping")?;
        let (letters, subscription) = (Arc::clone(self.broker.letters()), self.id);
        // A task of its own: when the caller goes away meanwhile, the letters are still let go after the commit.
        let taking_off = tokio::spawn(async move {
            let written = answered.await;
            if matches!(written, Ok(Ok(()))) {
                letters.taken_off(subscription, &ids);
            }
            written
        });
        taking_off.await???;
        self.in_hand.retain(|token, _| !tokens.contains(token));
        Ok(())
    }
}

#[async_trait]
impl DeadLetterSubscription for EmbeddedDeadLetterSubscription {
    async fn next_batch(&mut self) -> Result<Vec<DeadLetterMessage>, QueueError> {
        loop {
            if let Some(reason) = &self.ended {
                return Err(failed(TAKING, reason.clone()));
            }
            let gathering = !self.gathered.is_empty();
            if gathering && (self.full || Instant::now() >= self.hand_out_at) {
                return Ok(std::mem::take(&mut self.gathered));
            }
            // Even without room, to find out whether the subscription has ended.
            self.claim().await?;
            let gathering = !self.gathered.is_empty();
            if gathering && self.full {
                continue;
            }
            tokio::select! {
                biased;
                () = sleep_until(self.hand_out_at), if gathering => {}
                // The sender lives as long as the broker, which this holds.
                _ = self.changed.changed() => {}
            }
        }
    }

    async fn acknowledge(&mut self, tokens: Vec<u64>) -> Result<(), QueueError> {
        if let Some(reason) = &self.ended {
            return Err(failed(ACKNOWLEDGING, reason.clone()));
        }
        match self.take_off(&tokens).await {
            Ok(()) => Ok(()),
            // They may be taken off all the same: only a new subscription knows where it stands.
            Err(error) => Err(self.end(ACKNOWLEDGING, describe(&*error))),
        }
    }

    async fn close(self: Box<Self>) -> Result<(), QueueError> {
        // By being dropped.
        Ok(())
    }
}

impl Drop for EmbeddedDeadLetterSubscription {
    fn drop(&mut self) {
        self.broker.letters().end(self.id);
    }
}
