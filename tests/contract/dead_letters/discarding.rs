//! Letters that shall have no effect.

use application::dead_letter::{DeadLetterId, LetterState};
use application::testing::dead_letters::{new_letter, order};

use super::fixture::{LettersFixture, ids};

pub async fn a_discarded_letter_keeps_its_bytes_and_says_why(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = store.keep(&[new_letter("evt_1", 1)]).await;
    let discarded = store.letters.discard(&letters, &order("ann")).await.unwrap();
    assert_eq!(discarded.ids, letters);
    assert_eq!(discarded.money.iter().map(|total| total.minor_units).collect::<Vec<_>>(), [100]);
    let letter = store.letter(letters[0]).await;
    assert_eq!(letter.content.payload.as_ref(), b"{}");
    assert_eq!(letter.summary.state, LetterState::Discarded);
    assert_eq!(letter.summary.discard_reason.as_deref(), Some("the handler is mended"));
    assert!(letter.summary.settled_at.is_some());
}

pub async fn only_open_letters_are_discarded(fixture: impl LettersFixture) {
    let store = fixture.store();
    let replayed = store.keep(&[new_letter("evt_1", 1)]).await;
    store.replayed().await;
    let replaying = store.keep(&[new_letter("evt_2", 2)]).await;
    let job = store.replay_everything().await;
    let open = store.keep(&[new_letter("evt_3", 3)]).await;
    let all = [replayed.clone(), replaying.clone(), open.clone(), vec![DeadLetterId(9_999)]].concat();
    assert_eq!(store.letters.discard(&all, &order("ann")).await.unwrap().ids, open);
    assert_eq!(store.letters.discard(&all, &order("bob")).await.unwrap().ids, []);
    assert_eq!(store.state(replayed[0]).await, LetterState::Replayed);
    assert_eq!(ids(&store.take(job, "worker-1", 10).await), replaying);
}

pub async fn the_store_refuses_to_discard_without_a_reason(fixture: impl LettersFixture) {
    let store = fixture.store();
    let id = store.keep(&[new_letter("evt_1", 1)]).await[0];
    for reason in ["NULL", "''", "'  '"] {
        let discard = format!(
            "UPDATE dead_letters SET state = 'discarded', settled_at = stored_at, discard_reason = {reason}"
        );
        assert!(fixture.refuses(&discard).await, "{reason}");
    }
    assert_eq!(store.state(id).await, LetterState::Open);
    let with_reason =
        "UPDATE dead_letters SET state = 'discarded', settled_at = stored_at, discard_reason = 'x'";
    assert!(!fixture.refuses(with_reason).await);
}

pub async fn discarding_is_written_down(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids = store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2)]).await;
    store.letters.discard(&ids, &order("ann")).await.unwrap();
    // Nothing is left to discard.
    store.letters.discard(&ids, &order("bob")).await.unwrap();
    let actions = store.actions.page(None, 10).await.unwrap();
    assert_eq!(actions.len(), 1);
    assert_eq!((actions[0].action.what.as_str(), &actions[0].action.order), ("discard", &order("ann")));
    assert_eq!(actions[0].action.target, format!("2 by number: {}, {}", ids[0], ids[1]));
}
