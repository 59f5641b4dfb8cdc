//! What a message looks like: the body is the request's body byte for byte, everything else is in properties
//! and headers of our own.
//!
//! The broker's own headers (`x-death`, `x-first-death-*`, `x-delivery-count`) are not copied, and no attempt is
//! counted by them: their meaning changed in RabbitMQ 3.13 and 4.0. Everything that is written is bounded, so that properties
//! and headers always fit one frame.

use std::time::Duration;

use application::disposition::DeadLetterReason;
use application::envelope::{Envelope, TraceContext};
use application::ports::event_queue::{Delivery, UnreadableMessage};
use application::retry_policy::{AttemptFailure, HISTORY_ENTRIES_MAX};
use bytes::Bytes;
use domain::{EventId, EventKey, SourceName, Timestamp};
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldArray, FieldTable, ShortString};
use serde::{Deserialize, Serialize};

mod dead_letter;

pub use dead_letter::read_dead_letter;

/// The version of this format.
pub const VERSION: i64 = 1;

/// Header: [`VERSION`].
pub const HEADER_VERSION: &str = "x-payonce-version";
/// Header: the source that the request came to.
pub const HEADER_SOURCE: &str = "x-payonce-source";
/// Header: the event's id.
pub const HEADER_EVENT_ID: &str = "x-payonce-event-id";
/// Header: when the request arrived, in microseconds since the epoch.
pub const HEADER_RECEIVED_AT: &str = "x-payonce-received-at";
/// Header: when it was put into the main queue, in microseconds since the epoch; with its arrival where it is missing.
pub const HEADER_QUEUED_AT: &str = "x-payonce-queued-at";
/// Header: the kept request headers, a list of names and values in turn.
pub const HEADER_HEADERS: &str = "x-payonce-headers";
/// Header: how many attempts have failed.
pub const HEADER_FAILED_ATTEMPTS: &str = "x-payonce-failed-attempts";
/// Header: the failures as JSON, oldest first.
pub const HEADER_HISTORY: &str = "x-payonce-history";
/// Header of a dead letter: the reason's label.
pub const HEADER_REASON: &str = "x-payonce-reason";
/// Header of a dead letter: the reason in full.
pub const HEADER_DETAIL: &str = "x-payonce-detail";
/// Header of a dead letter: when it became one, in microseconds since the epoch.
pub const HEADER_DEAD_LETTERED_AT: &str = "x-payonce-dead-lettered-at";
/// Header of a dead letter: the worker that gave up on it, where it has a name.
pub const HEADER_WORKER: &str = "x-payonce-worker";
/// Header of a dead letter: the release that gave up on it.
pub const HEADER_RELEASE: &str = "x-payonce-release";
/// Header of a dead letter: the queue it was taken from.
pub const HEADER_QUEUE: &str = "x-payonce-queue";
/// Header: W3C trace context.
pub const HEADER_TRACEPARENT: &str = "traceparent";
/// Header: W3C trace context.
pub const HEADER_TRACESTATE: &str = "tracestate";

/// The broker's header: how often it got a message back. It is missing the first time.
const BROKER_DELIVERY_COUNT: &str = "x-delivery-count";

/// The most bytes of kept request headers.
pub const KEPT_HEADERS_BYTES_MAX: usize = 32 * 1024;
/// The most bytes of the history.
const HISTORY_BYTES_MAX: usize = 16 * 1024;
/// The most bytes of one error in the history.
const ERROR_BYTES_MAX: usize = 1024;
/// The most bytes of a dead letter's detail.
const DETAIL_BYTES_MAX: usize = 4 * 1024;
/// The most bytes of a trace header.
const TRACE_BYTES_MAX: usize = 512;
/// The most bytes of an AMQP short string.
const SHORT_BYTES_MAX: usize = 255;
const PERSISTENT: u8 = 2;

