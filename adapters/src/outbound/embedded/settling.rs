//! What settling does to the rows.

use application::dead_letter::LetterReason;
use application::disposition::DeadLetterReason;
use application::ports::BoxError;
use application::retry_policy::AttemptFailure;
use diesel::dsl::{delete, update};
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{ExpressionMethods, QueryDsl, QueryResult, RunQueryDsl, SqliteConnection};
use domain::Timestamp;

use super::rows::{written_detail, written_history};
use super::schema::{dead_letters, events};

/// What becomes of one row.
#[derive(Debug)]
pub(crate) struct Step {
    /// Which row.
    pub(crate) id: i64,
    /// What becomes of it.
    pub(crate) onward: Onward,
}

/// Where a row goes.
#[derive(Debug)]
pub(crate) enum Onward {
    /// It is done.
    Gone,
    /// It comes again.
    Later { due_at: i64, failed_attempts: i64, history: String },
    /// It is given up.
    DeadLetter {
        reason: &'static str,
        detail: String,
        /// As many as the row says, where it is not told.
        failed_attempts: Option<i64>,
        history: String,
        at: i64,
        worker: Option<String>,
    },
}

impl Onward {
    /// To another attempt at `due_at`.
    pub(crate) fn later(
        due_at: Timestamp,
        failed_attempts: u32,
        history: &[AttemptFailure],
    ) -> Result<Self, BoxError> {
        Ok(Self::Later {
            due_at: due_at.as_micros(),
            failed_attempts: failed_attempts.into(),
            history: written_history(history)?,
        })
    }

    /// To the dead letters, given up by `worker`.
    pub(crate) fn dead_letter(
        reason: &DeadLetterReason,
        (failed_attempts, history): (u32, &[AttemptFailure]),
        now: Timestamp,
        worker: Option<String>,
    ) -> Result<Self, BoxError> {
        Ok(Self::DeadLetter {
            reason: reason.label(),
            detail: written_detail(&reason.detail()),
            failed_attempts: Some(failed_attempts.into()),
            history: written_history(history)?,
            at: now.as_micros(),
            worker,
        })
    }

    /// To the dead letters: it was handed out too often without an answer.
    pub(super) fn delivery_limit(
        detail: &str,
        history: &[AttemptFailure],
        now: Timestamp,
    ) -> Result<Self, BoxError> {
        Ok(Self::DeadLetter {
            reason: LetterReason::DeliveryLimit.as_str(),
            detail: written_detail(detail),
            failed_attempts: None,
            history: written_history(history)?,
            at: now.as_micros(),
            worker: None,
        })
    }
}

/// Within the caller's transaction. A row that is gone already, as after a commit whose answer was an error,
/// is left alone.
pub(super) fn apply(connection: &mut SqliteConnection, step: &Step) -> QueryResult<()> {
    match &step.onward {
        Onward::Gone => {
            delete(events::table.filter(events::id.eq(step.id))).execute(connection)?;
        }
        Onward::Later { due_at, failed_attempts, history } => {
            update(events::table.filter(events::id.eq(step.id)))
                .set((
                    events::due_at.eq(due_at),
                    events::failed_attempts.eq(failed_attempts),
                    events::history.eq(history),
                ))
                .execute(connection)?;
        }
        Onward::DeadLetter { reason, detail, failed_attempts, history, at, worker } => {
            // Row to row, so that the bytes are those that were stored, whatever could be read of them.
            diesel::sql_query(
                "INSERT INTO dead_letters (source, event_id, received_at, content_type, headers, \
                 traceparent, tracestate, payload, failed_attempts, history, unclean_stops, \
                 reason, detail, dead_lettered_at, release, worker) \
                 SELECT source, event_id, received_at, content_type, headers, \
                 traceparent, tracestate, payload, coalesce(?, failed_attempts), ?, unclean_stops, ?, ?, ?, ?, ? \
                 FROM events WHERE id = ?",
            )
            .bind::<Nullable<BigInt>, _>(failed_attempts)
            .bind::<Text, _>(history)
            .bind::<Text, _>(reason)
            .bind::<Text, _>(detail)
            .bind::<BigInt, _>(at)
            .bind::<Text, _>(env!("CARGO_PKG_VERSION"))
            .bind::<Nullable<Text>, _>(worker)
            .bind::<BigInt, _>(step.id)
            .execute(connection)?;
            delete(events::table.filter(events::id.eq(step.id))).execute(connection)?;
        }
    }
    Ok(())
}

/// Within the caller's transaction: the dead letters are kept elsewhere from now on. One that is gone already is
/// let be.
pub(super) fn take_off(connection: &mut SqliteConnection, letters: &[i64]) -> QueryResult<()> {
    for id in letters {
        delete(dead_letters::table.filter(dead_letters::id.eq(id))).execute(connection)?;
    }
    Ok(())
}
