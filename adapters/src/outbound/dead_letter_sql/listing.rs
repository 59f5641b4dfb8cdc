//! Letters by page, and one by its number.

use application::dead_letter::{DeadLetter, DeadLetterId, DeadLetterSummary, LetterCursor, LetterState};
use application::ports::dead_letters::{LetterPage, PAGE_LETTERS_MAX};
use application::ports::unit_of_work::StoreError;
use domain::ConsumerName;

use super::composed::Composed;
use super::rows::{LetterRow, SummaryRow, select_letters, select_summaries};
use super::scope::{Scope, numbers};
use super::statements::Statements;

/// Letters of `scope`, the newest first, after the cursor.
pub(in crate::outbound) async fn page<S: Statements>(
    statements: &mut S,
    scope: &Scope,
    state: Option<LetterState>,
    after: Option<LetterCursor>,
    limit: u32,
) -> Result<LetterPage, StoreError> {
    let limit = limit.clamp(1, PAGE_LETTERS_MAX);
    let mut statement = scope.restrict(select_summaries().sql(" FROM dead_letters"));
    if let Some(state) = state {
        statement = statement.sql(" AND state = ").text(state.as_str());
    }
    if let Some(after) = after {
        statement = statement
            .sql(" AND (dead_lettered_at, id) < (")
            .moment(after.dead_lettered_at)
            .sql(", ")
            .number(after.id.0)
            .sql(")");
    }
    // One more, to know whether there is one.
    let statement =
        statement.sql(" ORDER BY dead_lettered_at DESC, id DESC LIMIT ").number(i64::from(limit) + 1);
    let rows: Vec<SummaryRow> = statements.rows(statement).await?;
    let letters: Result<Vec<DeadLetterSummary>, StoreError> =
        rows.into_iter().map(SummaryRow::read).collect();
    let mut letters = letters?;
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = letters.len() > wanted;
    letters.truncate(wanted);
    let last = letters.last().filter(|_| has_more);
    let next =
        last.map(|letter| LetterCursor { dead_lettered_at: letter.cause.dead_lettered_at, id: letter.id });
    Ok(LetterPage { letters, next })
}

/// The letter of that number, if it is one of `consumer`.
pub(in crate::outbound) async fn get<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    id: DeadLetterId,
) -> Result<Option<DeadLetter>, StoreError> {
    let statement = select_letters()
        .sql(" FROM dead_letters WHERE id = ")
        .number(id.0)
        .sql(" AND consumer = ")
        .text(consumer.as_str());
    let mut rows: Vec<LetterRow> = statements.rows(statement).await?;
    rows.pop().map(LetterRow::read).transpose()
}

/// The letters of those numbers, by number.
pub(super) fn select_by_ids(ids: &[DeadLetterId]) -> Composed {
    select_letters().sql(" FROM dead_letters WHERE id").one_of(numbers(ids)).sql(" ORDER BY id")
}
