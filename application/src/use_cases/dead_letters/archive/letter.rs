//! From a message of the dead-letter queue to what is stored.

use bytes::Bytes;
use domain::{ConsumerName, Digest, Timestamp};

use crate::dead_letter::text::storable;
use crate::dead_letter::{
    DETAIL_BYTES_MAX, FailureGroup, LABEL_BYTES_MAX, LetterCause, LetterContent, LetterReason, LetterSubject,
    NewDeadLetter, TRACE_BYTES_MAX,
};
use crate::envelope::{Envelope, TraceContext};
use crate::error_chain::ERROR_CHAIN_BYTES_MAX;
use crate::ports::dead_letter_queue::DeadLetterMessage;
use crate::ports::provider::Sources;
use crate::retry_policy::{AttemptFailure, HISTORY_ENTRIES_MAX};

/// The broker's word for a message that was handed out too often.
const BROKER_DELIVERY_LIMIT: &str = "delivery_limit";

/// What is stored of `message`. Whatever cannot be read or translated is left out; never the bytes.
pub(super) fn of_message(
    message: DeadLetterMessage,
    consumer: &ConsumerName,
    sources: &Sources,
    now: Timestamp,
) -> NewDeadLetter {
    let arrival = arrival(&message, consumer);
    let cause = cause(&message, now);
    let subject = match &message.content {
        // Translating it may be what ends the process.
        Ok(_) if cause.reason == LetterReason::DeliveryLimit => LetterSubject::default(),
        Ok(envelope) => subject(envelope, sources),
        Err(_) => LetterSubject::default(),
    };
    let history = history(message.history);
    let (key, received_at, content) = match message.content {
        Ok(envelope) => (Some(envelope.key.clone()), Some(envelope.received_at), content(envelope)),
        Err(unreadable) => {
            (None, None, LetterContent { payload: unreadable.payload, ..LetterContent::default() })
        }
    };
    let source = key.as_ref().map(|key| &key.source);
    let group = FailureGroup::of(consumer, source, cause.reason, &cause.detail);
    NewDeadLetter {
        arrival,
        consumer: consumer.clone(),
        key,
        received_at,
        content,
        history,
        subject,
        cause,
        group,
    }
}

/// The same for every delivery of one message, and another one for any other message that tells when it was
/// given up.
fn arrival(message: &DeadLetterMessage, consumer: &ConsumerName) -> Digest {
    let moment = |at: Option<Timestamp>| at.map_or_else(Vec::new, |at| at.as_micros().to_be_bytes().to_vec());
    let (key, received_at, payload): (_, _, &Bytes) = match &message.content {
        Ok(envelope) => (Some(&envelope.key), Some(envelope.received_at), &envelope.payload),
        Err(unreadable) => (None, None, &unreadable.payload),
    };
    Digest::of([
        consumer.as_str().as_bytes(),
        key.map_or("", |key| key.source.as_str()).as_bytes(),
        key.map_or("", |key| key.event_id.as_str()).as_bytes(),
        &moment(received_at),
        &moment(message.dead_lettered_at),
        &message.failed_attempts.to_be_bytes(),
        payload,
    ])
}

fn cause(message: &DeadLetterMessage, now: Timestamp) -> LetterCause {
    let (reason, detail) = reason(message);
    LetterCause {
        reason,
        detail: storable(&detail, DETAIL_BYTES_MAX),
        failed_attempts: message.failed_attempts,
        dead_lettered_at: message.dead_lettered_at.unwrap_or(now),
        worker: message.worker.as_deref().map(label),
        release: message.release.as_deref().map(label),
    }
}

/// A worker's word counts before the broker's: a worker that gives up tells why.
fn reason(message: &DeadLetterMessage) -> (LetterReason, String) {
    let detail = message.detail.clone().unwrap_or_default();
    if let Some(label) = &message.reason {
        return match LetterReason::from_label(label) {
            Some(reason) => (reason, detail),
            None => (LetterReason::Unknown, format!("{label}: {detail}")),
        };
    }
    if let Some(broker_reason) = &message.broker_reason {
        let reason = if broker_reason == BROKER_DELIVERY_LIMIT {
            LetterReason::DeliveryLimit
        } else {
            LetterReason::Unknown
        };
        return (reason, format!("the broker gave up: {broker_reason}"));
    }
    match &message.content {
        Err(unreadable) => (LetterReason::Unreadable, unreadable.reason.clone()),
        Ok(_) => (LetterReason::Unknown, "the message does not say why".to_owned()),
    }
}

/// What the letter is about, as far as its source is configured and its payload can be translated.
fn subject(envelope: &Envelope, sources: &Sources) -> LetterSubject {
    let translated = sources.get(&envelope.key.source).map(|provider| provider.translate(envelope));
    match translated {
        Some(Ok(event)) => LetterSubject::of(&event),
        Some(Err(_)) | None => LetterSubject::default(),
    }
}

fn content(envelope: Envelope) -> LetterContent {
    let trace_part = |part: Option<String>| part.map(|part| storable(&part, TRACE_BYTES_MAX));
    LetterContent {
        payload: envelope.payload,
        content_type: envelope.content_type.as_deref().map(label),
        headers: envelope.headers,
        trace: TraceContext {
            traceparent: trace_part(envelope.trace.traceparent),
            tracestate: trace_part(envelope.trace.tracestate),
        },
    }
}

/// The newest failures, each bounded.
fn history(mut history: Vec<AttemptFailure>) -> Vec<AttemptFailure> {
    let surplus = history.len().saturating_sub(HISTORY_ENTRIES_MAX);
    history.drain(..surplus);
    for failure in &mut history {
        failure.class = label(&failure.class);
        failure.error = storable(&failure.error, ERROR_CHAIN_BYTES_MAX);
    }
    history
}

fn label(text: &str) -> String {
    storable(text, LABEL_BYTES_MAX)
}

#[cfg(test)]
mod tests;
