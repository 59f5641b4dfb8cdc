//! One batch: taken, sent, judged, settled.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::held_lease::HeldLease;
use super::judgement::{Judgement, judge};
use super::{RelayOutbox, STOP_GRACE};
use crate::cloud_event;
use crate::ports::destination::{DeliveryOutcome, RenderedMessage};
use crate::ports::outbox::{OutboxEntry, OutboxError, Settled, Standing, Verdict};

/// How a round ended.
pub(super) enum Round {
    /// There was nothing to hand out.
    Idle {
        /// But there may be now.
        more: bool,
    },
    /// The batch is settled, and something of it delivered or passed over.
    Moved {
        /// There may be more.
        more: bool,
    },
    /// The batch is settled, and everything that was sent was refused.
    Refused,
    /// The destination takes nothing; nothing is settled.
    Away {
        /// What happened to the first message.
        error: String,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// It was cut short by a stop; nothing is settled.
    Stopped,
}

impl RelayOutbox {
    pub(super) async fn round(
        &self,
        lease: &mut HeldLease,
        limit: usize,
        stop: &CancellationToken,
    ) -> Result<Round, OutboxError> {
        let batch = lease.next(limit).await?;
        if batch.entries.is_empty() {
            return Ok(Round::Idle { more: batch.more });
        }
        let to_send: Vec<RenderedMessage> =
            batch.entries.iter().filter(|entry| self.is_sent(entry)).map(rendered).collect();
        let Some(outcomes) = self.send(lease, &to_send, stop).await? else {
            return Ok(Round::Stopped);
        };
        let mut outcomes = outcomes.into_iter();
        let told: Vec<(OutboxEntry, Option<DeliveryOutcome>)> = batch
            .entries
            .into_iter()
            .map(|entry| {
                let outcome =
                    self.is_sent(&entry).then(|| outcomes.next().unwrap_or(DeliveryOutcome::NotTried));
                (entry, outcome)
            })
            .collect();
        match judge(told, &self.route) {
            Judgement::Away { error, retry_after } => Ok(Round::Away { error, retry_after }),
            Judgement::Settle { settled, delivered, refused_all } => {
                let counts = Counts::of(&settled);
                self.report_failed(&settled);
                lease.settle(settled).await?;
                self.count(delivered, &counts);
                Ok(if refused_all { Round::Refused } else { Round::Moved { more: batch.more } })
            }
        }
    }

    /// Whether the entry is sent in this round. What is not wanted is done; what is behind another waits.
    fn is_sent(&self, entry: &OutboxEntry) -> bool {
        self.route.kinds.wants(&entry.kind) && entry.standing != Standing::Behind
    }

    /// Sends, and keeps the lease meanwhile. `None` when a stop cut it short.
    async fn send(
        &self,
        lease: &mut HeldLease,
        messages: &[RenderedMessage],
        stop: &CancellationToken,
    ) -> Result<Option<Vec<DeliveryOutcome>>, OutboxError> {
        if messages.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let sending = async {
            tokio::select! {
                outcomes = self.destination.deliver(messages) => Some(outcomes),
                () = async {
                    stop.cancelled().await;
                    tokio::time::sleep(STOP_GRACE).await;
                } => None,
            }
        };
        lease.keep_during(sending).await
    }

    fn report_failed(&self, settled: &[Settled]) {
        let name = self.route.name.as_str();
        for Settled { entry, verdict } in settled {
            match verdict {
                Verdict::Failed { attempts, error } => {
                    let id = entry.id.as_str();
                    warn!(destination = name, message.id = id, attempts, error, "gave up the message {id}");
                }
                Verdict::TryAgain { attempts, error, .. } => {
                    let id = entry.id.as_str();
                    tracing::debug!(
                        destination = name,
                        message.id = id,
                        attempts,
                        error,
                        "not delivered: {id}"
                    );
                }
                Verdict::Done | Verdict::Behind => {}
            }
        }
    }

    fn count(&self, delivered: usize, counts: &Counts) {
        let name = self.route.name.as_str();
        if delivered > 0 {
            self.observer.delivered(name, delivered);
        }
        if counts.retried > 0 {
            self.observer.retried(name, counts.retried);
        }
        if counts.failed > 0 {
            self.observer.failed(name, counts.failed);
        }
    }
}

/// What there is to count of a batch.
struct Counts {
    retried: usize,
    failed: usize,
}

impl Counts {
    fn of(settled: &[Settled]) -> Self {
        let count = |is: fn(&Verdict) -> bool| settled.iter().filter(|settled| is(&settled.verdict)).count();
        Self {
            retried: count(|verdict| matches!(verdict, Verdict::TryAgain { .. })),
            failed: count(|verdict| matches!(verdict, Verdict::Failed { .. })),
        }
    }
}

fn rendered(entry: &OutboxEntry) -> RenderedMessage {
    RenderedMessage {
        id: entry.id.clone(),
        kind: entry.kind.clone(),
        payment: (entry.source.clone(), entry.payment_id.clone()),
        body: cloud_event::render(entry),
    }
}
