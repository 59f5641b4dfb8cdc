//! A message that cannot be told from one that is stored.

use application::dead_letter::LetterState;
use application::replay::{JobCommand, MemberOutcome};
use application::testing::dead_letters::{new_letter, order};

use super::fixture::{LettersFixture, ids};

pub async fn a_letter_that_comes_back_after_its_replay_is_open_again(fixture: impl LettersFixture) {
    let store = fixture.store();
    let id = store.keep(&[new_letter("evt_1", 1)]).await[0];
    store.replayed().await;
    assert_eq!(store.state(id).await, LetterState::Replayed);
    assert_eq!(store.letters.store(vec![new_letter("evt_1", 1)]).await.unwrap(), 0);
    let letter = store.letter(id).await.summary;
    assert_eq!((letter.state, letter.replays, letter.settled_at), (LetterState::Open, 1, None));
    store.replayed().await;
    assert_eq!(store.state(id).await, LetterState::Replayed);
}

pub async fn a_letter_that_comes_back_while_it_is_replayed_is_open_afterwards(fixture: impl LettersFixture) {
    let store = fixture.store();
    let id = store.keep(&[new_letter("evt_1", 1)]).await[0];
    let job = store.replay_everything().await;
    let taken = ids(&store.take(job, "worker-1", 1).await);
    store.letters.store(vec![new_letter("evt_1", 1)]).await.unwrap();
    assert_eq!(store.state(id).await, LetterState::Replaying);
    store.mark(job, "worker-1", &taken, MemberOutcome::Replayed).await;
    let letter = store.letter(id).await.summary;
    assert_eq!((letter.state, letter.replays, letter.settled_at), (LetterState::Open, 1, None));
}

pub async fn a_letter_that_comes_back_after_a_cancel_is_open_whatever_is_marked(
    fixture: impl LettersFixture,
) {
    let store = fixture.store();
    let id = store.keep(&[new_letter("evt_1", 1)]).await[0];
    let job = store.replay_everything().await;
    let taken = ids(&store.take(job, "worker-1", 1).await);
    store.jobs.command(job, JobCommand::Cancel, &order("ann")).await.unwrap();
    store.letters.store(vec![new_letter("evt_1", 1)]).await.unwrap();
    store.mark(job, "worker-1", &taken, MemberOutcome::Replayed).await;
    assert_eq!(store.state(id).await, LetterState::Open);
}

pub async fn a_discarded_letter_stays_discarded(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids = store.keep(&[new_letter("evt_1", 1)]).await;
    store.letters.discard(&ids, &order("ann")).await.unwrap();
    assert_eq!(store.letters.store(vec![new_letter("evt_1", 1)]).await.unwrap(), 0);
    assert_eq!(store.state(ids[0]).await, LetterState::Discarded);
}

pub async fn an_event_that_fails_again_is_a_new_letter_and_its_replays_are_counted(
    fixture: impl LettersFixture,
) {
    let store = fixture.store();
    let first = store.keep(&[new_letter("evt_1", 1)]).await[0];
    store.replayed().await;
    let second = store.keep(&[new_letter("evt_1", 2)]).await[0];
    store.replayed().await;
    let third = store.keep(&[new_letter("evt_1", 3), new_letter("evt_2", 3)]).await;
    assert_ne!(first, second);
    assert_eq!(store.letter(second).await.summary.replays, 1);
    assert_eq!(store.letter(third[0]).await.summary.replays, 2);
    assert_eq!(store.letter(third[1]).await.summary.replays, 0);
    assert_eq!(store.state(first).await, LetterState::Replayed);
}
