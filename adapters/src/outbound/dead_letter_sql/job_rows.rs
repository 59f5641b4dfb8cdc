//! Between the rows of replay jobs and what the ports speak of.

use application::operator::{Actor, OperatorOrder, Why};
use application::ports::BoxError;
use application::ports::unit_of_work::StoreError;
use application::replay::{JobState, Progress, ReplayJob, ReplayJobId, ReplaySchedule};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text};
use domain::Timestamp;

use super::composed::Composed;
use super::rows::unreadable;

#[derive(QueryableByName)]
pub(super) struct JobRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    selection: String,
    #[diesel(sql_type = Text)]
    actor: String,
    #[diesel(sql_type = Text)]
    why: String,
    #[diesel(sql_type = BigInt)]
    ordered_us: i64,
    #[diesel(sql_type = Text)]
    ramp: String,
    #[diesel(sql_type = BigInt)]
    rate_per_second: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    ended_us: Option<i64>,
    #[diesel(sql_type = BigInt)]
    waiting: i64,
    #[diesel(sql_type = BigInt)]
    replayed: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
    #[diesel(sql_type = BigInt)]
    released: i64,
}

/// `SELECT` and the columns of a [`JobRow`], from the jobs that `jobs` ends a query for.
pub(super) fn select_jobs(jobs: impl FnOnce(Composed) -> Composed) -> Composed {
    let statement = Composed::new("SELECT job.id, job.state, job.selection, job.actor, job.why, ")
        .micros("job.ordered_at")
        .sql(" AS ordered_us, job.ramp, job.rate_per_second, ")
        .micros("job.ended_at")
        .sql(
            " AS ended_us, \
             count(CASE WHEN member.state = 'waiting' THEN 1 END) AS waiting, \
             count(CASE WHEN member.state = 'replayed' THEN 1 END) AS replayed, \
             count(CASE WHEN member.state = 'failed' THEN 1 END) AS failed, \
             count(CASE WHEN member.state = 'released' THEN 1 END) AS released \
             FROM (SELECT * FROM replay_jobs",
        );
    jobs(statement).sql(
        ") AS job LEFT JOIN replay_members AS member ON member.job_id = job.id \
         GROUP BY job.id, job.state, job.selection, job.actor, job.why, job.ordered_at, job.ramp, \
           job.rate_per_second, job.ended_at \
         ORDER BY job.id DESC",
    )
}

impl JobRow {
    /// What the row says. One that this release cannot read is transient, as with letters.
    pub(super) fn read(self) -> Result<ReplayJob, StoreError> {
        let id = self.id;
        self.try_read().map_err(|error| unreadable(&format!("replay job {id}"), &error))
    }

    fn try_read(self) -> Result<ReplayJob, BoxError> {
        let state = JobState::from_name(&self.state);
        Ok(ReplayJob {
            id: ReplayJobId(self.id),
            state: state.ok_or_else(|| format!("unknown state {:?}", self.state))?,
            selection: self.selection,
            order: OperatorOrder {
                actor: Actor::parse(&self.actor)?,
                at: Timestamp::from_micros(self.ordered_us),
                why: Why::parse(&self.why)?,
            },
            schedule: ReplaySchedule::parse(&self.ramp, u32::try_from(self.rate_per_second)?)?,
            ended_at: self.ended_us.map(Timestamp::from_micros),
            progress: Progress {
                waiting: self.waiting.unsigned_abs(),
                replayed: self.replayed.unsigned_abs(),
                failed: self.failed.unsigned_abs(),
                released: self.released.unsigned_abs(),
            },
        })
    }
}
