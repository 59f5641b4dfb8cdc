//! What a job consists of, decided once.

use application::dead_letter::{DeadLetterId, MoneyTotal, NewDeadLetter};
use application::ports::unit_of_work::StoreError;
use application::replay::{FrozenJob, JOB_MEMBERS_MAX, NewReplayJob, ReplayJobId, Selection, Skipped};
use diesel::QueryableByName;
use diesel::sql_types::BigInt;
use domain::ConsumerName;

use super::actions;
use super::composed::Composed;
use super::scope::Scope;
use super::statements::Statements;
use super::storing::insert_copy;
use super::totals::{MONEY_COLUMNS, MoneyRow};

/// A number that a statement returns.
#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Takes the open letters of `selection` into a new job.
pub(in crate::outbound) async fn create<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    selection: &Selection,
    new: &NewReplayJob,
) -> Result<FrozenJob, StoreError> {
    let scope = Scope::of_selection(consumer.clone(), selection);
    let words = selection.to_string();
    let job = insert_job(statements, consumer, &words, new).await?;
    // Waits for whoever has one of these letters, and leaves out what is not open any more.
    let take = Composed::new("INSERT INTO replay_members (job_id, dead_letter_id) SELECT ")
        .number(job.0)
        .sql(", id FROM dead_letters");
    let take = scope
        .restrict(take)
        .sql(" AND state = 'open' AND source IS NOT NULL AND replays < ")
        .number(replays_below(new))
        .sql(" ORDER BY id LIMIT ")
        .number(JOB_MEMBERS_MAX.into())
        .locked();
    let members = statements.change(take).await?;
    let mark = Composed::new(
        "UPDATE dead_letters SET state = 'replaying', came_back = FALSE WHERE id IN \
         (SELECT dead_letter_id FROM replay_members WHERE job_id = ",
    );
    statements.change(mark.number(job.0).sql(")")).await?;
    let skipped = skipped(statements, &scope, job, new).await?;
    frozen(statements, job, members, skipped, new, &words).await
}

/// Stores `copy` and a job for it, if the letter that it was made of is open.
pub(in crate::outbound) async fn create_edited<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    original: DeadLetterId,
    copy: &NewDeadLetter,
    new: &NewReplayJob,
) -> Result<FrozenJob, StoreError> {
    let scope = Scope::of_ids(consumer.clone(), &[original]);
    let words = format!("an edited copy of {original}");
    let job = insert_job(statements, consumer, &words, new).await?;
    let take = scope
        .restrict(Composed::new("UPDATE dead_letters SET state = 'replaying', came_back = FALSE"))
        .sql(" AND state = 'open' AND replays < ")
        .number(replays_below(new));
    let taken = statements.change(take).await?;
    if taken == 0 {
        let skipped = skipped(statements, &scope, job, new).await?;
        return frozen(statements, job, 0, skipped, new, &words).await;
    }
    let copies: Vec<IdRow> = statements.rows(insert_copy(copy, original)?).await?;
    for copy in &copies {
        let member = Composed::new("INSERT INTO replay_members (job_id, dead_letter_id) VALUES (")
            .number(job.0)
            .sql(", ")
            .number(copy.id)
            .sql(")");
        statements.change(member).await?;
    }
    frozen(statements, job, copies.len(), Skipped::default(), new, &words).await
}

/// A job without letters.
async fn insert_job<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    selection: &str,
    new: &NewReplayJob,
) -> Result<ReplayJobId, StoreError> {
    let statement = Composed::new(
        "INSERT INTO replay_jobs (consumer, selection, actor, why, ordered_at, ramp, rate_per_second) VALUES (",
    )
    .text(consumer.as_str())
    .sql(", ")
    .text(selection)
    .sql(", ")
    .text(new.order.actor.as_str())
    .sql(", ")
    .text(new.order.why.as_str())
    .sql(", ")
    .moment(new.order.at)
    .sql(", ")
    .text(&new.schedule.to_string())
    .sql(", ")
    .number(new.schedule.rate_per_second().into())
    .sql(") RETURNING id");
    let rows: Vec<IdRow> = statements.rows(statement).await?;
    let row = rows.first().ok_or_else(|| StoreError::Transient("a new job has no number".into()))?;
    Ok(ReplayJobId(row.id))
}

