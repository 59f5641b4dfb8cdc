//! Dead letters, as the archiver stores them.

use application::dead_letter::{
    FailureGroup, LetterCause, LetterContent, LetterReason, LetterSubject, NewDeadLetter,
};
use application::retry_policy::AttemptFailure;
use application::testing::dead_letters::{new_letter, unreadable_letter};
use application::testing::{event_key, succeeded_payload};
use bytes::Bytes;
use domain::{ConsumerName, Currency, EventKind, Money, PaymentId, Timestamp};

/// The consumer that `payonce` is by default.
pub fn consumer() -> ConsumerName {
    ConsumerName::parse("payonce").expect("a valid name")
}

/// A letter of the event `id`, given up at `at`, with a payload that can be replayed.
pub fn refused(id: &str, at: Timestamp) -> NewDeadLetter {
    let detail = format!("payment pi_{id}: 9000 EUR would be refunded, and 4999 EUR is captured");
    because(id, at, LetterReason::Refused, &detail, ("EUR", 9_000))
}

/// A letter of the event `id` that was given up for `reason`.
pub fn because(
    id: &str,
    at: Timestamp,
    reason: LetterReason,
    detail: &str,
    (currency, minor_units): (&str, i64),
) -> NewDeadLetter {
    let letter = new_letter(id, at.as_micros());
    let key = event_key(id);
    let currency = Currency::parse(currency).expect("a currency");
    NewDeadLetter {
        consumer: consumer(),
        group: FailureGroup::of(&consumer(), Some(&key.source), reason, detail),
        received_at: Some(Timestamp::from_micros(at.as_micros() - 65_000_000)),
        content: LetterContent {
            payload: succeeded_payload(id, &format!("pi_{id}"), minor_units),
            content_type: Some("application/json".to_owned()),
            ..LetterContent::default()
        },
        subject: LetterSubject {
            kind: EventKind::parse("payment_intent.succeeded").ok(),
            payment: PaymentId::parse(&format!("pi_{id}")).ok(),
            account: None,
            amount: Some(Money::new(minor_units, currency)),
        },
        cause: LetterCause {
            reason,
            detail: detail.to_owned(),
            worker: Some("worker-7d9f-2".to_owned()),
            release: Some("0.1.0".to_owned()),
            ..letter.cause.clone()
        },
        ..letter
    }
}

/// The same, after attempts that failed.
pub fn after_attempts(letter: NewDeadLetter, errors: &[&str]) -> NewDeadLetter {
    let end = letter.cause.dead_lettered_at.as_micros();
    let attempt = |place: i64, error: &&str| AttemptFailure {
        at: Timestamp::from_micros(end - (3 - place) * 15_000_000),
        class: "transient".to_owned(),
        error: (*error).to_owned(),
    };
    let history: Vec<_> = (0..).zip(errors).map(|(place, error)| attempt(place, error)).collect();
    let failed_attempts = u32::try_from(errors.len()).expect("few");
    NewDeadLetter { history, cause: LetterCause { failed_attempts, ..letter.cause }, ..letter }
}

/// The same with that payload.
pub fn carrying(letter: NewDeadLetter, payload: impl Into<Bytes>) -> NewDeadLetter {
    NewDeadLetter { content: LetterContent { payload: payload.into(), ..letter.content.clone() }, ..letter }
}

/// A message that nobody could read.
pub fn unreadable(payload: &'static [u8], at: Timestamp) -> NewDeadLetter {
    let letter = unreadable_letter(Bytes::from_static(payload), at.as_micros());
    let detail = "the message has no header payonce-event-id".to_owned();
    NewDeadLetter {
        consumer: consumer(),
        group: FailureGroup::of(&consumer(), None, LetterReason::Unreadable, &detail),
        cause: LetterCause { detail, ..letter.cause },
        ..letter
    }
}
