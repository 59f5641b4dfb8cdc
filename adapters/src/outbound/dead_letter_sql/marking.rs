//! What becomes of the letters of a job.

use std::collections::BTreeMap;

use application::dead_letter::DeadLetterId;
use application::operator::OperatorOrder;
use application::ports::unit_of_work::StoreError;
use application::replay::{JobState, MarkedMember, MemberOutcome, ReplayJobId};
use diesel::QueryableByName;
use diesel::sql_types::BigInt;
use domain::ConsumerName;

use super::composed::Composed;
use super::jobs;
use super::rows::clean;
use super::scope::numbers;
use super::statements::Statements;

#[derive(QueryableByName)]
struct MemberRow {
    #[diesel(sql_type = BigInt)]
    dead_letter_id: i64,
}

/// Stores what became of letters, and ends the job with its last one.
pub(in crate::outbound) async fn mark<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    job: ReplayJobId,
    runner: &str,
    marked: &[MarkedMember],
) -> Result<(), StoreError> {
    if jobs::lock(statements, consumer, job).await?.is_none() {
        return Ok(());
    }
    let mut replayed = Vec::new();
    let mut others: BTreeMap<Other<'_>, Vec<DeadLetterId>> = BTreeMap::new();
    for member in marked {
        match &member.outcome {
            MemberOutcome::Replayed => replayed.push(member.id),
            MemberOutcome::NotTried => others.entry(Other::NotTried).or_default().push(member.id),
            MemberOutcome::TryAgain { error } => {
                others.entry(Other::TryAgain(error)).or_default().push(member.id);
            }
            MemberOutcome::Failed { error } => {
                others.entry(Other::Failed(error)).or_default().push(member.id);
            }
        }
    }
    replayed.sort_unstable();
    mark_replayed(statements, job, &replayed).await?;
    for (other, ids) in others {
        other.mark(statements, job, runner, &ids).await?;
    }
    finish(statements, job).await
}

/// It was published, whoever has the lease by now. What was released meanwhile is open again, and was published
/// all the same.
async fn mark_replayed<S: Statements>(
    statements: &mut S,
    job: ReplayJobId,
    ids: &[DeadLetterId],
) -> Result<(), StoreError> {
    let waiting = settle(statements, job, ids, "waiting", "replayed", None, None).await?;
    let released = settle(statements, job, ids, "released", "replayed", None, None).await?;
    // One that came back meanwhile is open again, with one replay more.
    for (ids, state) in [(waiting, "replaying"), (released, "open")] {
        let statement = Composed::new(
            "UPDATE dead_letters SET \
             state = CASE WHEN came_back THEN 'open' ELSE 'replayed' END, \
             replays = replays + CASE WHEN came_back THEN 1 ELSE 0 END, \
             settled_at = CASE WHEN came_back THEN NULL ELSE ",
        )
        .now()
        .sql(" END, came_back = FALSE WHERE id IN (SELECT id FROM dead_letters WHERE state = ")
        .text(state);
        statements.change(with_originals(statement, ids).sql(" ORDER BY id").locked().sql(")")).await?;
    }
    Ok(())
}

/// What became of letters that were not published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Other<'a> {
    NotTried,
    TryAgain(&'a str),
    Failed(&'a str),
}

impl Other<'_> {
    async fn mark<S: Statements>(
        self,
        statements: &mut S,
        job: ReplayJobId,
        runner: &str,
        ids: &[DeadLetterId],
    ) -> Result<(), StoreError> {
        let (failures, error) = match self {
            Self::NotTried => (0, None),
            Self::TryAgain(error) => (1, Some(clean(error))),
            Self::Failed(error) => {
                let error = clean(error);
                let failed =
                    settle(statements, job, ids, "waiting", "failed", Some(runner), Some(&error)).await?;
                let reason = format!("it could not be published: {error}");
                return give_back(statements, failed, &reason).await;
            }
        };
        let mut statement = Composed::new(
            "UPDATE replay_members SET leased_by = NULL, leased_until = NULL, failures = failures + ",
        )
        .number(failures);
        if let Some(error) = &error {
            statement = statement.sql(", error = ").text(error);
        }
        let statement = statement
            .sql(" WHERE state = 'waiting' AND job_id = ")
            .number(job.0)
            .sql(" AND leased_by = ")
            .text(runner)
            .sql(" AND dead_letter_id")
            .one_of(numbers(ids));
        statements.change(statement).await?;
        Ok(())
    }
}