/// The kept request headers do not fit a message.
#[derive(Debug, thiserror::Error)]
#[error("the kept request headers have {bytes} bytes; at most {KEPT_HEADERS_BYTES_MAX} are allowed")]
pub struct HeadersTooLarge {
    /// How many bytes came.
    pub bytes: usize,
}

#[derive(Serialize, Deserialize)]
struct HistoryEntry {
    at: i64,
    class: String,
    error: String,
}

/// The properties of an envelope that has not failed yet. Its payload is the body, untouched.
pub fn properties(envelope: &Envelope) -> Result<BasicProperties, HeadersTooLarge> {
    let bytes: usize = envelope.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > KEPT_HEADERS_BYTES_MAX {
        return Err(HeadersTooLarge { bytes });
    }
    let key = &envelope.key;
    let mut headers = FieldTable::default();
    put_number(&mut headers, HEADER_VERSION, VERSION);
    put_text(&mut headers, HEADER_SOURCE, key.source.as_str());
    put_text(&mut headers, HEADER_EVENT_ID, key.event_id.as_str());
    put_number(&mut headers, HEADER_RECEIVED_AT, envelope.received_at.as_micros());
    put_number(&mut headers, HEADER_QUEUED_AT, envelope.queued_at.as_micros());
    if !envelope.headers.is_empty() {
        let pairs = envelope.headers.iter().flat_map(|(name, value)| [name, value]);
        let list: Vec<AMQPValue> = pairs.map(|text| AMQPValue::LongString(text.as_str().into())).collect();
        headers.insert(HEADER_HEADERS.into(), AMQPValue::FieldArray(FieldArray::from(list)));
    }
    let trace =
        [(HEADER_TRACEPARENT, &envelope.trace.traceparent), (HEADER_TRACESTATE, &envelope.trace.tracestate)];
    for (name, value) in trace {
        if let Some(value) = value.as_ref().filter(|value| value.len() <= TRACE_BYTES_MAX) {
            put_text(&mut headers, name, value);
        }
    }
    let mut properties = BasicProperties::default()
        .with_delivery_mode(PERSISTENT)
        .with_timestamp(u64::try_from(envelope.received_at.as_secs()).unwrap_or(0))
        .with_headers(headers);
    if let Some(id) = short(key.event_id.as_str()) {
        properties = properties.with_message_id(id);
    }
    if let Some(content_type) = envelope.content_type.as_deref().and_then(short) {
        properties = properties.with_content_type(content_type);
    }
    Ok(properties)
}

/// The properties of an envelope on its way to another attempt, for which it waits for `delay`. A queue's own
/// time is never shorter, so that an event waits behind none that was asked to wait for much longer.
pub fn retry_properties(
    envelope: &Envelope,
    delay: Duration,
    failed_attempts: u32,
    history: &[AttemptFailure],
) -> Result<BasicProperties, HeadersTooLarge> {
    let properties = properties(envelope)?;
    let headers = with_failures(headers_of(&properties), failed_attempts, history);
    let expiration = short(&delay.as_millis().to_string()).unwrap_or_default();
    Ok(properties.with_headers(headers).with_expiration(expiration))
}

/// Who gives an event up.
#[derive(Debug, Clone, Copy)]
pub struct GivenUpBy<'a> {
    /// The queue that it was taken from.
    pub queue: &'a str,
    /// The worker, where it has a name.
    pub worker: Option<&'a str>,
}

