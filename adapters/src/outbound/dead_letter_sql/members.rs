//! Hands out the letters of a job.

use std::collections::HashMap;
use std::time::Duration;

use application::dead_letter::DeadLetterId;
use application::ports::replay_jobs::{NextMembers, Take};
use application::ports::unit_of_work::StoreError;
use application::replay::{JobState, ReplayJobId, ReplayMember};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable};
use domain::ConsumerName;

use super::composed::Composed;
use super::jobs;
use super::listing::select_by_ids;
use super::rows::LetterRow;
use super::statements::Statements;

#[derive(QueryableByName)]
struct LeasedRow {
    #[diesel(sql_type = BigInt)]
    dead_letter_id: i64,
    #[diesel(sql_type = BigInt)]
    failures: i64,
}

#[derive(QueryableByName)]
struct LeaseEndRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    wait_us: Option<i64>,
}

/// Leases the next letters of `job`.
pub(in crate::outbound) async fn next<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    job: ReplayJobId,
    take: &Take,
) -> Result<NextMembers, StoreError> {
    match jobs::lock(statements, consumer, job).await? {
        Some((JobState::Running, pause)) if pause > 0 => return Ok(NextMembers::Wait(micros(pause))),
        Some((JobState::Running, _)) => {}
        Some(_) | None => return Ok(NextMembers::NotRunning),
    }
    let leased: Vec<LeasedRow> = statements.rows(lease(job, take)).await?;
    if leased.is_empty() {
        let ends: Vec<LeaseEndRow> = statements.rows(next_lease_end(job)).await?;
        let wait = ends.first().and_then(|row| row.wait_us).unwrap_or(0);
        return Ok(NextMembers::Wait(micros(wait.max(0))));
    }
    let pause = Composed::new("UPDATE replay_jobs SET not_before = ")
        .after(take.pause)
        .sql(" WHERE id = ")
        .number(job.0);
    statements.change(pause).await?;
    let failures: HashMap<i64, i64> = leased.iter().map(|row| (row.dead_letter_id, row.failures)).collect();
    let ids: Vec<DeadLetterId> = leased.iter().map(|row| DeadLetterId(row.dead_letter_id)).collect();
    let letters: Vec<LetterRow> = statements.rows(select_by_ids(&ids)).await?;
    let members: Result<Vec<ReplayMember>, StoreError> = letters
        .into_iter()
        .map(|row| {
            let failures = failures.get(&row.summary.id).copied().unwrap_or(0);
            Ok(ReplayMember { failures: u32::try_from(failures).unwrap_or(u32::MAX), letter: row.read()? })
        })
        .collect();
    members.map(NextMembers::Publish)
}

/// The first that nobody has, as many as the limits allow, but always one. The job is locked, so nobody else
/// leases any at the same time.
fn lease(job: ReplayJobId, take: &Take) -> Composed {
    Composed::new("UPDATE replay_members SET leased_by = ")
        .text(&take.runner)
        .sql(", leased_until = ")
        .after(take.lease)
        .sql(" WHERE job_id = ")
        .number(job.0)
        .sql(
            " AND dead_letter_id IN (SELECT dead_letter_id FROM (\
               SELECT dead_letter_id, \
                 sum(payload_bytes) OVER (ORDER BY failures, dead_letter_id) - payload_bytes AS bytes_before \
               FROM (SELECT member.dead_letter_id, member.failures, ",
        )
        .size("letter.payload")
        .sql(
            " AS payload_bytes FROM replay_members AS member \
             JOIN dead_letters AS letter ON letter.id = member.dead_letter_id WHERE member.job_id = ",
        )
        .number(job.0)
        .sql(" AND member.state = 'waiting' AND (member.leased_until IS NULL OR member.leased_until <= ")
        .now()
        .sql(") ORDER BY member.failures, member.dead_letter_id LIMIT ")
        .number(i64::from(take.letters.max(1)))
        .sql(") AS first_ones) AS sized WHERE bytes_before = 0 OR bytes_before < ")
        .number(i64::try_from(take.bytes).unwrap_or(i64::MAX))
        .sql(") RETURNING dead_letter_id, failures")
}

fn next_lease_end(job: ReplayJobId) -> Composed {
    Composed::new("SELECT ")
        .micros("min(leased_until)")
        .sql(" - ")
        .micros_now()
        .sql(" AS wait_us FROM replay_members WHERE state = 'waiting' AND job_id = ")
        .number(job.0)
}

fn micros(micros: i64) -> Duration {
    Duration::from_micros(micros.unsigned_abs())
}
