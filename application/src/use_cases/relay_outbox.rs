//! Tells a destination what events have changed: every message at least once, a payment's messages in order.
//!
//! One relay at a time has a destination's lease. It takes a batch, sends it, and stores what became of it;
//! so a relay that dies in between has its successor send the batch again, under the same ids. A message that
//! is not taken waits on its own, with those behind it, and the others go on. When the destination takes
//! nothing at all, nothing is counted against any message.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::backoff::waits;
use crate::error_chain::describe;
use crate::ports::destination::Destination;
use crate::ports::outbox::{LeaseClaim, Outbox, OutboxError};
use crate::ports::relay_observer::RelayObserver;
use held_lease::HeldLease;
use round::Round;
pub use route::{KindFilter, Route};

mod held_lease;
mod judgement;
mod round;
mod route;

/// How a relay behaves, whatever its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelaySettings {
    /// The most messages that are sent together.
    pub batch_max: usize,
    /// How long a lease holds: how long it takes until another relay steps in for one that died.
    pub lease: Duration,
    /// How long to wait when there is nothing to send.
    pub poll: Duration,
    /// The longest wait between two tries to reach a destination, or the store, that is away.
    pub backoff_max: Duration,
}

/// The first wait between two tries; it doubles up to [`RelaySettings::backoff_max`], with jitter.
const BACKOFF_FIRST: Duration = Duration::from_millis(200);

/// How many messages, at most, find out whether a destination that was away is back. More than one, since it
/// may be one message that it cannot take.
const PROBE_MESSAGES: usize = 8;

/// After a stop signal: how long the batch that is being sent may take. What is not told by then is sent again
/// by the next relay.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// The relay to one destination.
pub struct RelayOutbox {
    outbox: Arc<dyn Outbox>,
    destination: Arc<dyn Destination>,
    observer: Arc<dyn RelayObserver>,
    route: Route,
    owner: String,
    settings: RelaySettings,
}

impl RelayOutbox {
    /// Relays from `outbox` to `destination` by `route`, as `owner`, a name that no other relay has.
    pub fn new(
        outbox: Arc<dyn Outbox>,
        destination: Arc<dyn Destination>,
        observer: Arc<dyn RelayObserver>,
        route: Route,
        owner: String,
        settings: RelaySettings,
    ) -> Self {
        Self { outbox, destination, observer, route, owner, settings }
    }

    /// Runs until `stop` is cancelled: stands by until the lease is to be had, relays while it holds, and
    /// starts over. On `stop` the batch in hand is brought to its end, and the lease given back.
    pub async fn run(&self, stop: &CancellationToken) {
        let name = self.route.name.as_str();
        let claim = LeaseClaim {
            destination: self.route.name.clone(),
            owner: self.owner.clone(),
            lease: self.settings.lease,
            start: self.route.start,
        };
        let mut waits = self.backoff();
        while !stop.is_cancelled() {
            let asked_at = tokio::time::Instant::now();
            let wait = match self.outbox.lease(&claim).await {
                Ok(Some(lease)) => {
                    waits = self.backoff();
                    self.lead(HeldLease::new(lease, self.settings.lease, asked_at), stop).await;
                    self.settings.poll
                }
                // A third of it: a lease that was given back is taken up soon.
                Ok(None) => self.settings.lease / 3,
                Err(error) => {
                    let wait = waits.next().unwrap_or(self.settings.backoff_max);
                    info!(
                        destination = name,
                        error = describe(&error),
                        "the outbox cannot be read; trying again"
                    );
                    wait
                }
            };
            sleep(wait, stop).await;
        }
    }

    /// Relays for as long as the lease holds, and until `stop`.
    async fn lead(&self, mut lease: HeldLease, stop: &CancellationToken) {
        let name = self.route.name.as_str();
        info!(destination = name, "relaying");
        self.observer.leading(name, true);
        let ended = self.relay(&mut lease, stop).await;
        self.observer.leading(name, false);
        match ended {
            Ok(()) => {
                if let Err(error) = lease.release().await {
                    info!(destination = name, error = describe(&error), "the lease was not given back");
                }
            }
            // The lease is kept by its owner's name, so it is to be had again at once, unless it is lost.
            Err(error) => warn!(destination = name, error = describe(&error), "relaying was interrupted"),
        }
    }

    async fn relay(&self, lease: &mut HeldLease, stop: &CancellationToken) -> Result<(), OutboxError> {
        let mut waits = self.backoff();
        let mut away = false;
        while !stop.is_cancelled() {
            let limit =
                if away { self.settings.batch_max.min(PROBE_MESSAGES) } else { self.settings.batch_max };
            let pause = match self.round(lease, limit, stop).await? {
                Round::Moved { more } => {
                    waits = self.backoff();
                    self.note_away(&mut away, false, "");
                    if more { Duration::ZERO } else { self.settings.poll }
                }
                Round::Idle { more } => {
                    if more {
                        Duration::ZERO
                    } else {
                        self.settings.poll
                    }
                }
                Round::Refused => waits.next().unwrap_or(self.settings.backoff_max),
                Round::Away { error, retry_after } => {
                    self.note_away(&mut away, true, &error);
                    let wait = waits.next().unwrap_or(self.settings.backoff_max);
                    wait.max(retry_after.unwrap_or_default())
                }
                Round::Stopped => break,
            };
            if !pause.is_zero() {
                lease.keep_during(sleep(pause, stop)).await?;
            }
        }
        Ok(())
    }

    fn note_away(&self, away: &mut bool, is_away: bool, error: &str) {
        let name = self.route.name.as_str();
        if std::mem::replace(away, is_away) == is_away {
            return;
        }
        self.observer.away(name, is_away);
        if is_away {
            warn!(destination = name, error, "the destination takes nothing; trying again until it does");
        } else {
            info!(destination = name, "the destination takes messages again");
        }
    }

    fn backoff(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        waits(BACKOFF_FIRST, self.settings.backoff_max)
    }
}

/// Sleeps, or until `stop`.
async fn sleep(time: Duration, stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(time) => {}
    }
}

#[cfg(test)]
mod tests;