/// The properties of a dead letter, with how many attempts have failed, and how. An unreadable message keeps nothing
/// but its bytes.
pub fn dead_letter_properties(
    delivery: &Delivery,
    by: GivenUpBy<'_>,
    reason: &DeadLetterReason,
    (failed_attempts, history): (u32, &[AttemptFailure]),
    now: Timestamp,
) -> Result<BasicProperties, HeadersTooLarge> {
    let properties = match &delivery.content {
        Ok(envelope) => properties(envelope)?,
        Err(_) => BasicProperties::default().with_delivery_mode(PERSISTENT),
    };
    let mut headers = with_failures(headers_of(&properties), failed_attempts, history);
    put_text(&mut headers, HEADER_REASON, reason.label());
    put_text(&mut headers, HEADER_DETAIL, cut(&reason.detail(), DETAIL_BYTES_MAX));
    put_number(&mut headers, HEADER_DEAD_LETTERED_AT, now.as_micros());
    put_text(&mut headers, HEADER_RELEASE, env!("CARGO_PKG_VERSION"));
    put_text(&mut headers, HEADER_QUEUE, by.queue);
    if let Some(worker) = by.worker {
        put_text(&mut headers, HEADER_WORKER, cut(worker, SHORT_BYTES_MAX));
    }
    Ok(properties.with_headers(headers))
}

/// How often the broker got the message back without an answer, as when a process died or stopped with it in hand.
/// It decides in whose company an event is handed out, and nothing else.
pub fn returns(properties: &BasicProperties) -> u64 {
    let headers = properties.headers().as_ref();
    let count = headers.and_then(|headers| number(headers, BROKER_DELIVERY_COUNT)).unwrap_or(0);
    u64::try_from(count).unwrap_or(0)
}

/// Reads a message. Whatever cannot be an envelope of ours is unreadable, with the reason and the bytes; a
/// count or history that makes no sense is none.
pub fn read(token: u64, properties: &BasicProperties, payload: Bytes) -> Delivery {
    let none = FieldTable::default();
    let headers = properties.headers().as_ref().unwrap_or(&none);
    let failed = number(headers, HEADER_FAILED_ATTEMPTS).unwrap_or(0).max(0);
    Delivery {
        token,
        failed_attempts: u32::try_from(failed).unwrap_or(u32::MAX),
        history: read_history(headers),
        content: match read_envelope(properties, headers, &payload) {
            Ok(envelope) => Ok(envelope),
            Err(reason) => Err(UnreadableMessage { reason, payload }),
        },
    }
}

fn read_envelope(
    properties: &BasicProperties,
    headers: &FieldTable,
    payload: &Bytes,
) -> Result<Envelope, String> {
    match number(headers, HEADER_VERSION) {
        Some(VERSION) => {}
        Some(other) => {
            return Err(format!("{HEADER_VERSION} is {other}; this release reads {VERSION}"));
        }
        None => return Err(format!("{HEADER_VERSION} is missing or not a number")),
    }
    let source = required(headers, HEADER_SOURCE)?;
    let event_id = required(headers, HEADER_EVENT_ID)?;
    let received_at = number(headers, HEADER_RECEIVED_AT)
        .ok_or_else(|| format!("{HEADER_RECEIVED_AT} is missing or not a number"))?;
    Ok(Envelope {
        key: EventKey {
            source: SourceName::parse(source).map_err(|error| format!("{HEADER_SOURCE} {error}"))?,
            event_id: EventId::parse(event_id).map_err(|error| format!("{HEADER_EVENT_ID} {error}"))?,
        },
        received_at: Timestamp::from_micros(received_at),
        // Messages of the release before do not have it.
        queued_at: Timestamp::from_micros(number(headers, HEADER_QUEUED_AT).unwrap_or(received_at)),
        content_type: properties.content_type().as_ref().map(|text| text.as_str().to_owned()),
        headers: read_kept_headers(headers)?,
        trace: TraceContext {
            traceparent: text(headers, HEADER_TRACEPARENT).map(str::to_owned),
            tracestate: text(headers, HEADER_TRACESTATE).map(str::to_owned),
        },
        payload: payload.clone(),
    })
}

