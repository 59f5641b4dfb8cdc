//! Replay jobs by page, and what operators do to them.

use application::operator::OperatorOrder;
use application::ports::replay_jobs::JOBS_MAX;
use application::ports::unit_of_work::StoreError;
use application::replay::{JobCommand, JobState, ReplayJob, ReplayJobId};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use domain::ConsumerName;

use super::actions;
use super::composed::Composed;
use super::job_rows::{JobRow, select_jobs};
use super::marking;
use super::rows::unreadable;
use super::statements::Statements;

/// Jobs in `state`, or in any, of lower numbers than `before`, the newest first.
pub(in crate::outbound) async fn page<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    state: Option<JobState>,
    before: Option<ReplayJobId>,
    limit: u32,
) -> Result<Vec<ReplayJob>, StoreError> {
    let statement = select_jobs(|jobs| {
        let mut jobs = jobs.sql(" WHERE consumer = ").text(consumer.as_str());
        if let Some(state) = state {
            jobs = jobs.sql(" AND state = ").text(state.as_str());
        }
        jobs.sql(" AND id < ")
            .number(before.map_or(i64::MAX, |job| job.0))
            .sql(" ORDER BY id DESC LIMIT ")
            .number(limit.clamp(1, JOBS_MAX).into())
    });
    let rows: Vec<JobRow> = statements.rows(statement).await?;
    rows.into_iter().map(JobRow::read).collect()
}

/// The job of that number, if it is one of `consumer`.
pub(in crate::outbound) async fn get<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    job: ReplayJobId,
) -> Result<Option<ReplayJob>, StoreError> {
    let statement = select_jobs(|jobs| {
        jobs.sql(" WHERE consumer = ").text(consumer.as_str()).sql(" AND id = ").number(job.0)
    });
    let mut rows: Vec<JobRow> = statements.rows(statement).await?;
    rows.pop().map(JobRow::read).transpose()
}

/// A job whose row is kept from everybody else.
#[derive(QueryableByName)]
struct LockedRow {
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    pause_us: i64,
}

/// How a job stands, and what is left of its pause in microseconds. Whatever changes a job or its letters locks
/// the job first, so no two of them ever meet.
pub(super) async fn lock<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    job: ReplayJobId,
) -> Result<Option<(JobState, i64)>, StoreError> {
    let statement = Composed::new("SELECT state, ")
        .micros("not_before")
        .sql(" - ")
        .micros_now()
        .sql(" AS pause_us FROM replay_jobs WHERE id = ")
        .number(job.0)
        .sql(" AND consumer = ")
        .text(consumer.as_str())
        .locked();
    let mut rows: Vec<LockedRow> = statements.rows(statement).await?;
    let Some(row) = rows.pop() else {
        return Ok(None);
    };
    let state = JobState::from_name(&row.state)
        .ok_or_else(|| unreadable("a replay job", &format!("unknown state {:?}", row.state).into()))?;
    Ok(Some((state, row.pause_us)))
}

/// Does `command`, where it changes anything, and writes down who ordered it.
pub(in crate::outbound) async fn command<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    job: ReplayJobId,
    command: JobCommand,
    order: &OperatorOrder,
) -> Result<Option<JobState>, StoreError> {
    let Some((state, _)) = lock(statements, consumer, job).await? else {
        return Ok(None);
    };
    let Some(next) = command.applied_to(state) else {
        return Ok(Some(state));
    };
    if next == JobState::Canceled {
        marking::release_all(statements, job, order).await?;
    }
    set_state(statements, job, next).await?;
    actions::record(statements, order, command.as_str(), &format!("job {job}")).await?;
    Ok(Some(next))
}

/// Stores how a job stands.
pub(super) async fn set_state<S: Statements>(
    statements: &mut S,
    job: ReplayJobId,
    state: JobState,
) -> Result<(), StoreError> {
    let statement = Composed::new("UPDATE replay_jobs SET state = ").text(state.as_str());
    let statement = match state {
        JobState::Canceled | JobState::Finished => statement.sql(", ended_at = ").now(),
        JobState::Running | JobState::Paused => statement,
    };
    statements.change(statement.sql(" WHERE id = ").number(job.0)).await?;
    Ok(())
}
