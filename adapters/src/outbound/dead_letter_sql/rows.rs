//! Between the rows of letters and what the ports speak of.

use application::dead_letter::text::storable;
use application::dead_letter::{
    DeadLetter, DeadLetterId, DeadLetterSummary, FailureGroup, LetterCause, LetterContent, LetterReason,
    LetterState, LetterSubject,
};
use application::envelope::TraceContext;
use application::ports::BoxError;
use application::ports::unit_of_work::StoreError;
use application::retry_policy::AttemptFailure;
use bytes::Bytes;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use domain::{
    ConsumerName, Currency, EventId, EventKey, EventKind, IdError, MerchantId, Money, PaymentId, SourceName,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use super::composed::Composed;

/// A letter without what it carries.
#[derive(QueryableByName)]
pub(super) struct SummaryRow {
    #[diesel(sql_type = BigInt)]
    pub(super) id: i64,
    #[diesel(sql_type = Text)]
    consumer: String,
    #[diesel(sql_type = Nullable<Text>)]
    source: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    event_id: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    kind: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    received_us: Option<i64>,
    #[diesel(sql_type = BigInt)]
    payload_bytes: i64,
    #[diesel(sql_type = BigInt)]
    failed_attempts: i64,
    #[diesel(sql_type = Text)]
    reason: String,
    #[diesel(sql_type = Text)]
    detail: String,
    #[diesel(sql_type = BigInt)]
    dead_lettered_us: i64,
    #[diesel(sql_type = Nullable<Text>)]
    worker: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    release: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    payment_id: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    account: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount_minor: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = Binary)]
    failure_group: Vec<u8>,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    replays: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    linked_to: Option<i64>,
    #[diesel(sql_type = BigInt)]
    stored_us: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    settled_us: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    discard_reason: Option<String>,
}

/// `SELECT` and the columns of a [`SummaryRow`].
pub(super) fn select_summaries() -> Composed {
    Composed::new("SELECT id, consumer, source, event_id, kind, ")
        .micros("received_at")
        .sql(" AS received_us, ")
        .size("payload")
        .sql(" AS payload_bytes, failed_attempts, reason, detail, ")
        .micros("dead_lettered_at")
        .sql(" AS dead_lettered_us, worker, release, payment_id, account, amount_minor, currency, ")
        .sql("failure_group, state, replays, linked_to, ")
        .micros("stored_at")
        .sql(" AS stored_us, ")
        .micros("settled_at")
        .sql(" AS settled_us, discard_reason")
}

/// A letter.
#[derive(QueryableByName)]
pub(super) struct LetterRow {
    #[diesel(embed)]
    pub(super) summary: SummaryRow,
    #[diesel(sql_type = Nullable<Text>)]
    content_type: Option<String>,
    #[diesel(sql_type = Text)]
    headers: String,
    #[diesel(sql_type = Nullable<Text>)]
    traceparent: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    tracestate: Option<String>,
    #[diesel(sql_type = Text)]
    history: String,
    #[diesel(sql_type = Binary)]
    payload: Vec<u8>,
}

/// `SELECT` and the columns of a [`LetterRow`].
pub(super) fn select_letters() -> Composed {
    select_summaries().sql(", content_type, headers, traceparent, tracestate, history, payload")
}

impl SummaryRow {
    /// What the row says. One that this release cannot read may have been written by a newer one, so another
    /// process may do better: that is transient.
    pub(super) fn read(self) -> Result<DeadLetterSummary, StoreError> {
        let id = self.id;
        self.try_read().map_err(|error| unreadable(&format!("dead letter {id}"), &error))
    }

    fn try_read(self) -> Result<DeadLetterSummary, BoxError> {
        let key = match (self.source, self.event_id) {
            (Some(source), Some(event_id)) => {
                Some(EventKey { source: SourceName::parse(&source)?, event_id: EventId::parse(&event_id)? })
            }
            _ => None,
        };
        let amount = match (self.amount_minor, self.currency) {
            (Some(minor), Some(currency)) => Some(Money::new(minor, Currency::parse(&currency)?)),
            _ => None,
        };
        Ok(DeadLetterSummary {
            id: DeadLetterId(self.id),
            consumer: ConsumerName::parse(&self.consumer)?,
            key,
            received_at: self.received_us.map(Timestamp::from_micros),
            payload_bytes: self.payload_bytes.unsigned_abs(),
            subject: LetterSubject {
                kind: parsed(self.kind.as_deref(), EventKind::parse)?,
                payment: parsed(self.payment_id.as_deref(), PaymentId::parse)?,
                account: parsed(self.account.as_deref(), MerchantId::parse)?,
                amount,
            },
            cause: LetterCause {
                reason: LetterReason::from_label(&self.reason).unwrap_or(LetterReason::Unknown),
                detail: self.detail,
                failed_attempts: u32::try_from(self.failed_attempts).unwrap_or(u32::MAX),
                dead_lettered_at: Timestamp::from_micros(self.dead_lettered_us),
                worker: self.worker,
                release: self.release,
            },
            group: FailureGroup::from_bytes(&self.failure_group).ok_or("its group has another length")?,
            state: LetterState::from_name(&self.state)
                .ok_or_else(|| format!("unknown state {:?}", self.state))?,
            replays: u32::try_from(self.replays).unwrap_or(u32::MAX),
            linked_to: self.linked_to.map(DeadLetterId),
            stored_at: Timestamp::from_micros(self.stored_us),
            settled_at: self.settled_us.map(Timestamp::from_micros),
            discard_reason: self.discard_reason,
        })
    }
}

impl LetterRow {
    /// What the row says, see [`SummaryRow::read`].
    pub(super) fn read(self) -> Result<DeadLetter, StoreError> {
        let headers = serde_json::from_str(&self.headers)
            .map_err(|error| unreadable("the headers of a dead letter", &error.into()))?;
        Ok(DeadLetter {
            summary: self.summary.read()?,
            content: LetterContent {
                payload: Bytes::from(self.payload),
                content_type: self.content_type,
                headers,
                trace: TraceContext { traceparent: self.traceparent, tracestate: self.tracestate },
            },
            history: read_history(&self.history),
        })
    }
}

fn parsed<T>(text: Option<&str>, parse: fn(&str) -> Result<T, IdError>) -> Result<Option<T>, IdError> {
    text.map(parse).transpose()
}

/// A row that this release cannot read.
pub(super) fn unreadable(what: &str, error: &BoxError) -> StoreError {
    StoreError::Transient(format!("cannot read {what}: {error}").into())
}

#[derive(Serialize, Deserialize)]
struct HistoryEntry {
    at: i64,
    class: String,
    error: String,
}

/// Failures as text. JSON escapes control characters, so any error can be kept.
pub(super) fn written_history(history: &[AttemptFailure]) -> Result<String, StoreError> {
    let entries: Vec<HistoryEntry> = history
        .iter()
        .map(|failure| HistoryEntry {
            at: failure.at.as_micros(),
            class: clean(&failure.class),
            error: clean(&failure.error),
        })
        .collect();
    written(&entries)
}

/// A history that makes no sense is none.
fn read_history(json: &str) -> Vec<AttemptFailure> {
    let entries: Vec<HistoryEntry> = serde_json::from_str(json).unwrap_or_default();
    entries
        .into_iter()
        .map(|entry| AttemptFailure {
            at: Timestamp::from_micros(entry.at),
            class: entry.class,
            error: entry.error,
        })
        .collect()
}

/// JSON text.
pub(super) fn written<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Permanent(error.into()))
}

/// Text of any length that can be stored.
pub(super) fn clean(text: &str) -> String {
    storable(text, usize::MAX)
}
