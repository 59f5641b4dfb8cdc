//! One consumer of the queue file.

use std::collections::HashSet;
use std::sync::Arc;

use application::error_chain::describe;
use application::ports::BoxError;
use application::ports::event_queue::{Action, Delivery, QueueError, SettleReport, Settlement, Subscription};
use async_trait::async_trait;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::queue::{ConsumeSettings, failed};
use crate::outbound::embedded::{Claimed, EmbeddedBroker, Onward, Step, SubscriptionId};

const CONSUMING: &str = "consuming from the queue file";
const SETTLING: &str = "settling in the queue file";

pub(super) struct EmbeddedSubscription {
    broker: Arc<EmbeddedBroker>,
    id: SubscriptionId,
    settings: ConsumeSettings,
    changed: watch::Receiver<()>,
    /// A claim on its way. Kept here, so that dropping `next_batch` loses nothing.
    claiming: Option<JoinHandle<Result<Claimed, BoxError>>>,
    /// Claimed and not handed out.
    gathered: Vec<Delivery>,
    /// When the batch that is being gathered is handed out even if it is not full.
    hand_out_at: Instant,
    /// No more fits into the batch that is being gathered.
    full: bool,
    /// When to look again even if nobody tells.
    due_at: Option<Instant>,
    /// Claimed and not settled, by token.
    outstanding: HashSet<u64>,
    ended: Option<String>,
}

/// Why waiting for more is over.
enum Woken {
    LookAgain,
    HandOut,
}

impl EmbeddedSubscription {
    pub(super) fn new(broker: Arc<EmbeddedBroker>, id: SubscriptionId, settings: ConsumeSettings) -> Self {
        let changed = broker.claims().changes();
        Self {
            broker,
            id,
            settings,
            changed,
            claiming: None,
            gathered: Vec::new(),
            hand_out_at: Instant::now(),
            full: false,
            due_at: None,
            outstanding: HashSet::new(),
            ended: None,
        }
    }

    /// How many more fit into the batch and under the bound.
    fn room(&self) -> usize {
        let batch = self.settings.batch_max.max(1).saturating_sub(self.gathered.len());
        let unsettled = usize::from(self.settings.prefetch.max(1)).saturating_sub(self.outstanding.len());
        batch.min(unsettled)
    }

    /// Takes what is ready now, as far as there is room. Safe to drop: the claim goes on and is taken in by the
    /// next call.
    async fn claim(&mut self, room: usize) -> Result<(), QueueError> {
        if self.claiming.is_none() {
            // Before the claim reads: what changes after this wakes the wait that follows.
            self.changed.borrow_and_update();
        }
        let claiming = self.claiming.get_or_insert_with(|| {
            let (claims, id) = (Arc::clone(self.broker.claims()), self.id);
            tokio::task::spawn_blocking(move || claims.claim(id, room))
        });
        let claimed = claiming.await;
        self.claiming = None;
        let claimed = match claimed {
            Ok(Ok(claimed)) => claimed,
            Ok(Err(error)) => return Err(self.end(CONSUMING, describe(&*error))),
            Err(error) => return Err(self.end(CONSUMING, describe(&error))),
        };
        if self.gathered.is_empty() {
            self.hand_out_at = Instant::now() + self.settings.linger;
        }
        self.due_at = claimed.due_in.map(|due_in| Instant::now() + due_in);
        self.outstanding.extend(claimed.deliveries.iter().map(|delivery| delivery.token));
        self.gathered.extend(claimed.deliveries);
        self.full = claimed.heavy || self.room() == 0;
        Ok(())
    }

    /// Waits until there may be more, or the linger time is over.
    async fn wait(&mut self) -> Woken {
        let gathering = !self.gathered.is_empty();
        let due_at = self.due_at;
        tokio::select! {
            biased;
            () = sleep_until(self.hand_out_at), if gathering => Woken::HandOut,
            // The sender lives as long as the broker, which this holds.
            _ = self.changed.changed() => Woken::LookAgain,
            () = sleep_until(due_at.unwrap_or_else(Instant::now)), if due_at.is_some() => Woken::LookAgain,
        }
    }

