//! Tells people what fails: one alert for each group of failures in each window.
//!
//! It looks at what the store keeps and holds nobody up: whoever archives dead letters does not know of it. Which
//! group somebody was told of is in the store, so it is one alert over restarts and however many workers there are;
//! at least one, since what was sent and could not be written down is sent again, under the same id.

use std::sync::Arc;
use std::time::Duration;

use domain::ConsumerName;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::alert::render;
use crate::backoff::waits;
use crate::dead_letter::LetterFilter;
use crate::error_chain::describe;
use crate::ports::alert_channel::{AlertChannel, NotSent};
use crate::ports::alert_log::{AfterFailure, AlertClaim, AlertLog, ClaimedAlert};
use crate::ports::alert_observer::{AlertObserver, AlertOutcome};
use crate::ports::dead_letters::DeadLetters;
use crate::ports::unit_of_work::StoreError;

/// The longest wait while the store is away.
const BACKOFF_MAX: Duration = Duration::from_mins(1);

/// How alerts are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertSettings {
    /// Whose dead letters they are about.
    pub consumer: ConsumerName,
    /// Who sends, how long it may take, and how often there may be an alert.
    pub claim: AlertClaim,
    /// How often it is looked for what is new.
    pub poll: Duration,
    /// How often an alert is tried in its window.
    pub attempts_max: u32,
    /// The first wait before an alert is tried again; it doubles.
    pub retry_delay: Duration,
    /// The longest of these waits.
    pub retry_delay_max: Duration,
    /// Where operators find what is told; empty for nowhere.
    pub link_base: String,
}

impl AlertSettings {
    /// What becomes of an alert that has failed so often, this time included.
    fn after(&self, failures: u32) -> AfterFailure {
        if failures >= self.attempts_max {
            return AfterFailure::GiveUp;
        }
        let doubled = self.retry_delay.saturating_mul(1 << failures.saturating_sub(1).min(20));
        AfterFailure::TryAgain(doubled.min(self.retry_delay_max))
    }
}

/// The alerts of one process; any number of processes may run them.
pub struct AlertFailures {
    log: Arc<dyn AlertLog>,
    letters: Arc<dyn DeadLetters>,
    channel: Arc<dyn AlertChannel>,
    observer: Arc<dyn AlertObserver>,
    settings: AlertSettings,
}

impl AlertFailures {
    /// Tells of the groups of `letters` through `channel`.
    pub fn new(
        log: Arc<dyn AlertLog>,
        letters: Arc<dyn DeadLetters>,
        channel: Arc<dyn AlertChannel>,
        observer: Arc<dyn AlertObserver>,
        settings: AlertSettings,
    ) -> Self {
        Self { log, letters, channel, observer, settings }
    }

    /// Runs until `stop`. An alert in hand is left then: its lease ends, and whoever asks sends it.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut backoff = self.backoff();
        while !stop.is_cancelled() {
            let round = tokio::select! {
                () = stop.cancelled() => return,
                round = self.round() => round,
            };
            let wait = match round {
                Ok(()) => {
                    backoff = self.backoff();
                    self.settings.poll
                }
                Err(error) => {
                    warn!(error = describe(&error), "failures cannot be looked for now; trying again");
                    backoff.next().unwrap_or(BACKOFF_MAX)
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Sends what there is to send, until there is nothing more or something cannot be sent: then the next would
    /// hardly fare better.
    async fn round(&self) -> Result<(), StoreError> {
        while let Some(claimed) = self.log.claim(&self.settings.claim).await? {
            if !self.tell(&claimed).await? {
                break;
            }
        }
        Ok(())
    }

    /// Whether the alert was sent.
    async fn tell(&self, claimed: &ClaimedAlert) -> Result<bool, StoreError> {
        let filter = LetterFilter { group: Some(claimed.group), ..LetterFilter::default() };
        let Some(totals) = self.letters.groups(&filter, 1).await?.pop() else {
            // There is no letter of it any more, so there is nothing to tell.
            self.log.sent(claimed).await?;
            return Ok(true);
        };
        let settings = &self.settings;
        let alert = render(claimed, &totals, &settings.consumer, &settings.link_base);
        match self.channel.send(&alert).await {
            Ok(()) => {
                self.observer.alert(AlertOutcome::Sent);
                info!(alert = alert.id, new = claimed.new_letters, "told of a group of failures");
                self.log.sent(claimed).await?;
                Ok(true)
            }
            Err(NotSent(reason)) => {
                let failures = claimed.failures.saturating_add(1);
                let then = settings.after(failures);
                self.complain(&alert.id, &reason, failures, then);
                self.log.failed(claimed, &settings.claim.owner, then).await?;
                Ok(false)
            }
        }
    }

    fn complain(&self, alert: &str, reason: &str, failures: u32, then: AfterFailure) {
        match then {
            AfterFailure::TryAgain(wait) => {
                self.observer.alert(AlertOutcome::Failed);
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                warn!(alert, error = reason, failures, wait_ms, "an alert cannot be sent; trying again");
            }
            AfterFailure::GiveUp => {
                self.observer.alert(AlertOutcome::GivenUp);
                error!(
                    alert,
                    error = reason,
                    failures,
                    "an alert was given up; what it would have told is told with the next window, if that can be \
                     sent: mend [alerts]"
                );
            }
        }
    }

    fn backoff(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        waits(self.settings.poll, BACKOFF_MAX)
    }
}

#[cfg(test)]
mod tests;
