//! Which failures somebody was told of.

use std::time::Duration;

use async_trait::async_trait;
use domain::Timestamp;

use super::unit_of_work::StoreError;
use crate::dead_letter::{DeadLetterId, FailureGroup};

/// Who wants to send an alert, and how often there may be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertClaim {
    /// Who sends, by a name that no other has.
    pub owner: String,
    /// How long nobody else sends it.
    pub lease: Duration,
    /// A group has one alert at most in this time. It begins with the first claim.
    pub window: Duration,
}

/// An alert to send: a group has open letters that no alert has told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedAlert {
    /// Which group.
    pub group: FailureGroup,
    /// When its window began. Group and beginning tell an alert from all others, however often it is tried.
    pub began: Timestamp,
    /// How often sending it has failed.
    pub failures: u32,
    /// How many open letters no alert has told of.
    pub new_letters: u64,
    /// The newest of them.
    pub newest: DeadLetterId,
}

/// What becomes of an alert that could not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// Whoever asks gets it again, after this wait.
    TryAgain(Duration),
    /// Nobody gets it again. What it would have told is new in the next window.
    GiveUp,
}

/// Remembers alerts about one consumer's letters. Time is the store's.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait AlertLog: Send + Sync {
    /// The next alert to send, leased to whoever asks; `None` where there is nothing to tell. Of several who ask
    /// at once one at most MUST get a group's alert; a lease that is over MUST be given to whoever asks. A group
    /// whose window is not over MUST NOT have another alert, whatever is new in it.
    async fn claim(&self, claim: &AlertClaim) -> Result<Option<ClaimedAlert>, StoreError>;

    /// The alert was sent, whoever has its lease by now: its letters are new no more.
    async fn sent(&self, alert: &ClaimedAlert) -> Result<(), StoreError>;

    /// It could not be sent. MUST change nothing unless `owner` still has it.
    async fn failed(&self, alert: &ClaimedAlert, owner: &str, then: AfterFailure) -> Result<(), StoreError>;
}
