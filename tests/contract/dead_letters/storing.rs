//! What is stored, and how often.

use application::dead_letter::{LetterReason, LetterState};
use application::envelope::TraceContext;
use application::retry_policy::AttemptFailure;
use application::testing::dead_letters::{new_letter, unreadable_letter};
use bytes::Bytes;
use domain::{Digest, MerchantId, Timestamp};

use super::fixture::LettersFixture;

pub async fn a_letter_comes_back_as_it_was_stored(fixture: impl LettersFixture) {
    let store = fixture.store();
    let mut new = new_letter("evt_1", 1_700_000_000_123_456);
    new.subject.account = Some(MerchantId::parse("acct_é").unwrap());
    new.content.content_type = Some("application/json".to_owned());
    new.content.headers = vec![("x-event".to_owned(), "\"é\"".to_owned())];
    new.content.trace =
        TraceContext { traceparent: Some("00-1-2-01".to_owned()), tracestate: Some("a=b".to_owned()) };
    new.cause.failed_attempts = 3;
    new.cause.worker = Some("host-1".to_owned());
    new.cause.release = Some("1.2.3".to_owned());
    let at = Timestamp::from_micros(-5);
    new.history = vec![AttemptFailure { at, class: "transient".to_owned(), error: "no\nroom".to_owned() }];
    let id = store.keep(std::slice::from_ref(&new)).await[0];
    let letter = store.letter(id).await;
    assert_eq!((letter.content, letter.history), (new.content, new.history));
    let summary = letter.summary;
    assert_eq!((summary.key, summary.received_at), (new.key, new.received_at));
    assert!(summary.stored_at > summary.cause.dead_lettered_at && summary.settled_at.is_none());
    assert_eq!((summary.state, summary.payload_bytes, summary.replays), (LetterState::Open, 2, 0));
    assert_eq!((summary.cause, summary.subject, summary.group), (new.cause, new.subject, new.group));
}

pub async fn a_letter_is_stored_once(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = vec![new_letter("evt_1", 1), new_letter("evt_2", 2), new_letter("evt_1", 1)];
    assert_eq!(store.letters.store(letters.clone()).await.unwrap(), 2);
    assert_eq!(store.letters.store(letters).await.unwrap(), 0);
    let more = vec![new_letter("evt_2", 2), new_letter("evt_2", 3)];
    assert_eq!(store.letters.store(more).await.unwrap(), 1);
    assert_eq!(store.all().await.len(), 3);
}

pub async fn any_bytes_are_kept(fixture: impl LettersFixture) {
    let store = fixture.store();
    let huge: Vec<u8> = (0..8 * 1024 * 1024_u32).map(|place| (place % 251).to_le_bytes()[0]).collect();
    let payloads: [Vec<u8>; 4] = [Vec::new(), b"\0".to_vec(), (0..=255).cycle().take(1_000).collect(), huge];
    for (micros, payload) in (1..).zip(payloads) {
        let mut letter = new_letter("evt_1", micros);
        letter.content.payload = Bytes::from(payload.clone());
        let id = store.keep(&[letter]).await[0];
        let kept = store.letter(id).await;
        assert!(kept.content.payload == payload, "{} bytes", payload.len());
        assert_eq!(kept.summary.payload_bytes, payload.len() as u64);
    }
}

pub async fn texts_with_nul_are_stored(fixture: impl LettersFixture) {
    let store = fixture.store();
    let mut letter = new_letter("evt_1", 1);
    letter.cause.detail = "a\0b".to_owned();
    letter.cause.worker = Some("\0".to_owned());
    letter.cause.release = Some("\0".to_owned());
    letter.content.content_type = Some("\0".to_owned());
    letter.content.headers = vec![("x".to_owned(), "\0".to_owned())];
    letter.content.trace =
        TraceContext { traceparent: Some("\0".to_owned()), tracestate: Some("\0".to_owned()) };
    let failure =
        AttemptFailure { at: Timestamp::from_micros(1), class: "\0".to_owned(), error: "\0".to_owned() };
    letter.history = vec![failure];
    let id = store.keep(&[letter]).await[0];
    let kept = store.letter(id).await;
    assert_eq!(kept.summary.cause.detail, "a\u{fffd}b");
    assert_eq!(kept.history[0].error, "\u{fffd}");
    // And it can be listed.
    assert_eq!(store.all().await.len(), 1);
}

pub async fn a_message_that_could_not_be_read_is_stored(fixture: impl LettersFixture) {
    let store = fixture.store();
    let id = store.keep(&[unreadable_letter(b"\xff\0".as_slice(), 1)]).await[0];
    let letter = store.letter(id).await;
    assert_eq!((&letter.summary.key, letter.summary.received_at), (&None, None));
    assert_eq!(letter.summary.cause.reason, LetterReason::Unreadable);
    assert_eq!(letter.content.payload.as_ref(), b"\xff\0");
    assert_eq!(letter.to_envelope(Timestamp::from_micros(0)), None);
}

pub async fn moments_that_make_no_sense_are_stored(fixture: impl LettersFixture) {
    let store = fixture.store();
    for micros in [i64::MIN, i64::MAX] {
        let mut letter = new_letter("evt_1", micros);
        letter.received_at = Some(Timestamp::from_micros(micros));
        store.keep(&[letter]).await;
    }
    let letters = store.all().await;
    assert!(letters[0].cause.dead_lettered_at > letters[1].cause.dead_lettered_at);
    assert!(letters[0].received_at > letters[1].received_at);
}

pub async fn many_letters_are_stored_at_once(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = (0..230).map(|number| new_letter(&format!("evt_{number}"), number)).collect();
    assert_eq!(store.letters.store(letters).await.unwrap(), 230);
    assert_eq!(store.all().await.len(), 230);
}

pub async fn two_archives_that_store_the_same_letters_store_each_once(fixture: impl LettersFixture) {
    let (one, other) = (fixture.store(), fixture.store());
    for round in 0..10 {
        let letters: Vec<_> = (0..30).map(|number| new_letter(&format!("evt_{round}_{number}"), 1)).collect();
        let reversed = letters.iter().rev().cloned().collect();
        let (first, second) = tokio::join!(one.letters.store(letters), other.letters.store(reversed));
        assert_eq!(first.unwrap() + second.unwrap(), 30);
    }
    assert_eq!(one.all().await.len(), 300);
}

pub async fn letters_of_other_consumers_are_not_seen(fixture: impl LettersFixture) {
    let (store, other) = (fixture.store(), fixture.store_of("billing"));
    let mut theirs = new_letter("evt_1", 1);
    theirs.consumer = domain::ConsumerName::parse("billing").unwrap();
    theirs.arrival = Digest::of([b"theirs".as_slice()]);
    other.keep(&[theirs]).await;
    let ours = store.keep(&[new_letter("evt_1", 1)]).await[0];
    assert_eq!(store.all().await.len(), 1);
    assert_eq!(other.all().await.len(), 1);
    assert_eq!(other.letters.get(ours).await.unwrap(), None);
}
