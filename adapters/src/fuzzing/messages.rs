//! What stands in the queue, and what destinations are told.

use std::time::Duration;

use application::cloud_event::render;
use application::disposition::DeadLetterReason;
use application::ports::event_queue::Delivery;
use application::ports::outbox::{OutboxEntry, Standing};
use application::retry_policy::HISTORY_ENTRIES_MAX;
use bytes::Bytes;
use domain::Timestamp;
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldArray, FieldTable, ShortString};
use serde_json::Value;

use crate::outbound::amqp::wire;

/// What a frame of the broker holds, unless it is set otherwise.
const FRAME_BYTES: usize = 131_072;

/// The headers of a message, in the order in which an input may set them.
const HEADERS: [&str; 12] = [
    wire::HEADER_VERSION,
    wire::HEADER_SOURCE,
    wire::HEADER_EVENT_ID,
    wire::HEADER_RECEIVED_AT,
    wire::HEADER_HEADERS,
    wire::HEADER_FAILED_ATTEMPTS,
    wire::HEADER_HISTORY,
    wire::HEADER_TRACEPARENT,
    wire::HEADER_TRACESTATE,
    wire::HEADER_REASON,
    wire::HEADER_DETAIL,
    "x-death",
];

/// A message of the queue: every line but the last sets a header (which one, its type, its value), the last is the
/// payload. What can be read at all is written and read again as the same.
pub fn wire(data: &[u8]) {
    let mut headers = FieldTable::default();
    let mut content_type = None;
    let mut lines = data.split(|byte| *byte == b'\n').peekable();
    let mut payload = &b""[..];
    while let Some(line) = lines.next() {
        match line {
            line if lines.peek().is_none() => payload = line,
            [b'c', value @ ..] => {
                content_type = std::str::from_utf8(value).ok().filter(|text| text.len() < 256);
            }
            [which, kind, value @ ..] => {
                let name = HEADERS[usize::from(which.wrapping_sub(b'0')) % HEADERS.len()];
                headers.insert(name.into(), header_value(*kind, value));
            }
            _ => {}
        }
    }
    let mut properties = BasicProperties::default().with_headers(headers);
    if let Some(content_type) = content_type {
        properties = properties.with_content_type(ShortString::from(content_type));
    }
    let payload = Bytes::copy_from_slice(payload);
    let delivery = wire::read(1, &properties, payload.clone());
    assert!(delivery.history.len() <= HISTORY_ENTRIES_MAX, "wire: a history without an end");
    check_dead_letter(&delivery);
    match &delivery.content {
        Ok(envelope) => {
            assert_eq!(envelope.payload, payload, "wire: another payload");
            check_written(&delivery);
        }
        Err(unreadable) => assert_eq!(unreadable.payload, payload, "wire: the payload is not kept"),
    }
}

fn header_value(kind: u8, value: &[u8]) -> AMQPValue {
    let text = || String::from_utf8_lossy(value).into_owned();
    let number = || text().trim().parse::<i64>().unwrap_or(i64::MIN);
    match kind {
        b'l' => AMQPValue::LongLongInt(number()),
        b'i' => AMQPValue::LongInt(i32::try_from(number()).unwrap_or(i32::MAX)),
        b'u' => AMQPValue::LongUInt(u32::try_from(number()).unwrap_or(u32::MAX)),
        b'b' => AMQPValue::ShortShortUInt(u8::try_from(number()).unwrap_or(u8::MAX)),
        b'h' => AMQPValue::ShortString(ShortString::from(&*text().chars().take(60).collect::<String>())),
        b'a' => {
            let entries = value.split(|byte| *byte == b'\t');
            let entries: Vec<AMQPValue> =
                entries.map(|entry| AMQPValue::LongString(entry.to_vec().into())).collect();
            AMQPValue::FieldArray(FieldArray::from(entries))
        }
        b'v' => AMQPValue::Void,
        _ => AMQPValue::LongString(value.to_vec().into()),
    }
}

fn check_written(delivery: &Delivery) {
    let Ok(envelope) = &delivery.content else { return };
    let Ok(written) =
        wire::retry_properties(envelope, Duration::from_secs(5), delivery.failed_attempts, &delivery.history)
    else {
        return;
    };
    check_size(&written);
    let again = wire::read(2, &written, envelope.payload.clone());
    let read = again.content.as_ref().unwrap_or_else(|it| panic!("wire: own message: {}", it.reason));
    assert_eq!(read.key, envelope.key, "wire: another key");
    assert_eq!(read.received_at, envelope.received_at, "wire: another arrival");
    assert_eq!(read.headers, envelope.headers, "wire: other headers");
    assert_eq!(read.payload, envelope.payload, "wire: another payload");
    assert_eq!(again.failed_attempts, delivery.failed_attempts, "wire: another count");
}

/// Whatever a delivery holds, it can become a dead letter, unless its headers are too large.
fn check_dead_letter(delivery: &Delivery) {
    let reason = DeadLetterReason::Untranslatable("x".repeat(10_000));
    let now = Timestamp::from_micros(1_700_000_000_000_000);
    let by = wire::GivenUpBy { queue: "events.main", worker: Some("worker") };
    let written = wire::dead_letter_properties(
        delivery,
        by,
        &reason,
        (delivery.failed_attempts, &delivery.history),
        now,
    );
    match written {
        Ok(written) => check_size(&written),
        Err(_) => assert!(delivery.content.is_ok(), "wire: an unreadable message cannot be given up"),
    }
}

fn check_size(properties: &BasicProperties) {
    let size = |value: &AMQPValue| match value {
        AMQPValue::LongString(text) => text.as_bytes().len(),
        AMQPValue::FieldArray(list) => {
            let texts = list.as_slice().iter();
            texts
                .map(
                    |value| {
                        if let AMQPValue::LongString(text) = value { text.as_bytes().len() + 5 } else { 9 }
                    },
                )
                .sum()
        }
        _ => 9,
    };
    let headers = properties.headers().clone().unwrap_or_default();
    let bytes: usize =
        headers.inner().iter().map(|(name, value)| name.as_str().len() + 6 + size(value)).sum();
    assert!(bytes < FRAME_BYTES, "wire: {bytes} bytes of headers");
}

/// A message of the outbox, a line for each of its members: it is JSON that says them, and always the same.
pub fn cloud_event(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default().to_owned();
    let (id, kind, source, payment_id, account, fact) = (line(), line(), line(), line(), line(), line());
    let (amount, currency, at) = (line().parse().ok(), line(), line().parse().unwrap_or_default());
    let entry = OutboxEntry {
        seq: 1,
        id,
        kind,
        source,
        payment_id,
        account,
        fact,
        amount_minor: amount,
        currency: Some(currency).filter(|currency| !currency.is_empty()),
        occurred_at: Timestamp::from_micros(at),
        standing: Standing::New,
    };
    let rendered = render(&entry);
    assert_eq!(rendered, render(&OutboxEntry { seq: 2, ..entry.clone() }), "cloud_event: other bytes");
    let event: Value = serde_json::from_slice(&rendered).expect("cloud_event: it is not JSON");
    assert_eq!((&event["id"], &event["type"]), (&entry.id.into(), &entry.kind.into()), "cloud_event");
    assert_eq!(event["subject"], Value::from(entry.payment_id), "cloud_event");
    assert_eq!(event["data"]["fact"], Value::from(entry.fact), "cloud_event");
    assert_eq!(event["data"]["amount_minor"], Value::from(entry.amount_minor), "cloud_event");
}
