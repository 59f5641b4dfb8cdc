//! Moves dead letters from the broker into the store: stores first, acknowledges after.

use std::sync::Arc;
use std::time::Duration;

use domain::ConsumerName;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::backoff::waits;
use crate::dead_letter::NewDeadLetter;
use crate::error_chain::describe;
use crate::ports::clock::Clock;
use crate::ports::dead_letter_observer::DeadLetterObserver;
use crate::ports::dead_letter_queue::{DeadLetterMessage, DeadLetterQueue, DeadLetterSubscription};
use crate::ports::dead_letters::DeadLetters;
use crate::ports::event_queue::QueueError;
use crate::ports::provider::Sources;
use crate::ports::unit_of_work::StoreError;

mod letter;

/// How the archive behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveSettings {
    /// Whose dead letters they are.
    pub consumer: ConsumerName,
    /// The longest wait between two tries to subscribe, or to store.
    pub backoff_max: Duration,
    /// How long messages are held while the store is away, before they go back to the queue. Must be well
    /// below the broker's consumer time-out (30 minutes by default).
    pub hold_max: Duration,
}

/// The first wait between two tries; it doubles up to [`ArchiveSettings::backoff_max`], with jitter.
const BACKOFF_FIRST: Duration = Duration::from_millis(100);

/// One archive: a subscription at a time, a batch at a time. Any number of them may run.
#[derive(Clone)]
pub struct ArchiveDeadLetters {
    queue: Arc<dyn DeadLetterQueue>,
    letters: Arc<dyn DeadLetters>,
    sources: Sources,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn DeadLetterObserver>,
    settings: ArchiveSettings,
}

/// How the work on a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Batch {
    Done,
    GiveBack,
}

/// What the store said of some letters.
enum Storing {
    Stored(u64),
    Refused(StoreError),
    GivenUp,
}

impl ArchiveDeadLetters {
    /// Takes from `queue` and stores in `letters`; `sources` tell what the letters are about.
    pub fn new(
        queue: Arc<dyn DeadLetterQueue>,
        letters: Arc<dyn DeadLetters>,
        sources: Sources,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn DeadLetterObserver>,
        settings: ArchiveSettings,
    ) -> Self {
        Self { queue, letters, sources, clock, observer, settings }
    }

    /// Runs until `stop` is cancelled, then finishes the batch in hand. A subscription that ends for any
    /// reason is opened anew, with backoff.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut waits = self.backoff();
        while !stop.is_cancelled() {
            let ended = match self.queue.subscribe().await {
                Ok(mut subscription) => {
                    let ended = self.archive(subscription.as_mut(), stop).await;
                    waits = self.backoff();
                    if let Err(error) = subscription.close().await {
                        info!(error = describe(&error), "the dead-letter subscription did not close cleanly");
                    }
                    ended
                }
                Err(error) => Err(error),
            };
            if let Err(error) = ended {
                let wait = waits.next().unwrap_or(self.settings.backoff_max);
                warn!(error = describe(&error), "the dead-letter subscription ended; subscribing again");
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(wait) => {}
                }
            }
        }
    }

    /// Archives until `stop` (`Ok`), until the store has been away for too long (`Ok`), or until the
    /// subscription is of no use (`Err`).
    async fn archive(
        &self,
        subscription: &mut dyn DeadLetterSubscription,
        stop: &CancellationToken,
    ) -> Result<(), QueueError> {
        loop {
            let messages = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                batch = subscription.next_batch() => batch?,
            };
            if self.batch(subscription, messages, stop).await? == Batch::GiveBack {
                return Ok(());
            }
        }
    }

    /// Stores and acknowledges one batch. When it is refused for good, each message is stored by itself, so
    /// that only the culprit stays behind.
    async fn batch(
        &self,
        subscription: &mut dyn DeadLetterSubscription,
        messages: Vec<DeadLetterMessage>,
        stop: &CancellationToken,
    ) -> Result<Batch, QueueError> {
        let now = self.clock.now();
        let mut tokens = Vec::with_capacity(messages.len());
        let mut letters = Vec::with_capacity(messages.len());
        for message in messages {
            tokens.push(message.token);
            letters.push(letter::of_message(message, &self.settings.consumer, &self.sources, now));
        }
        match self.store(&letters, stop).await {
            Storing::Stored(new) => {
                info!(count = letters.len(), new, "dead letters stored");
                subscription.acknowledge(tokens).await?;
                return Ok(Batch::Done);
            }
            Storing::GivenUp => return Ok(Batch::GiveBack),
            Storing::Refused(error) if letters.len() == 1 => leave_behind(&letters, &error),
            Storing::Refused(_) => {
                for (letter, token) in letters.chunks(1).zip(tokens) {
                    match self.store(letter, stop).await {
                        Storing::Stored(_) => subscription.acknowledge(vec![token]).await?,
                        Storing::Refused(error) => leave_behind(letter, &error),
                        Storing::GivenUp => return Ok(Batch::GiveBack),
                    }
                }
            }
        }
        Ok(Batch::Done)
    }

    /// Stores, trying again while the store is away.
    async fn store(&self, letters: &[NewDeadLetter], stop: &CancellationToken) -> Storing {
        let held_since = self.clock.now();
        let mut waits = self.backoff();
        loop {
            let error = match self.letters.store(letters.to_vec()).await {
                Ok(new) => {
                    self.observer.archived(new);
                    return Storing::Stored(new);
                }
                Err(error @ StoreError::Permanent(_)) => return Storing::Refused(error),
                Err(error) => error,
            };
            let wait = waits.next().unwrap_or(self.settings.backoff_max);
            warn!(error = describe(&error), count = letters.len(), "dead letters cannot be stored now");
            if self.clock.now().since(held_since) >= self.settings.hold_max {
                return Storing::GivenUp;
            }
            tokio::select! {
                () = stop.cancelled() => return Storing::GivenUp,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn backoff(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        waits(BACKOFF_FIRST, self.settings.backoff_max)
    }
}

/// Not acknowledged, so it stays in the queue, and comes again with the next subscription.
fn leave_behind(letters: &[NewDeadLetter], refusal: &StoreError) {
    for letter in letters {
        let key = letter.key.as_ref().map_or_else(|| "an unreadable message".to_owned(), ToString::to_string);
        error!(error = describe(refusal), "the store refuses the dead letter {key}; it stays in the queue");
    }
}

#[cfg(test)]
mod tests;
