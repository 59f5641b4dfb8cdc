//! Puts letters into the store.

use std::collections::BTreeMap;

use application::dead_letter::{DeadLetterId, LetterState, NewDeadLetter};
use application::ports::unit_of_work::StoreError;
use diesel::QueryableByName;
use diesel::sql_types::Integer;

use super::composed::Composed;
use super::rows::{clean, written, written_history};
use super::statements::Statements;

/// How many letters one statement stores; PostgreSQL binds at most 65,535 values, SQLite 32,766.
const ROWS_MAX: usize = 50;

/// A letter that has been published again may come back as a message that cannot be told from the first one, as
/// when the broker gives up and does not say when. So one that arrives twice is open again, or will be once its
/// job has marked it. At worst it was a second delivery of the first message, and an operator sees it once more.
const ON_CONFLICT: &str = " ON CONFLICT (arrival) DO UPDATE SET \
     came_back = TRUE, \
     replays = dead_letters.replays + CASE WHEN dead_letters.state = 'replayed' THEN 1 ELSE 0 END, \
     settled_at = NULL, \
     state = CASE WHEN dead_letters.state = 'replayed' THEN 'open' ELSE dead_letters.state END \
     WHERE dead_letters.state <> 'discarded' \
     RETURNING CASE WHEN came_back THEN 0 ELSE 1 END AS is_new";

#[derive(QueryableByName)]
struct StoredRow {
    #[diesel(sql_type = Integer)]
    is_new: i32,
}

/// Stores letters, and gives the number of those that were not there.
pub(in crate::outbound) async fn store<S: Statements>(
    statements: &mut S,
    letters: &[NewDeadLetter],
) -> Result<u64, StoreError> {
    // Each once, as one statement may not meet a row twice; and in one order, so that two archives that store
    // the same letters never wait for each other in a circle.
    let distinct: BTreeMap<_, _> = letters.iter().map(|letter| (letter.arrival, letter)).collect();
    let distinct: Vec<&NewDeadLetter> = distinct.into_values().collect();
    let mut stored = 0;
    for some in distinct.chunks(ROWS_MAX) {
        let mut statement = insert();
        let mut separator = " ";
        for letter in some {
            statement = row(statement.sql(separator), letter, LetterState::Open, None)?;
            separator = ", ";
        }
        let rows: Vec<StoredRow> = statements.rows(statement.sql(ON_CONFLICT)).await?;
        stored += rows.iter().map(|row| u64::from(row.is_new.unsigned_abs())).sum::<u64>();
    }
    Ok(stored)
}

/// A statement that stores the edited copy of a letter, which is to be replayed at once, and gives its number.
pub(super) fn insert_copy(copy: &NewDeadLetter, original: DeadLetterId) -> Result<Composed, StoreError> {
    Ok(row(insert().sql(" "), copy, LetterState::Replaying, Some(original))?.sql(" RETURNING id"))
}

fn insert() -> Composed {
    Composed::new(
        "INSERT INTO dead_letters \
         (arrival, consumer, source, event_id, kind, received_at, content_type, headers, traceparent, \
          tracestate, payload, failed_attempts, history, reason, detail, dead_lettered_at, worker, release, \
          payment_id, account, amount_minor, currency, failure_group, state, linked_to, replays) VALUES",
    )
}

fn row(
    statement: Composed,
    letter: &NewDeadLetter,
    state: LetterState,
    linked_to: Option<DeadLetterId>,
) -> Result<Composed, StoreError> {
    let source = letter.key.as_ref().map(|key| key.source.as_str());
    let event_id = letter.key.as_ref().map(|key| key.event_id.as_str());
    let (content, cause, subject) = (&letter.content, &letter.cause, &letter.subject);
    let text = |text: &Option<String>| text.as_deref().map(clean);
    let statement = statement
        .sql("(")
        .bytes(letter.arrival.as_bytes().to_vec().into())
        .sql(", ")
        .text(letter.consumer.as_str())
        .sql(", ")
        .optional_text(source)
        .sql(", ")
        .optional_text(event_id)
        .sql(", ")
        .optional_text(subject.kind.as_ref().map(domain::EventKind::as_str))
        .sql(", ")
        .optional_moment(letter.received_at)
        .sql(", ")
        .optional_text(text(&content.content_type).as_deref())
        .sql(", ")
        .text(&written(&content.headers)?)
        .sql(", ")
        .optional_text(text(&content.trace.traceparent).as_deref())
        .sql(", ")
        .optional_text(text(&content.trace.tracestate).as_deref())
        .sql(", ")
        .bytes(content.payload.clone())
        .sql(", ")
        .number(cause.failed_attempts.into())
        .sql(", ")
        .text(&written_history(&letter.history)?)
        .sql(", ")
        .text(cause.reason.as_str())
        .sql(", ")
        .text(&clean(&cause.detail))
        .sql(", ")
        .moment(cause.dead_lettered_at)
        .sql(", ")
        .optional_text(text(&cause.worker).as_deref())
        .sql(", ")
        .optional_text(text(&cause.release).as_deref())
        .sql(", ")
        .optional_text(subject.payment.as_ref().map(domain::PaymentId::as_str))
        .sql(", ")
        .optional_text(subject.account.as_ref().map(domain::MerchantId::as_str))
        .sql(", ")
        .optional_number(subject.amount.map(domain::Money::minor_units))
        .sql(", ")
        .optional_text(subject.amount.map(domain::Money::currency).as_ref().map(domain::Currency::code))
        .sql(", ")
        .bytes(letter.group.as_bytes().to_vec().into())
        .sql(", ")
        .text(state.as_str())
        .sql(", ")
        .optional_number(linked_to.map(|id| id.0));
    Ok(earlier_replays(statement.sql(", "), letter.consumer.as_str(), source, event_id).sql(")"))
}

/// How often the event has been replayed.
fn earlier_replays(
    statement: Composed,
    consumer: &str,
    source: Option<&str>,
    event_id: Option<&str>,
) -> Composed {
    statement
        .sql("(SELECT count(*) FROM dead_letters AS earlier WHERE earlier.consumer = ")
        .text(consumer)
        .sql(" AND earlier.source = ")
        .optional_text(source)
        .sql(" AND earlier.event_id = ")
        .optional_text(event_id)
        .sql(" AND earlier.linked_to IS NULL AND earlier.state IN ('replaying', 'replayed'))")
}