    fn hand_out(&mut self) -> Vec<Delivery> {
        self.full = false;
        std::mem::take(&mut self.gathered)
    }

    /// The subscription is of no use from now on.
    fn end(&mut self, doing: &str, reason: String) -> QueueError {
        self.broker.claims().end(self.id, Some(reason.clone()));
        self.ended = Some(reason.clone());
        failed(doing, reason)
    }

    fn step(&self, settlement: &Settlement) -> Result<Step, BoxError> {
        let Settlement { delivery, action } = settlement;
        if !self.outstanding.contains(&delivery.token) {
            return Err("a delivery is not one of this subscription, or was settled before".into());
        }
        let now = self.broker.clock().now();
        let onward = match action {
            Action::Acknowledge => Onward::Gone,
            Action::RetryAfter { .. } if delivery.content.is_err() => {
                return Err("an unreadable message cannot be tried again".into());
            }
            Action::RetryAfter { delay, failed_attempts, history } => {
                Onward::later(now.plus(*delay), *failed_attempts, history)?
            }
            Action::DeadLetter { reason, failed_attempts, history } => {
                Onward::dead_letter(reason, (*failed_attempts, history), now, self.broker.worker())?
            }
        };
        Ok(Step { id: delivery.token.cast_signed(), onward })
    }

    async fn settle_all(&mut self, settlements: &[Settlement]) -> Result<(), BoxError> {
        let mut steps = Vec::with_capacity(settlements.len());
        for settlement in settlements {
            steps.push(self.step(settlement)?);
        }
        let tokens: HashSet<u64> = settlements.iter().map(|settlement| settlement.delivery.token).collect();
        if tokens.len() < settlements.len() {
            return Err("a delivery is settled twice".into());
        }
        let ids: Vec<i64> = steps.iter().map(|step| step.id).collect();
        let answered = self.broker.settle(steps).ok_or("this process is stopping")?;
        let (claims, subscription) = (Arc::clone(self.broker.claims()), self.id);
        // A task of its own: when the caller goes away meanwhile, the rows are still let go after the commit.
        let settling = tokio::spawn(async move {
            let written = answered.await;
            if matches!(written, Ok(Ok(()))) {
                claims.settled(subscription, &ids);
            }
            written
        });
        match settling.await?? {
            Ok(()) => {
                self.outstanding.retain(|token| !tokens.contains(token));
                Ok(())
            }
            Err(reason) => Err(reason.into()),
        }
    }
}

#[async_trait]
impl Subscription for EmbeddedSubscription {
    async fn next_batch(&mut self) -> Result<Vec<Delivery>, QueueError> {
        loop {
            if let Some(reason) = &self.ended {
                return Err(failed(CONSUMING, reason.clone()));
            }
            let gathering = !self.gathered.is_empty();
            if gathering && (self.full || Instant::now() >= self.hand_out_at) {
                return Ok(self.hand_out());
            }
            // Even without room, to find out whether the subscription has ended.
            let room = self.room();
            self.claim(room).await?;
            if self.full && !self.gathered.is_empty() {
                continue;
            }
            if matches!(self.wait().await, Woken::HandOut) {
                return Ok(self.hand_out());
            }
        }
    }

    async fn settle(&mut self, settlements: Vec<Settlement>) -> Result<SettleReport, QueueError> {
        if let Some(reason) = &self.ended {
            return Err(failed(SETTLING, reason.clone()));
        }
        match self.settle_all(&settlements).await {
            Ok(()) => Ok(SettleReport::default()),
            // It may be settled all the same: only a new subscription knows where it stands.
            Err(error) => Err(self.end(SETTLING, describe(&*error))),
        }
    }

    async fn close(self: Box<Self>) -> Result<(), QueueError> {
        // By being dropped.
        Ok(())
    }
}

impl Drop for EmbeddedSubscription {
    fn drop(&mut self) {
        self.broker.claims().end(self.id, None);
    }
}