/// Gives the letters back that a canceled job has not published.
pub(super) async fn release_all<S: Statements>(
    statements: &mut S,
    job: ReplayJobId,
    order: &OperatorOrder,
) -> Result<(), StoreError> {
    let statement = Composed::new(
        "UPDATE replay_members SET state = 'released', leased_by = NULL, leased_until = NULL, settled_at = ",
    )
    .now()
    .sql(" WHERE state = 'waiting' AND job_id = ")
    .number(job.0)
    .sql(" RETURNING dead_letter_id");
    let rows: Vec<MemberRow> = statements.rows(statement).await?;
    let released = rows.into_iter().map(|row| row.dead_letter_id).collect();
    give_back(statements, released, &format!("its replay was canceled: {}", order.why)).await
}

/// Those of the letters that are in state `from` in the job are in state `to`; with a `runner`, only those that
/// it has. Gives them.
async fn settle<S: Statements>(
    statements: &mut S,
    job: ReplayJobId,
    ids: &[DeadLetterId],
    from: &'static str,
    to: &'static str,
    runner: Option<&str>,
    error: Option<&str>,
) -> Result<Vec<i64>, StoreError> {
    let mut statement =
        Composed::new("UPDATE replay_members SET leased_by = NULL, leased_until = NULL, state = ")
            .text(to)
            .sql(", settled_at = ")
            .now();
    if let Some(error) = error {
        statement = statement.sql(", failures = failures + 1, error = ").text(error);
    }
    statement = statement.sql(" WHERE state = ").text(from).sql(" AND job_id = ").number(job.0);
    if let Some(runner) = runner {
        statement = statement.sql(" AND leased_by = ").text(runner);
    }
    let statement =
        statement.sql(" AND dead_letter_id").one_of(numbers(ids)).sql(" RETURNING dead_letter_id");
    let rows: Vec<MemberRow> = statements.rows(statement).await?;
    Ok(rows.into_iter().map(|row| row.dead_letter_id).collect())
}

/// Letters that were not published are open again. The edited copies among them are discarded for `reason`, and
/// what they were made of is open again.
async fn give_back<S: Statements>(statements: &mut S, ids: Vec<i64>, reason: &str) -> Result<(), StoreError> {
    let open = Composed::new(
        "UPDATE dead_letters SET state = 'open' \
         WHERE state = 'replaying' AND linked_to IS NULL",
    );
    statements.change(with_originals(open, ids.clone())).await?;
    let discard = Composed::new("UPDATE dead_letters SET state = 'discarded', settled_at = ")
        .now()
        .sql(", discard_reason = ")
        .text(&clean(reason))
        .sql(" WHERE state = 'replaying' AND linked_to IS NOT NULL AND id")
        .one_of(ids);
    statements.change(discard).await?;
    Ok(())
}

/// And it is one of the letters, or what one of them was made of.
fn with_originals(statement: Composed, ids: Vec<i64>) -> Composed {
    statement
        .sql(" AND (id")
        .one_of(ids.clone())
        .sql(" OR id IN (SELECT linked_to FROM dead_letters WHERE linked_to IS NOT NULL AND id")
        .one_of(ids)
        .sql("))")
}

/// Ends the job when none of its letters waits any more.
async fn finish<S: Statements>(statements: &mut S, job: ReplayJobId) -> Result<(), StoreError> {
    let statement = Composed::new("UPDATE replay_jobs SET state = ")
        .text(JobState::Finished.as_str())
        .sql(", ended_at = ")
        .now()
        .sql(" WHERE state IN ('running', 'paused') AND id = ")
        .number(job.0)
        .sql(" AND NOT EXISTS (SELECT 1 FROM replay_members WHERE state = 'waiting' AND job_id = ")
        .number(job.0)
        .sql(")");
    statements.change(statement).await?;
    Ok(())
}