fn read_kept_headers(headers: &FieldTable) -> Result<Vec<(String, String)>, String> {
    let list = match headers.inner().get(HEADER_HEADERS) {
        None => return Ok(Vec::new()),
        Some(AMQPValue::FieldArray(list)) => list.as_slice(),
        Some(_) => return Err(format!("{HEADER_HEADERS} is not a list")),
    };
    let texts: Option<Vec<&str>> = list.iter().map(as_text).collect();
    match texts.as_deref().map(<[&str]>::as_chunks::<2>) {
        Some((pairs, [])) => {
            Ok(pairs.iter().map(|[name, value]| ((*name).to_owned(), (*value).to_owned())).collect())
        }
        _ => Err(format!("{HEADER_HEADERS} is not a list of names and values")),
    }
}

fn read_history(headers: &FieldTable) -> Vec<AttemptFailure> {
    let entries: Vec<HistoryEntry> =
        text(headers, HEADER_HISTORY).and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    let surplus = entries.len().saturating_sub(HISTORY_ENTRIES_MAX);
    let newest = entries.into_iter().skip(surplus);
    newest
        .map(|entry| AttemptFailure {
            at: Timestamp::from_micros(entry.at),
            class: entry.class,
            error: entry.error,
        })
        .collect()
}

fn with_failures(mut headers: FieldTable, failed_attempts: u32, history: &[AttemptFailure]) -> FieldTable {
    put_number(&mut headers, HEADER_FAILED_ATTEMPTS, i64::from(failed_attempts));
    // The newest, as many of them as fit.
    for skip in history.len().saturating_sub(HISTORY_ENTRIES_MAX)..history.len() {
        let entries: Vec<HistoryEntry> = history[skip..]
            .iter()
            .map(|failure| HistoryEntry {
                at: failure.at.as_micros(),
                class: cut(&failure.class, SHORT_BYTES_MAX).to_owned(),
                error: cut(&failure.error, ERROR_BYTES_MAX).to_owned(),
            })
            .collect();
        match serde_json::to_string(&entries) {
            Ok(json) if json.len() <= HISTORY_BYTES_MAX => {
                put_text(&mut headers, HEADER_HISTORY, &json);
                break;
            }
            _ => {}
        }
    }
    headers
}

fn headers_of(properties: &BasicProperties) -> FieldTable {
    properties.headers().clone().unwrap_or_default()
}

fn put_text(headers: &mut FieldTable, name: &str, value: &str) {
    headers.insert(name.into(), AMQPValue::LongString(value.into()));
}

fn put_number(headers: &mut FieldTable, name: &str, value: i64) {
    headers.insert(name.into(), AMQPValue::LongLongInt(value));
}

/// `text` as a short string, where it is one: not too long, and without control characters.
fn short(text: &str) -> Option<ShortString> {
    let fits = !text.is_empty() && text.len() <= SHORT_BYTES_MAX && !text.chars().any(char::is_control);
    fits.then(|| text.into())
}

/// `text`, cut between characters.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

fn as_text(value: &AMQPValue) -> Option<&str> {
    match value {
        AMQPValue::LongString(text) => std::str::from_utf8(text.as_bytes()).ok(),
        AMQPValue::ShortString(text) => Some(text.as_str()),
        _ => None,
    }
}

fn text<'a>(headers: &'a FieldTable, name: &str) -> Option<&'a str> {
    headers.inner().get(name).and_then(as_text)
}

fn required<'a>(headers: &'a FieldTable, name: &str) -> Result<&'a str, String> {
    text(headers, name).ok_or_else(|| format!("{name} is missing or not a text"))
}

/// Whole numbers of any width: other clients and tools choose other ones.
fn number(headers: &FieldTable, name: &str) -> Option<i64> {
    match *headers.inner().get(name)? {
        AMQPValue::ShortShortInt(value) => Some(value.into()),
        AMQPValue::ShortShortUInt(value) => Some(value.into()),
        AMQPValue::ShortInt(value) => Some(value.into()),
        AMQPValue::ShortUInt(value) => Some(value.into()),
        AMQPValue::LongInt(value) => Some(value.into()),
        AMQPValue::LongUInt(value) => Some(value.into()),
        AMQPValue::LongLongInt(value) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
