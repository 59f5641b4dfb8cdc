//! Which failure groups somebody was told of.

use application::dead_letter::{DeadLetterId, FailureGroup};
use application::ports::alert_log::{AfterFailure, AlertClaim, ClaimedAlert};
use application::ports::unit_of_work::StoreError;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Binary};
use domain::{ConsumerName, Timestamp};

use super::composed::Composed;
use super::rows::unreadable;
use super::statements::Statements;

/// A group with open letters that no alert has told of.
#[derive(QueryableByName)]
pub(in crate::outbound) struct NewsRow {
    #[diesel(sql_type = Binary)]
    failure_group: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    newest: i64,
    #[diesel(sql_type = BigInt)]
    letters: i64,
}

#[derive(QueryableByName)]
struct WindowRow {
    #[diesel(sql_type = BigInt)]
    is_over: i64,
}

#[derive(QueryableByName)]
struct ClaimedRow {
    #[diesel(sql_type = BigInt)]
    began_us: i64,
    #[diesel(sql_type = BigInt)]
    failures: i64,
}

/// The group that waits longest for an alert that may be sent now. Changes nothing.
pub(in crate::outbound) async fn news<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
) -> Result<Option<NewsRow>, StoreError> {
    let statement = Composed::new(
        "SELECT letters.failure_group, max(letters.id) AS newest, count(*) AS letters \
         FROM dead_letters AS letters LEFT JOIN failure_alerts AS known \
           ON known.consumer = letters.consumer AND known.failure_group = letters.failure_group \
         WHERE letters.consumer = ",
    )
    .text(consumer.as_str())
    .sql(
        " AND letters.state = 'open' AND letters.linked_to IS NULL \
           AND (known.up_to IS NULL OR letters.id > known.up_to)",
    );
    let statement =
        may_be_sent(statement).sql(" GROUP BY letters.failure_group ORDER BY min(letters.id) LIMIT 1");
    Ok(statements.rows(statement).await?.pop())
}

/// Leases the alert that `news` asks for, unless somebody else was faster.
pub(in crate::outbound) async fn claim<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    news: &NewsRow,
    claim: &AlertClaim,
) -> Result<Option<ClaimedAlert>, StoreError> {
    let group = FailureGroup::from_bytes(&news.failure_group)
        .ok_or_else(|| unreadable("a group of dead letters", &"it has another length".into()))?;
    let first = Composed::new("INSERT INTO failure_alerts (consumer, failure_group) VALUES (")
        .text(consumer.as_str())
        .sql(", ")
        .bytes(group.as_bytes().to_vec().into())
        .sql(") ON CONFLICT DO NOTHING");
    statements.change(first).await?;
    let windows: Vec<WindowRow> = statements.rows(locked(consumer, group, news.newest)).await?;
    let Some(window) = windows.first() else {
        return Ok(None);
    };
    let leased = lease(consumer, group, claim, window.is_over != 0);
    let claimed: Vec<ClaimedRow> = statements.rows(leased).await?;
    Ok(claimed.first().map(|row| ClaimedAlert {
        group,
        began: Timestamp::from_micros(row.began_us),
        failures: u32::try_from(row.failures).unwrap_or(u32::MAX),
        new_letters: news.letters.unsigned_abs(),
        newest: DeadLetterId(news.newest),
    }))
}

/// The group's row, locked, if its alert may still be sent.
fn locked(consumer: &ConsumerName, group: FailureGroup, newest: i64) -> Composed {
    let statement =
        Composed::new("SELECT CAST(CASE WHEN known.window_until IS NULL OR known.window_until <= ")
            .now()
            .sql(" THEN 1 ELSE 0 END AS bigint) AS is_over FROM failure_alerts AS known");
    let statement = may_be_sent(of(statement, consumer, group).sql(" AND known.up_to < ").number(newest));
    statement.locked()
}

/// A window that is over makes room for the next one.
fn lease(consumer: &ConsumerName, group: FailureGroup, claim: &AlertClaim, begins: bool) -> Composed {
    let mut statement = Composed::new("UPDATE failure_alerts AS known SET in_hand = TRUE, leased_by = ")
        .text(&claim.owner)
        .sql(", not_before = ")
        .after(claim.lease);
    if begins {
        statement = statement
            .sql(", failures = 0, window_start = ")
            .now()
            .sql(", window_until = ")
            .after(claim.window);
    }
    of(statement, consumer, group).sql(" RETURNING ").micros("window_start").sql(" AS began_us, failures")
}

/// That nobody has the alert, and that there may be one in this window: there was none yet, or it was not sent.
fn may_be_sent(statement: Composed) -> Composed {
    statement
        .sql(" AND (known.not_before IS NULL OR known.not_before <= ")
        .now()
        .sql(") AND (known.window_until IS NULL OR known.in_hand OR known.window_until <= ")
        .now()
        .sql(")")
}

/// Writes down that the alert was sent.
pub(in crate::outbound) async fn sent<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    alert: &ClaimedAlert,
) -> Result<(), StoreError> {
    let statement = Composed::new(
        "UPDATE failure_alerts AS known SET in_hand = FALSE, leased_by = NULL, not_before = NULL, \
         up_to = CASE WHEN up_to < ",
    )
    .number(alert.newest.0)
    .sql(" THEN ")
    .number(alert.newest.0)
    .sql(" ELSE up_to END");
    statements.change(of_window(statement, consumer, alert)).await?;
    Ok(())
}

/// Writes down that `owner` could not send the alert.
pub(in crate::outbound) async fn failed<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    alert: &ClaimedAlert,
    owner: &str,
    then: AfterFailure,
) -> Result<(), StoreError> {
    let statement =
        Composed::new("UPDATE failure_alerts AS known SET failures = failures + 1, leased_by = NULL, ");
    let statement = match then {
        AfterFailure::TryAgain(wait) => statement.sql("not_before = ").after(wait),
        AfterFailure::GiveUp => statement.sql("not_before = NULL, in_hand = FALSE"),
    };
    let statement = of_window(statement, consumer, alert).sql(" AND known.leased_by = ").text(owner);
    statements.change(statement).await?;
    Ok(())
}

fn of_window(statement: Composed, consumer: &ConsumerName, alert: &ClaimedAlert) -> Composed {
    of(statement, consumer, alert.group).sql(" AND known.window_start = ").moment(alert.began)
}

fn of(statement: Composed, consumer: &ConsumerName, group: FailureGroup) -> Composed {
    statement
        .sql(" WHERE known.consumer = ")
        .text(consumer.as_str())
        .sql(" AND known.failure_group = ")
        .bytes(group.as_bytes().to_vec().into())
}
