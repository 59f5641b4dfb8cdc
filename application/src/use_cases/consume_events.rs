//! Takes batches from the queue, processes them, and settles them after the commit.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span, warn};

use crate::backoff::waits;
use crate::disposition::{DeadLetterReason, Disposition, RetryClass};
use crate::envelope::{Envelope, TraceContext};
use crate::error_chain::describe;
use crate::ports::clock::Clock;
use crate::ports::event_queue::{Action, Delivery, EventQueue, QueueError, Settlement, Subscription};
use crate::ports::observer::Observer;
use crate::retry_policy::{Next, RetryPolicy, with_failure};
use crate::use_cases::process_events::ProcessEvents;

/// How a consumer behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsumeSettings {
    /// The budgets of an event.
    pub retry: RetryPolicy,
    /// The longest wait between two tries to subscribe, or two probes of a store that is away.
    pub backoff_max: Duration,
    /// How long events are held while the store is away, before they go back to the queue. Must be well
    /// below the broker's consumer time-out (30 minutes by default).
    pub hold_max: Duration,
}

/// The first wait between two tries; it doubles up to [`ConsumeSettings::backoff_max`], with jitter.
const BACKOFF_FIRST: Duration = Duration::from_millis(100);

/// One consumer: a subscription at a time, a batch at a time.
#[derive(Clone)]
pub struct ConsumeEvents {
    queue: Arc<dyn EventQueue>,
    process: ProcessEvents,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn Observer>,
    settings: ConsumeSettings,
}

/// How a wait for a store that is away ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    StoreIsBack,
    GiveBack,
}

impl ConsumeEvents {
    /// Takes from `queue` and processes by `process`.
    pub fn new(
        queue: Arc<dyn EventQueue>,
        process: ProcessEvents,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
        settings: ConsumeSettings,
    ) -> Self {
        Self { queue, process, clock, observer, settings }
    }

