//! Builders of dead letters and orders.

use bytes::Bytes;
use domain::{ConsumerName, Digest, EventKey, Timestamp};

use super::succeeded;
use crate::dead_letter::{
    DeadLetter, DeadLetterId, DeadLetterSummary, FailureGroup, LetterCause, LetterContent, LetterReason,
    LetterState, LetterSubject, NewDeadLetter,
};
use crate::operator::{Actor, OperatorOrder, Why};
use crate::replay::{NewReplayJob, ReplaySchedule};

/// The consumer that tests use: `payments`.
///
/// # Panics
/// Never: the name is valid.
pub fn consumer() -> ConsumerName {
    ConsumerName::parse("payments").expect("a valid name")
}

/// A refused event of that id, given up at `micros`.
///
/// # Panics
/// `event_id` is not a valid id.
pub fn new_letter(event_id: &str, micros: i64) -> NewDeadLetter {
    let event = succeeded(event_id, &format!("pi_{event_id}"), 100);
    let detail = format!("payment pi_{event_id} is not known");
    let source = Some(&event.key.source);
    NewDeadLetter {
        arrival: arrival(&event.key, micros),
        consumer: consumer(),
        key: Some(event.key.clone()),
        received_at: Some(event.received_at),
        content: LetterContent { payload: Bytes::from_static(b"{}"), ..LetterContent::default() },
        history: Vec::new(),
        subject: LetterSubject::of(&event),
        group: FailureGroup::of(&consumer(), source, LetterReason::Refused, &detail),
        cause: LetterCause {
            reason: LetterReason::Refused,
            detail,
            failed_attempts: 0,
            dead_lettered_at: Timestamp::from_micros(micros),
            worker: None,
            release: None,
        },
    }
}

/// A message that could not be read, given up at `micros`.
///
/// # Panics
/// Never: all of it is valid.
pub fn unreadable_letter(payload: impl Into<Bytes>, micros: i64) -> NewDeadLetter {
    let mut letter = new_letter("unused", micros);
    letter.content.payload = payload.into();
    letter.arrival = Digest::of([letter.content.payload.as_ref(), &micros.to_be_bytes()]);
    letter.cause.reason = LetterReason::Unreadable;
    letter.group = FailureGroup::of(&consumer(), None, LetterReason::Unreadable, &letter.cause.detail);
    NewDeadLetter { key: None, received_at: None, subject: LetterSubject::default(), ..letter }
}

/// What [`new_letter`] is when it is stored under that number.
///
/// # Panics
/// `event_id` is not a valid id.
pub fn letter(id: i64, event_id: &str) -> DeadLetter {
    let new = new_letter(event_id, 1);
    DeadLetter {
        summary: DeadLetterSummary {
            id: DeadLetterId(id),
            consumer: new.consumer,
            key: new.key,
            received_at: new.received_at,
            payload_bytes: 2,
            subject: new.subject,
            cause: new.cause,
            group: new.group,
            state: LetterState::Open,
            replays: 0,
            linked_to: None,
            stored_at: Timestamp::from_micros(2),
            settled_at: None,
            discard_reason: None,
        },
        content: new.content,
        history: new.history,
    }
}

/// An order of `actor` at the moment 1.
///
/// # Panics
/// The name is blank.
pub fn order(actor: &str) -> OperatorOrder {
    OperatorOrder {
        actor: Actor::parse(actor).expect("a name"),
        at: Timestamp::from_micros(1),
        why: Why::parse("the handler is mended").expect("an explanation"),
    }
}

/// A job that `actor` orders, at the careful pace.
///
/// # Panics
/// The name is blank.
pub fn new_job(actor: &str) -> NewReplayJob {
    NewReplayJob { order: order(actor), schedule: ReplaySchedule::careful(), replays_max: None }
}

fn arrival(key: &EventKey, micros: i64) -> Digest {
    Digest::of([key.to_string().as_bytes(), &micros.to_be_bytes()])
}
