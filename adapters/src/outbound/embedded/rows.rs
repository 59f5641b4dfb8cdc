//! An event as a row: the body byte for byte, everything else in columns of its own.

use application::envelope::{Envelope, TraceContext};
use application::ports::event_queue::{Delivery, UnreadableMessage};
use application::retry_policy::{AttemptFailure, HISTORY_ENTRIES_MAX};
use bytes::Bytes;
use diesel::sqlite::Sqlite;
use diesel::{Insertable, Queryable, Selectable};
use domain::{EventId, EventKey, SourceName, Timestamp};
use serde::{Deserialize, Serialize};

use super::schema::events;

/// The most bytes of one error in the history.
const ERROR_BYTES_MAX: usize = 1024;
/// The most bytes of a dead letter's detail.
const DETAIL_BYTES_MAX: usize = 4 * 1024;

/// An event that is to be queued.
#[derive(Insertable)]
#[diesel(table_name = events)]
pub(super) struct NewEvent<'a> {
    id: i64,
    source: &'a str,
    event_id: &'a str,
    received_at: i64,
    queued_at: Option<i64>,
    content_type: Option<&'a str>,
    headers: String,
    traceparent: Option<&'a str>,
    tracestate: Option<&'a str>,
    payload: &'a [u8],
}

impl<'a> NewEvent<'a> {
    pub(super) fn of(id: i64, envelope: &'a Envelope) -> serde_json::Result<Self> {
        Ok(Self {
            id,
            source: envelope.key.source.as_str(),
            event_id: envelope.key.event_id.as_str(),
            received_at: envelope.received_at.as_micros(),
            queued_at: Some(envelope.queued_at.as_micros()),
            content_type: envelope.content_type.as_deref(),
            headers: serde_json::to_string(&envelope.headers)?,
            traceparent: envelope.trace.traceparent.as_deref(),
            tracestate: envelope.trace.tracestate.as_deref(),
            payload: &envelope.payload,
        })
    }
}

/// An event that waits.
#[derive(Queryable, Selectable)]
#[diesel(table_name = events, check_for_backend(Sqlite))]
pub(super) struct EventRow {
    pub(super) id: i64,
    source: String,
    event_id: String,
    received_at: i64,
    content_type: Option<String>,
    headers: String,
    traceparent: Option<String>,
    tracestate: Option<String>,
    payload: Vec<u8>,
    failed_attempts: i64,
    history: String,
    pub(super) unclean_stops: i64,
    pub(super) due_at: Option<i64>,
    queued_at: Option<i64>,
}

impl EventRow {
    pub(super) fn payload_len(&self) -> usize {
        self.payload.len()
    }

    /// What is handed out. A row that cannot be an envelope is unreadable, with the reason and the bytes.
    pub(super) fn into_delivery(self) -> Delivery {
        Delivery {
            token: self.id.cast_unsigned(),
            failed_attempts: u32::try_from(self.failed_attempts.max(0)).unwrap_or(u32::MAX),
            history: read_history(&self.history),
            content: self.into_envelope(),
        }
    }

    fn into_envelope(self) -> Result<Envelope, UnreadableMessage> {
        let carried = Carried {
            source: self.source,
            event_id: self.event_id,
            received_at: self.received_at,
            queued_at: self.queued_at,
            content_type: self.content_type,
            headers: self.headers,
            traceparent: self.traceparent,
            tracestate: self.tracestate,
            payload: self.payload,
        };
        carried.into_envelope()
    }
}

/// What a row carries of its envelope.
pub(super) struct Carried {
    pub(super) source: String,
    pub(super) event_id: String,
    pub(super) received_at: i64,
    pub(super) queued_at: Option<i64>,
    pub(super) content_type: Option<String>,
    pub(super) headers: String,
    pub(super) traceparent: Option<String>,
    pub(super) tracestate: Option<String>,
    pub(super) payload: Vec<u8>,
}

impl Carried {
    /// The envelope; unreadable, with the reason and the bytes, where it cannot be one.
    pub(super) fn into_envelope(self) -> Result<Envelope, UnreadableMessage> {
        let payload = Bytes::from(self.payload);
        let unreadable = |reason| UnreadableMessage { reason, payload: payload.clone() };
        let source =
            SourceName::parse(&self.source).map_err(|error| unreadable(format!("source: {error}")))?;
        let event_id =
            EventId::parse(&self.event_id).map_err(|error| unreadable(format!("event id: {error}")))?;
        let headers = serde_json::from_str(&self.headers)
            .map_err(|error| unreadable(format!("kept request headers: {error}")))?;
        Ok(Envelope {
            key: EventKey { source, event_id },
            received_at: Timestamp::from_micros(self.received_at),
            queued_at: Timestamp::from_micros(self.queued_at.unwrap_or(self.received_at)),
            content_type: self.content_type,
            headers,
            trace: TraceContext { traceparent: self.traceparent, tracestate: self.tracestate },
            payload,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct HistoryEntry {
    at: i64,
    class: String,
    error: String,
}

/// The newest failures, each bounded.
pub(super) fn written_history(history: &[AttemptFailure]) -> serde_json::Result<String> {
    let surplus = history.len().saturating_sub(HISTORY_ENTRIES_MAX);
    let entries: Vec<HistoryEntry> = history[surplus..]
        .iter()
        .map(|failure| HistoryEntry {
            at: failure.at.as_micros(),
            class: failure.class.clone(),
            error: cut(&failure.error, ERROR_BYTES_MAX).to_owned(),
        })
        .collect();
    serde_json::to_string(&entries)
}

/// A history that makes no sense is none.
pub(super) fn read_history(json: &str) -> Vec<AttemptFailure> {
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

/// The reason in full, bounded.
pub(super) fn written_detail(detail: &str) -> String {
    cut(detail, DETAIL_BYTES_MAX).to_owned()
}

/// `text`, cut between characters.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