    /// Runs until `stop` is cancelled, then settles the batch in hand and gives the rest back. A
    /// subscription that ends for any reason is rebuilt, with backoff, once the store can be written to.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut waits = self.backoff();
        while !stop.is_cancelled() {
            if self.wait_for_store(stop, None).await == Held::GiveBack {
                break;
            }
            let ended = match self.queue.subscribe().await {
                Ok(mut subscription) => {
                    let ended = self.consume(subscription.as_mut(), stop).await;
                    waits = self.backoff();
                    if let Err(error) = subscription.close().await {
                        info!(error = describe(&error), "the subscription did not close cleanly");
                    }
                    ended
                }
                Err(error) => Err(error),
            };
            if let Err(error) = ended {
                self.observer.subscription_lost();
                let wait = waits.next().unwrap_or(self.settings.backoff_max);
                warn!(
                    error = describe(&error),
                    wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                    "the subscription ended; subscribing again"
                );
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(wait) => {}
                }
            }
        }
    }

    /// Consumes until `stop` (`Ok`), until the store has been away for too long (`Ok`), or until the
    /// subscription is of no use (`Err`).
    async fn consume(
        &self,
        subscription: &mut dyn Subscription,
        stop: &CancellationToken,
    ) -> Result<(), QueueError> {
        loop {
            let deliveries = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                batch = subscription.next_batch() => batch?,
            };
            let span = info_span!("process batch", batch.size = deliveries.len());
            let settled = self.run_batch(subscription, deliveries, stop).instrument(span).await?;
            if settled == Held::GiveBack {
                return Ok(());
            }
        }
    }

    /// Processes and settles one batch. While the store is away, holds what it could not do and tries again.
    async fn run_batch(
        &self,
        subscription: &mut dyn Subscription,
        deliveries: Vec<Delivery>,
        stop: &CancellationToken,
    ) -> Result<Held, QueueError> {
        let mut waiting = deliveries;
        let held_since = self.clock.now();
        let mut waits = self.backoff();
        loop {
            let (settlements, held) = self.process_batch(waiting).await;
            if !settlements.is_empty() {
                let report = subscription.settle(settlements).await?;
                if report.acks_lost > 0 {
                    warn!(count = report.acks_lost, "acknowledgements were lost; the events will come again");
                    self.observer.acks_lost(report.acks_lost);
                }
            }
            if held.is_empty() {
                return Ok(Held::StoreIsBack);
            }
            let left = self.settings.hold_max.saturating_sub(self.clock.now().since(held_since));
            // A store that answers the probe and still fails these events must not be asked in a hot loop.
            let pause = waits.next().unwrap_or(self.settings.backoff_max).min(left);
            tokio::select! {
                () = stop.cancelled() => return Ok(Held::GiveBack),
                () = tokio::time::sleep(pause) => {}
            }
            if left.is_zero() || self.wait_for_store(stop, Some(left)).await == Held::GiveBack {
                return Ok(Held::GiveBack);
            }
            waiting = held;
        }
    }

    /// The settlements of what was judged, and what must wait for the store.
    async fn process_batch(&self, deliveries: Vec<Delivery>) -> (Vec<Settlement>, Vec<Delivery>) {
        let started = self.clock.now();
        let size = deliveries.len();
        let envelopes: Vec<Envelope> =
            deliveries.iter().filter_map(|delivery| delivery.content.as_ref().ok().cloned()).collect();
        let producers: Vec<TraceContext> = envelopes
            .iter()
            .filter(|envelope| envelope.trace.traceparent.is_some())
            .map(|envelope| envelope.trace.clone())
            .collect();
        self.observer.batch_started(&producers);
        let mut dispositions = self.process.run(&envelopes).await.into_iter();
        let mut settlements = Vec::with_capacity(size);
        let mut held = Vec::new();
        for delivery in deliveries {
            let disposition = match &delivery.content {
                Err(unreadable) => {
                    Disposition::DeadLetter(DeadLetterReason::Unreadable(unreadable.reason.clone()))
                }
                Ok(_) => dispositions.next().unwrap_or_else(|| {
                    Disposition::Retry(RetryClass::Transient, "no verdict was given".to_owned())
                }),
            };
            self.report(&delivery, &disposition);
            if matches!(disposition, Disposition::Retry(RetryClass::DependencyDown, _)) {
                held.push(delivery);
                continue;
            }
            let action = self.action(&delivery, disposition);
            settlements.push(Settlement { delivery, action });
        }
        self.observer.batch_processed(size, self.clock.now().since(started));
        (settlements, held)
    }

    fn action(&self, delivery: &Delivery, disposition: Disposition) -> Action {
        match disposition {
            Disposition::Applied | Disposition::Duplicate(_) | Disposition::Recorded(_) => {
                Action::Acknowledge
            }
            Disposition::DeadLetter(reason) => self.dead_letter(delivery, reason),
            Disposition::Retry(class, error) => self.retry(delivery, class, error),
        }
    }

    fn retry(&self, delivery: &Delivery, class: RetryClass, error: String) -> Action {
        let history = with_failure(delivery.history.clone(), self.clock.now(), class, error.clone());
        // An event that waits for another has not failed.
        let failed_attempts = match class {
            RetryClass::NotReady => delivery.failed_attempts,
            _ => delivery.failed_attempts.saturating_add(1),
        };
        let age = match &delivery.content {
            Ok(envelope) => self.clock.now().since(envelope.queued_at),
            Err(_) => Duration::ZERO,
        };
        match self.settings.retry.after(class, failed_attempts, age, delivery.token) {
            Next::RetryAfter(delay) => {
                self.observer.event_retried(class.as_str());
                Action::RetryAfter { delay, failed_attempts, history }
            }
            Next::GiveUp => {
                let reason = match class {
                    RetryClass::NotReady => DeadLetterReason::NeverReady(error),
                    _ => DeadLetterReason::AttemptsExhausted(error),
                };
                self.observer.event_dead_lettered(&reason);
                Action::DeadLetter { reason, failed_attempts, history }
            }
        }
    }

    fn dead_letter(&self, delivery: &Delivery, reason: DeadLetterReason) -> Action {
        self.observer.event_dead_lettered(&reason);
        let (failed_attempts, history) = (delivery.failed_attempts, delivery.history.clone());
        Action::DeadLetter { reason, failed_attempts, history }
    }

    /// Waits until the store can be written to; `GiveBack` on `stop` and when `at_most` is over.
    async fn wait_for_store(&self, stop: &CancellationToken, at_most: Option<Duration>) -> Held {
        let since = self.clock.now();
        let mut waits = self.backoff();
        let mut paused = false;
        loop {
            let Err(error) = self.process.probe().await else {
                if paused {
                    info!("the store is back; processing goes on");
                    self.observer.paused(false);
                }
                return Held::StoreIsBack;
            };
            if !std::mem::replace(&mut paused, true) {
                warn!(error = describe(&error), "the store is away; processing is paused");
                self.observer.paused(true);
            }
            if at_most.is_some_and(|limit| self.clock.now().since(since) >= limit) {
                return Held::GiveBack;
            }
            tokio::select! {
                () = stop.cancelled() => return Held::GiveBack,
                () = tokio::time::sleep(waits.next().unwrap_or(self.settings.backoff_max)) => {}
            }
        }
    }

    fn backoff(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        waits(BACKOFF_FIRST, self.settings.backoff_max)
    }

    fn report(&self, delivery: &Delivery, disposition: &Disposition) {
        let Ok(envelope) = &delivery.content else {
            if let Disposition::DeadLetter(reason) = disposition {
                warn!(reason = reason.label(), detail = reason.detail(), "dead letter: not an envelope");
            }
            return;
        };
        let key = &envelope.key;
        self.observer.event_processed(&key.source, disposition, self.clock.now().since(envelope.received_at));
        let (source, id) = (key.source.as_str(), key.event_id.as_str());
        match disposition {
            Disposition::Applied => tracing::debug!(event.source = source, event.id = id, "applied {key}"),
            Disposition::Recorded(reason) => {
                info!(event.source = source, event.id = id, reason = reason.as_str(), "recorded {key}");
            }
            Disposition::Duplicate(layer) => {
                info!(event.source = source, event.id = id, layer = layer.as_str(), "duplicate {key}");
            }
            Disposition::Retry(class, error) => {
                let class = class.as_str();
                warn!(event.source = source, event.id = id, class, error, "failed {key}");
            }
            Disposition::DeadLetter(reason) => {
                let (label, detail) = (reason.label(), reason.detail());
                warn!(event.source = source, event.id = id, reason = label, detail, "dead letter {key}");
            }
        }
    }
}

#[cfg(test)]
mod tests;
