//! Pages of letters.

use application::dead_letter::{DeadLetterId, FailureGroup, LetterFilter, LetterReason, LetterState};
use application::testing::dead_letters::{consumer, new_letter, order, unreadable_letter};
use application::testing::event_key;
use domain::{EventKind, MerchantId, PaymentId, PaymentKey, SourceName, Timestamp};

use super::fixture::{LettersFixture, Store};

async fn events(store: &Store, filter: LetterFilter) -> Vec<String> {
    let letters = store.matching(&filter).await;
    letters.into_iter().filter_map(|letter| letter.key).map(|key| key.event_id.as_str().to_owned()).collect()
}

pub async fn the_newest_letters_come_first(fixture: impl LettersFixture) {
    let store = fixture.store();
    store
        .keep(&[
            new_letter("evt_2", 2),
            new_letter("evt_1", 1),
            new_letter("evt_3", 3),
            new_letter("evt_4", 3),
        ])
        .await;
    assert_eq!(events(&store, LetterFilter::default()).await, ["evt_4", "evt_3", "evt_2", "evt_1"]);
}

pub async fn pages_neither_repeat_nor_skip_while_letters_are_stored(fixture: impl LettersFixture) {
    let store = fixture.store();
    // Some of one moment, so that the number has to decide.
    let letters: Vec<_> = (0..25).map(|number| new_letter(&format!("evt_{number}"), number / 4)).collect();
    let mut there = store.keep(&letters).await;
    let (mut seen, mut after, mut newer) = (Vec::new(), None, 100);
    loop {
        let page = store.letters.page(&LetterFilter::default(), None, after, 4).await.unwrap();
        assert!(page.letters.len() == 4 || page.next.is_none());
        seen.extend(page.letters.iter().map(|letter| letter.id));
        store.keep(&[new_letter(&format!("evt_{newer}"), newer)]).await;
        newer += 1;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut once: Vec<DeadLetterId> = seen.clone();
    once.sort_unstable();
    there.sort_unstable();
    assert_eq!(once, there);
    assert!(seen.is_sorted_by(|one, other| one > other), "{seen:?}");
}

pub async fn a_filter_leaves_out_what_is_not_asked_for(fixture: impl LettersFixture) {
    let store = fixture.store();
    let mut other = new_letter("evt_2", 20);
    other.key.as_mut().unwrap().source = SourceName::parse("stripe").unwrap();
    other.subject.kind = Some(EventKind::parse("refund.created").unwrap());
    other.subject.account = Some(MerchantId::parse("acct_1").unwrap());
    other.subject.payment = Some(PaymentId::parse("pi_other").unwrap());
    other.cause.reason = LetterReason::Conflict;
    other.group = FailureGroup::of(&consumer(), None, LetterReason::Conflict, "other");
    let (source, group) = (other.key.as_ref().unwrap().source.clone(), other.group);
    let payment = PaymentKey { source: source.clone(), payment_id: PaymentId::parse("pi_other").unwrap() };
    store.keep(&[new_letter("evt_1", 10), other.clone(), unreadable_letter("x", 30)]).await;
    let none = LetterFilter::default;
    for filter in [
        LetterFilter { source: Some(source.clone()), ..none() },
        LetterFilter { kind: other.subject.kind.clone(), ..none() },
        LetterFilter { account: other.subject.account.clone(), ..none() },
        LetterFilter { payment: other.subject.payment.clone(), ..none() },
        LetterFilter { reason: Some(LetterReason::Conflict), ..none() },
        LetterFilter { group: Some(group), ..none() },
        LetterFilter { from: Some(Timestamp::from_micros(20)), ..none() },
        LetterFilter {
            from: Some(Timestamp::from_micros(11)),
            until: Some(Timestamp::from_micros(30)),
            source: Some(source),
            ..none()
        },
        LetterFilter::of_event(other.key.clone().unwrap()),
        LetterFilter::of_payment(payment),
    ] {
        assert_eq!(events(&store, filter.clone()).await, ["evt_2"], "{filter}");
    }
    let before = LetterFilter { until: Some(Timestamp::from_micros(20)), ..none() };
    assert_eq!(events(&store, before).await, ["evt_1"]);
    assert_eq!(events(&store, LetterFilter::of_event(event_key("evt_2"))).await, [""; 0]);
}

pub async fn letters_are_listed_by_state(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids = store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2)]).await;
    store.letters.discard(&ids[..1], &order("ann")).await.unwrap();
    for (state, id) in [(LetterState::Discarded, ids[0]), (LetterState::Open, ids[1])] {
        let page = store.letters.page(&LetterFilter::default(), Some(state), None, 10).await.unwrap();
        assert_eq!(page.letters.iter().map(|letter| letter.id).collect::<Vec<_>>(), [id]);
    }
}