/// Writes down who ordered a job of so many letters; one of none is taken back.
async fn frozen<S: Statements>(
    statements: &mut S,
    job: ReplayJobId,
    members: usize,
    skipped: Skipped,
    new: &NewReplayJob,
    words: &str,
) -> Result<FrozenJob, StoreError> {
    if members == 0 {
        statements.change(Composed::new("DELETE FROM replay_jobs WHERE id = ").number(job.0)).await?;
        return Ok(FrozenJob { job: None, members: 0, money: Vec::new(), skipped });
    }
    let target = format!("job {job} of {members}: {words}");
    actions::record(statements, &new.order, "replay", &target).await?;
    let money = money(statements, job).await?;
    let members = u64::try_from(members).unwrap_or(u64::MAX);
    Ok(FrozenJob { job: Some(job), members, money, skipped })
}

async fn money<S: Statements>(statements: &mut S, job: ReplayJobId) -> Result<Vec<MoneyTotal>, StoreError> {
    let statement = Composed::new("SELECT ")
        .sql(MONEY_COLUMNS)
        .sql(" FROM dead_letters WHERE id IN (SELECT dead_letter_id FROM replay_members WHERE job_id = ")
        .number(job.0)
        .sql(") GROUP BY currency ORDER BY currency");
    let rows: Vec<MoneyRow> = statements.rows(statement).await?;
    let money: Result<Vec<Option<MoneyTotal>>, StoreError> = rows.iter().map(MoneyRow::read).collect();
    Ok(money?.into_iter().flatten().collect())
}

#[derive(QueryableByName)]
struct SkippedRow {
    #[diesel(sql_type = BigInt)]
    found: i64,
    #[diesel(sql_type = BigInt)]
    settled: i64,
    #[diesel(sql_type = BigInt)]
    taken: i64,
    #[diesel(sql_type = BigInt)]
    too_often: i64,
    #[diesel(sql_type = BigInt)]
    unreadable: i64,
    #[diesel(sql_type = BigInt)]
    still_open: i64,
}

/// What of `scope` is not in the job.
async fn skipped<S: Statements>(
    statements: &mut S,
    scope: &Scope,
    job: ReplayJobId,
    new: &NewReplayJob,
) -> Result<Skipped, StoreError> {
    let below = replays_below(new);
    let statement = Composed::new(
        "SELECT count(*) AS found, \
         count(CASE WHEN state IN ('replayed', 'discarded') THEN 1 END) AS settled, \
         count(CASE WHEN state = 'replaying' AND id NOT IN \
           (SELECT dead_letter_id FROM replay_members WHERE job_id = ",
    )
    .number(job.0)
    .sql(") THEN 1 END) AS taken, count(CASE WHEN state = 'open' AND replays >= ")
    .number(below)
    .sql(" THEN 1 END) AS too_often, count(CASE WHEN state = 'open' AND source IS NULL AND replays < ")
    .number(below)
    .sql(
        " THEN 1 END) AS unreadable, count(CASE WHEN state = 'open' THEN 1 END) AS still_open \
         FROM dead_letters",
    );
    let rows: Vec<SkippedRow> = statements.rows(scope.restrict(statement)).await?;
    let Some(row) = rows.first() else {
        return Ok(Skipped::default());
    };
    let named = scope.named().map(|named| u64::try_from(named).unwrap_or(u64::MAX));
    Ok(Skipped {
        unknown: named.map_or(0, |named| named.saturating_sub(row.found.unsigned_abs())),
        settled: named.map_or(0, |_| row.settled.unsigned_abs()),
        taken: row.taken.unsigned_abs(),
        unreadable: row.unreadable.unsigned_abs(),
        too_often: row.too_often.unsigned_abs(),
        left: (row.still_open - row.unreadable - row.too_often).unsigned_abs(),
    })
}

fn replays_below(new: &NewReplayJob) -> i64 {
    new.replays_max.map_or(i64::MAX, i64::from)
}
