//! Between rows and what the port speaks of.

use application::dead_letter::{DeadLetterId, LetterReason, LetterState};
use application::ports::BoxError;
use application::ports::event_reader::{EventOutcome, EventSummary};
use application::ports::unit_of_work::StoreError;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, SmallInt, Text};
use domain::{EventId, EventKey, EventKind, PaymentId, SourceName, Timestamp};

use crate::outbound::dead_letter_sql::Composed;
use crate::outbound::payment_row::unreadable;

/// `processed_events.outcome` of an event with an effect.
const OUTCOME_APPLIED: i16 = 1;
/// That of an event without one.
const OUTCOME_RECORDED: i16 = 2;

/// An event.
#[derive(QueryableByName)]
pub(super) struct EventRow {
    #[diesel(sql_type = Text)]
    source: String,
    #[diesel(sql_type = Text)]
    event_id: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    received_us: Option<i64>,
    #[diesel(sql_type = BigInt)]
    at_us: i64,
    #[diesel(sql_type = Nullable<Text>)]
    payment_id: Option<String>,
    #[diesel(sql_type = BigInt)]
    open_letters: i64,
    #[diesel(sql_type = SmallInt)]
    outcome: i16,
    #[diesel(sql_type = Nullable<Text>)]
    kind: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    reason: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    letter: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    state: Option<String>,
}

/// `SELECT` and the columns of an [`EventRow`] that the table `e` has in any case, with `moment` as its own.
pub(super) fn select_events(moment: &'static str) -> Composed {
    Composed::new("SELECT e.source AS source, e.event_id AS event_id, ")
        .micros("e.received_at")
        .sql(" AS received_us, ")
        .micros(moment)
        .sql(
            " AS at_us, e.payment_id AS payment_id, \
             (SELECT count(*) FROM dead_letters AS l WHERE l.consumer = e.consumer AND l.source = e.source \
               AND l.event_id = e.event_id AND l.linked_to IS NULL AND l.state = 'open') AS open_letters, ",
        )
}

impl EventRow {
    /// What the row says. One that this release cannot read may have been written by a newer one, so another
    /// process may do better: that is transient.
    pub(super) fn read(self) -> Result<EventSummary, StoreError> {
        let name = format!("event {}/{}", self.source, self.event_id);
        self.try_read().map_err(|error| unreadable(&name, &error))
    }

    fn try_read(self) -> Result<EventSummary, BoxError> {
        let kind = self.kind.as_deref().map(EventKind::parse).transpose()?;
        let outcome = match (self.outcome, self.letter) {
            (OUTCOME_APPLIED, None) => EventOutcome::Applied,
            (OUTCOME_RECORDED, None) => EventOutcome::Recorded {
                kind: kind.ok_or("its kind is missing")?,
                reason: self.reason.ok_or("the reason is missing")?,
            },
            (0, Some(letter)) => EventOutcome::GivenUp {
                letter: DeadLetterId(letter),
                state: self.state.as_deref().and_then(LetterState::from_name).ok_or("unknown state")?,
                reason: self
                    .reason
                    .as_deref()
                    .and_then(LetterReason::from_label)
                    .unwrap_or(LetterReason::Unknown),
                kind,
            },
            (outcome, _) => return Err(format!("unknown outcome {outcome}").into()),
        };
        Ok(EventSummary {
            key: EventKey {
                source: SourceName::parse(&self.source)?,
                event_id: EventId::parse(&self.event_id)?,
            },
            received_at: self.received_us.map(Timestamp::from_micros),
            at: Timestamp::from_micros(self.at_us),
            payment: self.payment_id.as_deref().map(PaymentId::parse).transpose()?,
            outcome,
            open_letters: self.open_letters.unsigned_abs(),
        })
    }
}
