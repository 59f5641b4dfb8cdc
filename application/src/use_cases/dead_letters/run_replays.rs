//! Carries replay jobs out: takes letters of a job, publishes them, and marks those that the broker has
//! confirmed. Whatever is killed in between is published once more, and found a duplicate.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::backoff::waits;
use crate::envelope::Envelope;
use crate::error_chain::describe;
use crate::ports::clock::Clock;
use crate::ports::dead_letter_observer::DeadLetterObserver;
use crate::ports::event_publisher::{EventPublisher, PublishError};
use crate::ports::replay_jobs::{JOBS_MAX, NextMembers, ReplayJobs, Take};
use crate::ports::unit_of_work::StoreError;
use crate::replay::{JobState, MarkedMember, MemberOutcome, ReplayJob, ReplayJobId, ReplayMember};

/// How often a letter that cannot be published is tried, until it is open again.
pub const MEMBER_FAILURES_MAX: u32 = 20;

/// The most bytes of payloads that are in hand at once; a larger payload is in hand alone.
pub const TAKEN_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The first wait after something went wrong; it doubles up to [`RunReplaysSettings::backoff_max`].
const BACKOFF_FIRST: Duration = Duration::from_millis(100);

/// How jobs are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReplaysSettings {
    /// Who runs them, by a name that no other process has.
    pub runner: String,
    /// How long letters are in its hands alone. Must be longer than publishing takes.
    pub lease: Duration,
    /// How often to look for jobs.
    pub poll: Duration,
    /// The longest wait after something went wrong.
    pub backoff_max: Duration,
}

/// Runs jobs. Any number of processes may: the store sees to it that a job keeps its pace.
#[derive(Clone)]
pub struct RunReplays {
    jobs: Arc<dyn ReplayJobs>,
    publisher: Arc<dyn EventPublisher>,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn DeadLetterObserver>,
    settings: RunReplaysSettings,
}

/// What a round has shown.
struct Round {
    /// When there may be something to do again.
    next: Duration,
    /// Something could not be published.
    is_troubled: bool,
}

impl RunReplays {
    /// Runs `jobs` by publishing with `publisher`.
    pub fn new(
        jobs: Arc<dyn ReplayJobs>,
        publisher: Arc<dyn EventPublisher>,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn DeadLetterObserver>,
        settings: RunReplaysSettings,
    ) -> Self {
        Self { jobs, publisher, clock, observer, settings }
    }

    /// Runs until `stop` is cancelled, then finishes the letters in hand.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut troubled = HashSet::new();
        let mut waits = self.backoff();
        while !stop.is_cancelled() {
            let wait = match self.round(&mut troubled, stop).await {
                Ok(Round { next, is_troubled: false }) => {
                    waits = self.backoff();
                    next
                }
                Ok(Round { is_troubled: true, .. }) => waits.next().unwrap_or(self.settings.backoff_max),
                Err(error) => {
                    warn!(error = describe(&error), "replay jobs cannot be read or marked now");
                    waits.next().unwrap_or(self.settings.backoff_max)
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// One step of each job that runs, the oldest job first.
    async fn round(
        &self,
        troubled: &mut HashSet<ReplayJobId>,
        stop: &CancellationToken,
    ) -> Result<Round, StoreError> {
        let jobs = self.jobs.page(Some(JobState::Running), None, JOBS_MAX).await?;
        troubled.retain(|id| jobs.iter().any(|job| job.id == *id));
        let mut round = Round { next: self.settings.poll, is_troubled: false };
        for job in jobs.iter().rev() {
            if stop.is_cancelled() {
                break;
            }
            let (next, all_published) = self.step(job, troubled.contains(&job.id)).await?;
            if all_published {
                troubled.remove(&job.id);
            } else {
                troubled.insert(job.id);
                round.is_troubled = true;
            }
            round.next = round.next.min(next);
        }
        Ok(round)
    }

    /// Publishes the next letters of `job`; tells when there may be more to do, and whether all went well.
    /// After trouble it takes one letter at a time, so that one that cannot be published holds up no other.
    async fn step(&self, job: &ReplayJob, one_at_a_time: bool) -> Result<(Duration, bool), StoreError> {
        let step = job.schedule.next(job.progress.replayed + job.progress.failed);
        let take = Take {
            runner: self.settings.runner.clone(),
            letters: if one_at_a_time { 1 } else { step.letters },
            bytes: TAKEN_BYTES_MAX,
            lease: self.settings.lease,
            pause: if one_at_a_time { Duration::ZERO } else { step.pause },
        };
        match self.jobs.next_members(job.id, &take).await? {
            NextMembers::NotRunning => Ok((self.settings.poll, true)),
            NextMembers::Wait(wait) => Ok((wait, !one_at_a_time)),
            NextMembers::Publish(members) => {
                let all_published = self.publish(job.id, members).await?;
                Ok((take.pause, all_published))
            }
        }
    }

    /// Publishes and marks; tells whether all were published.
    async fn publish(&self, job: ReplayJobId, members: Vec<ReplayMember>) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let mut envelopes: Vec<Envelope> = Vec::with_capacity(members.len());
        let mut marked: Vec<MarkedMember> = Vec::with_capacity(members.len());
        let mut published: Vec<ReplayMember> = Vec::with_capacity(members.len());
        for member in members {
            if let Some(envelope) = member.letter.to_envelope(now) {
                envelopes.push(envelope);
                published.push(member);
            } else {
                let error = "nobody knows which event it is".to_owned();
                marked.push(MarkedMember {
                    id: member.letter.summary.id,
                    outcome: MemberOutcome::Failed { error },
                });
            }
        }
        let mut answers = self.publisher.publish(envelopes).await.into_iter();
        for member in published {
            let answer = answers.next().unwrap_or_else(|| Err(PublishError::Broken("no answer".into())));
            marked.push(MarkedMember {
                id: member.letter.summary.id,
                outcome: outcome(answer, member.failures),
            });
        }
        self.jobs.mark(job, &self.settings.runner, &marked).await?;
        let replayed = marked.iter().filter(|member| member.outcome == MemberOutcome::Replayed).count();
        self.report(job, replayed, marked.len() - replayed);
        Ok(replayed == marked.len())
    }

    fn report(&self, job: ReplayJobId, replayed: usize, not_replayed: usize) {
        if replayed > 0 {
            self.observer.replayed(replayed);
            info!(job = job.0, count = replayed, "dead letters replayed");
        }
        if not_replayed > 0 {
            self.observer.not_replayed(not_replayed);
            warn!(job = job.0, count = not_replayed, "dead letters could not be published");
        }
    }

    fn backoff(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        waits(BACKOFF_FIRST, self.settings.backoff_max)
    }
}

/// What a broker that is away says is not about the letter, and does not count.
fn outcome(answer: Result<(), PublishError>, failures: u32) -> MemberOutcome {
    match answer {
        Ok(()) => MemberOutcome::Replayed,
        Err(PublishError::Unavailable(_) | PublishError::Overloaded { .. }) => MemberOutcome::NotTried,
        Err(error) if failures + 1 >= MEMBER_FAILURES_MAX => {
            MemberOutcome::Failed { error: describe(&error) }
        }
        Err(error) => MemberOutcome::TryAgain { error: describe(&error) },
    }
}

#[cfg(test)]
mod tests;
