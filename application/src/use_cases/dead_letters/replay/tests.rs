use std::sync::Mutex;

use super::*;
use crate::ports::dead_letters::MockDeadLetters;
use crate::ports::provider::MockProvider;
use crate::ports::replay_jobs::MockReplayJobs;
use crate::replay::Skipped;
use crate::testing::dead_letters::{letter, new_job};
use crate::testing::{event_key, sources_of, succeeded};

const ID: DeadLetterId = DeadLetterId(7);

fn frozen() -> FrozenJob {
    FrozenJob { job: Some(ReplayJobId(1)), members: 1, money: Vec::new(), skipped: Skipped::default() }
}

fn edit(payload: &'static str) -> Edit {
    Edit { payload: Bytes::from_static(payload.as_bytes()), key: None }
}

/// Translates bytes that are an event id.
fn translating() -> Sources {
    let mut provider = MockProvider::new();
    provider.expect_translate().returning(|envelope| {
        let id = std::str::from_utf8(&envelope.payload).unwrap_or_default();
        if id.is_empty() {
            Err(Untranslatable("nothing there".to_owned()))
        } else {
            Ok(succeeded(id, "pi_9", 250))
        }
    });
    sources_of(provider)
}

fn replay(stored: Option<DeadLetter>, jobs: MockReplayJobs) -> ReplayDeadLetters {
    let mut letters = MockDeadLetters::new();
    letters.expect_get().returning(move |_| Ok(stored.clone()));
    ReplayDeadLetters::new(Arc::new(letters), Arc::new(jobs), translating())
}

/// What a job is made of.
async fn copy_of(stored: DeadLetter, edit: Edit) -> NewDeadLetter {
    let copied = Arc::new(Mutex::new(None));
    let kept = copied.clone();
    let mut jobs = MockReplayJobs::new();
    jobs.expect_create_edited().once().returning(move |id, copy, _| {
        assert_eq!(id, ID);
        *kept.lock().unwrap() = Some(copy.clone());
        Ok(frozen())
    });
    replay(Some(stored), jobs).create_edited(ID, edit, &new_job("ann")).await.unwrap();
    copied.lock().unwrap().take().unwrap()
}

/// Why no job is made.
async fn refusal(stored: Option<DeadLetter>, edit: Edit) -> EditError {
    let jobs = MockReplayJobs::new();
    replay(stored, jobs).create_edited(ID, edit, &new_job("ann")).await.unwrap_err()
}

#[tokio::test]
async fn a_copy_has_the_new_bytes_and_is_the_same_event() {
    let copy = copy_of(letter(7, "evt_1"), edit("evt_1")).await;
    assert_eq!(copy.content.payload.as_ref(), b"evt_1");
    assert_eq!(copy.key, letter(7, "evt_1").summary.key);
    assert_eq!(copy.received_at, letter(7, "evt_1").summary.received_at);
    assert_eq!(copy.subject.payment.as_ref().map(domain::PaymentId::as_str), Some("pi_9"));
}

#[tokio::test]
async fn a_copy_does_not_become_another_event() {
    let other = Edit { key: Some(event_key("evt_2")), ..edit("evt_1") };
    for edit in [edit("evt_2"), other] {
        assert!(matches!(refusal(Some(letter(7, "evt_1")), edit).await, EditError::OtherKey(_)));
    }
}

#[tokio::test]
async fn bytes_that_cannot_be_translated_are_refused() {
    let refusal = refusal(Some(letter(7, "evt_1")), edit("")).await;
    assert!(matches!(refusal, EditError::Untranslatable(_)), "{refusal}");
}

#[tokio::test]
async fn only_an_open_letter_is_edited() {
    let mut discarded = letter(7, "evt_1");
    discarded.summary.state = LetterState::Discarded;
    let refused = refusal(Some(discarded), edit("evt_1")).await;
    assert!(matches!(refused, EditError::NotOpen(LetterState::Discarded)), "{refused}");
    assert!(matches!(refusal(None, edit("evt_1")).await, EditError::NoLetter(ID)));
}

#[tokio::test]
async fn of_a_message_that_could_not_be_read_somebody_must_say_which_event_it_is() {
    let mut unreadable = letter(7, "evt_1");
    unreadable.summary.key = None;
    unreadable.summary.received_at = None;
    let refused = refusal(Some(unreadable.clone()), edit("evt_1")).await;
    assert!(matches!(refused, EditError::KeyMissing), "{refused}");
    let copy = copy_of(unreadable.clone(), Edit { key: Some(event_key("evt_1")), ..edit("evt_1") }).await;
    assert_eq!(copy.key, Some(event_key("evt_1")));
    assert_eq!(copy.received_at, Some(unreadable.summary.cause.dead_lettered_at));
}

#[tokio::test]
async fn two_edits_of_one_letter_are_two_copies() {
    let mut later = new_job("ann");
    later.order.at = domain::Timestamp::from_micros(2);
    let copied = Arc::new(Mutex::new(Vec::new()));
    let kept = copied.clone();
    let mut jobs = MockReplayJobs::new();
    jobs.expect_create_edited().returning(move |_, copy, _| {
        kept.lock().unwrap().push(copy.arrival);
        Ok(frozen())
    });
    let replay = replay(Some(letter(7, "evt_1")), jobs);
    for job in [new_job("ann"), later] {
        replay.create_edited(ID, edit("evt_1"), &job).await.unwrap();
    }
    let copied = copied.lock().unwrap();
    assert_ne!(copied[0], copied[1]);
}
