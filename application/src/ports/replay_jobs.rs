//! Replay jobs: which dead letters go back to the main queue, decided once and worked off step by step.

use std::time::Duration;

use async_trait::async_trait;

use super::unit_of_work::StoreError;
use crate::dead_letter::{DeadLetterId, NewDeadLetter, StateTotals};
use crate::operator::OperatorOrder;
use crate::replay::{
    FrozenJob, JobCommand, JobState, MarkedMember, NewReplayJob, ReplayJob, ReplayJobId, ReplayMember,
    Selection,
};

/// The most jobs of a page.
pub const JOBS_MAX: u32 = 200;

/// Who takes how much of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Take {
    /// Who takes, by a name that no other has.
    pub runner: String,
    /// At most so many letters.
    pub letters: u32,
    /// At most so many bytes of payloads, but always one letter.
    pub bytes: u64,
    /// How long nobody else gets them.
    pub lease: Duration,
    /// How long nobody gets any others.
    pub pause: Duration,
}

/// What is there to do for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextMembers {
    /// Publish these, the oldest first.
    Publish(Vec<ReplayMember>),
    /// Nothing yet: the pause is not over, or others have what is left.
    Wait(Duration),
    /// Nothing: the job does not run.
    NotRunning,
}

/// Keeps replay jobs of one consumer's letters. Time is the store's. Every order of an operator MUST be
/// written down in the transaction that carries it out.
///
/// A letter is in one job at most that is not done; the store MUST refuse anything else. An edited copy and
/// the letter that it was made of go together: both are replayed, or the letter is open again and the copy
/// discarded.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait ReplayJobs: Send + Sync {
    /// What is selected, by state: of this, a job would take the open ones. Changes nothing.
    async fn preview(&self, selection: &Selection) -> Result<Vec<StateTotals>, StoreError>;

    /// Takes the open letters of `selection` into a new job, the oldest first, in one transaction: nothing
    /// that comes later belongs to it. Two that race for a letter: the second MUST wait for the first and
    /// then leave it out. When there is nothing to take there MUST be no job.
    async fn create(&self, selection: &Selection, job: &NewReplayJob) -> Result<FrozenJob, StoreError>;

    /// Stores `copy` as the edited copy of the letter `original`, if that is open, and a job for the copy. The
    /// original's replays count, and it is left out by the same rules as in [`create`](Self::create), except
    /// that it may be a message that could not be read.
    async fn create_edited(
        &self,
        original: DeadLetterId,
        copy: &NewDeadLetter,
        job: &NewReplayJob,
    ) -> Result<FrozenJob, StoreError>;

    /// Leases the next letters that wait, those first that failed least, then the oldest. A lease that is over
    /// MUST be given to whoever asks.
    async fn next_members(&self, job: ReplayJobId, take: &Take) -> Result<NextMembers, StoreError>;

    /// Stores what became of letters, and ends the job with its last one. That a letter was replayed is true
    /// whoever has its lease by now, and MUST be stored even if the job was canceled meanwhile; everything
    /// else MUST be stored for letters only that `runner` still has.
    async fn mark(&self, job: ReplayJobId, runner: &str, marked: &[MarkedMember]) -> Result<(), StoreError>;

    /// Does `command` to the job and gives its state after it; `None` where there is no such job. What changes
    /// nothing is not written down.
    async fn command(
        &self,
        job: ReplayJobId,
        command: JobCommand,
        order: &OperatorOrder,
    ) -> Result<Option<JobState>, StoreError>;

    /// One job.
    async fn get(&self, job: ReplayJobId) -> Result<Option<ReplayJob>, StoreError>;

    /// The jobs in `state`, or in any, of lower numbers than `before`, the newest first. At most `limit`, which
    /// is at most [`JOBS_MAX`].
    async fn page(
        &self,
        state: Option<JobState>,
        before: Option<ReplayJobId>,
        limit: u32,
    ) -> Result<Vec<ReplayJob>, StoreError>;
}
