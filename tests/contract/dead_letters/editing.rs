//! Letters that are replayed with other bytes.

use application::dead_letter::{DeadLetterId, LetterFilter, LetterState, NewDeadLetter};
use application::replay::{FrozenJob, JobCommand, MemberOutcome, Selection, Skipped};
use application::testing::dead_letters::{new_job, new_letter, order, unreadable_letter};
use bytes::Bytes;
use domain::Digest;

use super::fixture::{LettersFixture, Store, ids};

fn edited() -> NewDeadLetter {
    let mut copy = new_letter("evt_1", 1);
    copy.content.payload = Bytes::from_static(b"{\"edited\":true}");
    copy.arrival = Digest::of([b"edited".as_slice()]);
    copy
}

async fn edit(store: &Store, original: DeadLetterId) -> FrozenJob {
    store.jobs.create_edited(original, &edited(), &new_job("ann")).await.unwrap()
}

/// The one copy of a letter.
async fn copy_of(store: &Store, original: DeadLetterId) -> DeadLetterId {
    let copies = store.matching(&LetterFilter { copies_of: Some(original), ..LetterFilter::default() }).await;
    assert_eq!(copies.len(), 1);
    copies[0].id
}

pub async fn an_edited_copy_is_replayed_in_place_of_its_letter(fixture: impl LettersFixture) {
    let store = fixture.store();
    for new in [new_letter("evt_1", 1), unreadable_letter("x", 2)] {
        let original = store.keep(&[new]).await[0];
        let mut copy = edited();
        copy.arrival = Digest::of([original.to_string().as_bytes()]);
        let frozen = store.jobs.create_edited(original, &copy, &new_job("ann")).await.unwrap();
        assert_eq!((frozen.members, frozen.money[0].minor_units), (1, 100));
        assert_eq!(store.state(original).await, LetterState::Replaying);
        let job = frozen.job.unwrap();
        let taken = store.take(job, "worker-1", 10).await;
        assert_eq!(taken[0].letter.content.payload.as_ref(), b"{\"edited\":true}");
        assert_eq!(taken[0].letter.summary.linked_to, Some(original));
        store.mark(job, "worker-1", &ids(&taken), MemberOutcome::Replayed).await;
        assert_eq!(store.state(original).await, LetterState::Replayed);
        assert_eq!(store.state(copy_of(&store, original).await).await, LetterState::Replayed);
    }
}

pub async fn a_canceled_copy_is_discarded_and_its_letter_open_again(fixture: impl LettersFixture) {
    let store = fixture.store();
    let original = store.keep(&[new_letter("evt_1", 1)]).await[0];
    let job = edit(&store, original).await.job.unwrap();
    store.jobs.command(job, JobCommand::Cancel, &order("bob")).await.unwrap();
    assert_eq!(store.state(original).await, LetterState::Open);
    let copy = store.letter(copy_of(&store, original).await).await.summary;
    assert_eq!(copy.state, LetterState::Discarded);
    let reason = copy.discard_reason.unwrap();
    assert_eq!(reason, "its replay was canceled: the handler is mended");
    store.replayed().await;
    assert_eq!(store.state(original).await, LetterState::Replayed);
}

pub async fn copies_are_counted_and_listed_nowhere_else(fixture: impl LettersFixture) {
    let store = fixture.store();
    let original = store.keep(&[new_letter("evt_1", 1)]).await[0];
    edit(&store, original).await;
    let all = store.all().await;
    assert_eq!(all.iter().map(|letter| letter.id).collect::<Vec<_>>(), [original]);
    let counts = store.letters.counts(&LetterFilter::default()).await.unwrap();
    assert_eq!(counts.iter().map(|totals| totals.letters).collect::<Vec<_>>(), [0, 1, 0, 0]);
    let groups = store.letters.groups(&LetterFilter::default(), 10).await.unwrap();
    assert_eq!(groups[0].letters, 1);
    let of_event = store.matching(&LetterFilter::of_event(edited().key.unwrap())).await;
    assert_eq!(of_event.len(), 1);
}

pub async fn only_an_open_letter_is_copied(fixture: impl LettersFixture) {
    let store = fixture.store();
    let original = store.keep(&[new_letter("evt_1", 1)]).await[0];
    let job = store.replay_everything().await;
    let refused = edit(&store, original).await;
    assert_eq!((refused.job, refused.skipped), (None, Skipped { taken: 1, ..Skipped::default() }));
    assert_eq!(ids(&store.take(job, "worker-1", 10).await), [original]);
    assert_eq!(edit(&store, DeadLetterId(9_999)).await.skipped, Skipped { unknown: 1, ..Skipped::default() });
    // And one that is being replayed as a copy is in no other job.
    let open = store.keep(&[new_letter("evt_2", 2)]).await[0];
    assert_eq!(edit(&store, open).await.members, 1);
    let everything = store.jobs.create(&Selection::everything(), &new_job("ann")).await.unwrap();
    assert_eq!((everything.job, everything.skipped.taken), (None, 2));
}
