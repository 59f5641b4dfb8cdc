use domain::{ConsumerName, Money};

use super::*;
use crate::ports::event_queue::UnreadableMessage;
use crate::ports::provider::{MockProvider, Untranslatable};
use crate::testing::{envelope, sources_of, succeeded};

fn consumer() -> ConsumerName {
    ConsumerName::parse("payments").unwrap()
}

fn message() -> DeadLetterMessage {
    DeadLetterMessage {
        token: 1,
        content: Ok(envelope("evt_1", "{}")),
        reason: Some("refused".to_owned()),
        detail: Some("payment pi_1 is unknown".to_owned()),
        broker_reason: None,
        failed_attempts: 2,
        history: Vec::new(),
        dead_lettered_at: Some(Timestamp::from_micros(7)),
        worker: Some("host-1".to_owned()),
        release: Some("1.2.3".to_owned()),
    }
}

fn unreadable(payload: &'static [u8]) -> DeadLetterMessage {
    let payload = Bytes::from_static(payload);
    let content = Err(UnreadableMessage { reason: "no version".to_owned(), payload });
    DeadLetterMessage { content, reason: None, detail: None, ..message() }
}

fn translating() -> Sources {
    let mut provider = MockProvider::new();
    provider.expect_translate().returning(|_| Ok(succeeded("evt_1", "pi_1", 4999)));
    sources_of(provider)
}

fn stored_by(message: DeadLetterMessage, sources: &Sources) -> NewDeadLetter {
    of_message(message, &consumer(), sources, Timestamp::from_micros(99))
}

fn stored(message: DeadLetterMessage) -> NewDeadLetter {
    stored_by(message, &translating())
}

#[test]
fn a_letter_says_what_it_is_about_and_how_it_came_to_be() {
    let letter = stored(message());
    let amount = letter.subject.amount.map(Money::minor_units);
    assert_eq!(letter.subject.payment.as_ref().map(domain::PaymentId::as_str), Some("pi_1"));
    assert_eq!(letter.subject.kind.as_ref().map(domain::EventKind::as_str), Some("payment_intent.succeeded"));
    assert_eq!((amount, letter.cause.failed_attempts), (Some(4999), 2));
    assert_eq!(
        (letter.cause.worker.as_deref(), letter.cause.release.as_deref()),
        (Some("host-1"), Some("1.2.3"))
    );
}

#[test]
fn what_cannot_be_translated_is_stored_all_the_same() {
    let mut provider = MockProvider::new();
    provider.expect_translate().returning(|_| Err(Untranslatable("no id".to_owned())));
    for sources in [sources_of(provider), Sources::default()] {
        let letter = stored_by(message(), &sources);
        assert_eq!(letter.subject, LetterSubject::default());
        assert_eq!((letter.content.payload.as_ref(), letter.key.is_some()), (b"{}".as_slice(), true));
    }
}

#[test]
fn what_may_have_ended_processes_is_not_translated_once_more() {
    let given_up =
        DeadLetterMessage { reason: None, broker_reason: Some("delivery_limit".to_owned()), ..message() };
    // A provider that expects nothing panics when it is asked.
    let letter = stored_by(given_up, &sources_of(MockProvider::new()));
    assert_eq!(
        (letter.cause.reason, letter.subject),
        (LetterReason::DeliveryLimit, LetterSubject::default())
    );
}

#[test]
fn an_unreadable_message_keeps_its_bytes() {
    let letter = stored(unreadable(b"\0\xff"));
    assert_eq!((letter.key, letter.received_at), (None, None));
    assert_eq!(letter.content.payload.as_ref(), b"\0\xff");
    assert_eq!((letter.cause.reason, letter.cause.detail.as_str()), (LetterReason::Unreadable, "no version"));
}

#[test]
fn a_message_that_the_broker_gave_up_says_so() {
    let by_broker = |reason: &str| {
        let broker_reason = Some(reason.to_owned());
        stored(DeadLetterMessage { reason: None, detail: None, broker_reason, ..message() }).cause
    };
    assert_eq!(by_broker("delivery_limit").reason, LetterReason::DeliveryLimit);
    assert_eq!(by_broker("maxlen").reason, LetterReason::Unknown);
    assert_eq!(by_broker("maxlen").detail, "the broker gave up: maxlen");
}

#[test]
fn a_worker_s_word_counts_before_the_broker_s() {
    let broker_reason = Some("delivery_limit".to_owned());
    assert_eq!(stored(DeadLetterMessage { broker_reason, ..message() }).cause.reason, LetterReason::Refused);
}

#[test]
fn a_reason_of_another_release_is_kept_in_words() {
    let cause = stored(DeadLetterMessage { reason: Some("gone".to_owned()), ..message() }).cause;
    assert_eq!(cause.reason, LetterReason::Unknown);
    assert_eq!(cause.detail, "gone: payment pi_1 is unknown");
}

#[test]
fn two_deliveries_of_one_message_are_one_arrival() {
    let again = DeadLetterMessage { token: 2, ..message() };
    assert_eq!(stored(message()).arrival, stored(again).arrival);
    let undated = || DeadLetterMessage { dead_lettered_at: None, ..message() };
    let later = of_message(undated(), &consumer(), &translating(), Timestamp::from_micros(100));
    assert_eq!(stored(undated()).arrival, later.arrival);
}

#[test]
fn another_message_is_another_arrival() {
    let base = stored(message()).arrival;
    let other_envelope = |change: fn(&mut Envelope)| {
        let mut message = message();
        if let Ok(envelope) = &mut message.content {
            change(envelope);
        }
        message
    };
    for other in [
        DeadLetterMessage { dead_lettered_at: Some(Timestamp::from_micros(8)), ..message() },
        DeadLetterMessage { dead_lettered_at: None, ..message() },
        DeadLetterMessage { failed_attempts: 3, ..message() },
        DeadLetterMessage { content: Ok(envelope("evt_2", "{}")), ..message() },
        other_envelope(|envelope| envelope.payload = Bytes::from_static(b"[]")),
        other_envelope(|envelope| envelope.received_at = Timestamp::from_micros(1)),
        unreadable(b"{}"),
    ] {
        assert_ne!(stored(other).arrival, base);
    }
}

#[test]
fn alike_failures_are_in_one_group() {
    let other = DeadLetterMessage {
        content: Ok(envelope("evt_2", "{}")),
        detail: Some("payment pi_2 is unknown".to_owned()),
        ..message()
    };
    assert_eq!(stored(message()).group, stored(other).group);
}

#[test]
fn texts_are_bounded_and_can_be_stored() {
    let long = || Some("\0".repeat(10_000));
    let failure = AttemptFailure {
        at: Timestamp::from_micros(1),
        class: "\0".repeat(1_000),
        error: "\0".repeat(10_000),
    };
    let mut with_content_type = envelope("evt_1", "{}");
    with_content_type.content_type = long();
    with_content_type.trace.tracestate = long();
    let letter = stored(DeadLetterMessage {
        content: Ok(with_content_type),
        detail: long(),
        worker: long(),
        release: long(),
        history: vec![failure; 20],
        ..message()
    });
    let texts = [
        Some(letter.cause.detail),
        letter.cause.worker,
        letter.cause.release,
        letter.content.content_type,
        letter.content.trace.tracestate,
        letter.history.first().map(|failure| failure.error.clone()),
    ];
    for text in texts.into_iter().map(Option::unwrap) {
        assert!(!text.contains('\0') && text.len() <= DETAIL_BYTES_MAX, "{}", text.len());
    }
    assert_eq!(letter.history.len(), HISTORY_ENTRIES_MAX);
}
