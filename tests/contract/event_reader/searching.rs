//! Which events are found, and what is said of them.

use application::dead_letter::{LetterReason, LetterState};
use application::ports::event_reader::{EventFilter, EventOutcome, EventSummary, PAGE_EVENTS_MAX};
use application::testing::dead_letters::{new_letter, order, unreadable_letter};
use application::testing::{succeeded, without_effect};
use domain::{EventId, Fact, PaymentEvent, PaymentId, SourceName, Timestamp};

use crate::unit_of_work::effects::{Effects, apply, captured, event, fact_id, usd};
use crate::unit_of_work::fixture::{CONSUMER, StoreFixture, begin};

pub fn paid(event_id: &str, payment: &str) -> PaymentEvent {
    event(event_id, payment, &[captured(usd(5))])
}

pub fn of_id(event_id: &str) -> EventFilter {
    EventFilter { event_id: Some(EventId::parse(event_id).unwrap()), ..EventFilter::default() }
}

pub fn of_payment(payment: &str) -> EventFilter {
    EventFilter { payment: Some(PaymentId::parse(payment).unwrap()), ..EventFilter::default() }
}

fn of_source(source: &str) -> EventFilter {
    EventFilter { source: Some(SourceName::parse(source).unwrap()), ..EventFilter::default() }
}

fn elsewhere(mut event: PaymentEvent) -> PaymentEvent {
    event.key.source = SourceName::parse("elsewhere").unwrap();
    event
}

/// The events that `filter` leaves over, the newest first.
pub async fn found(store: &impl StoreFixture, filter: &EventFilter) -> Vec<EventSummary> {
    let page = store.events_of(CONSUMER).find(filter, None, PAGE_EVENTS_MAX).await.unwrap();
    assert_eq!(page.next, None);
    page.events
}

/// Their ids, sorted.
async fn ids(store: &impl StoreFixture, filter: &EventFilter) -> Vec<String> {
    let mut ids: Vec<String> = found(store, filter).await.iter().map(|event| event.key.to_string()).collect();
    ids.sort();
    ids
}

pub async fn an_applied_event_is_found_by_all_that_is_known_of_it(store: impl StoreFixture) {
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_1"), paid("evt_2", "pi_2")]).await;
    let all = found(&store, &EventFilter::default()).await;
    assert_eq!(all.len(), 2);
    let one = all.iter().find(|event| event.key.event_id.as_str() == "evt_1").unwrap().clone();
    assert_eq!(one.outcome, EventOutcome::Applied);
    assert_eq!(one.received_at, Some(succeeded("evt_1", "pi_1", 5).received_at));
    assert_eq!(one.payment, Some(PaymentId::parse("pi_1").unwrap()));
    assert_eq!(one.open_letters, 0);
    assert_eq!(found(&store, &of_id("evt_1")).await, std::slice::from_ref(&one));
    assert_eq!(found(&store, &of_payment("pi_1")).await, [one]);
    assert_eq!(found(&store, &of_source("payment")).await, all);
    for nothing in [of_id("evt_3"), of_payment("pi_3"), of_source("elsewhere")] {
        assert_eq!(found(&store, &nothing).await, [], "{nothing:?}");
    }
}

pub async fn a_recorded_event_says_why_it_had_no_effect(store: impl StoreFixture) {
    let again = paid("evt_2", "pi_1");
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_1"), again, without_effect("evt_3")]).await;
    for (event_id, kind, reason) in [
        ("evt_2", "payment_intent.succeeded", "fact_already_known"),
        ("evt_3", "galaxy.exploded", "no_effect"),
    ] {
        let recorded = EventOutcome::Recorded { kind: kind.parse().unwrap(), reason: reason.to_owned() };
        assert_eq!(found(&store, &of_id(event_id)).await[0].outcome, recorded);
    }
    assert_eq!(ids(&store, &of_payment("pi_1")).await, ["payment/evt_1", "payment/evt_2"]);
}

pub async fn an_event_that_was_given_up_says_why(store: impl StoreFixture) {
    let letters = store.letters_of(CONSUMER);
    letters.store(vec![new_letter("evt_1", 7)]).await.unwrap();
    let given_up = found(&store, &of_id("evt_1")).await.remove(0);
    assert_eq!(given_up.at, Timestamp::from_micros(7));
    assert_eq!(given_up.received_at, new_letter("evt_1", 7).received_at);
    assert_eq!(given_up.open_letters, 1);
    let EventOutcome::GivenUp { letter, state, reason, kind } = given_up.outcome.clone() else {
        panic!("{given_up:?}");
    };
    assert_eq!((state, reason), (LetterState::Open, LetterReason::Refused));
    assert_eq!(kind, Some("payment_intent.succeeded".parse().unwrap()));
    assert_eq!(found(&store, &of_payment("pi_evt_1")).await, std::slice::from_ref(&given_up));
    assert_eq!(found(&store, &of_source("payment")).await, [given_up]);

    letters.discard(&[letter], &order("ann")).await.unwrap();
    let discarded = found(&store, &of_id("evt_1")).await.remove(0);
    assert_eq!(discarded.open_letters, 0);
    assert!(matches!(discarded.outcome, EventOutcome::GivenUp { state: LetterState::Discarded, .. }));
}

pub async fn an_event_that_was_given_up_and_applied_later_is_applied(store: impl StoreFixture) {
    let letters = vec![new_letter("evt_1", 7), new_letter("evt_2", 8)];
    store.letters_of(CONSUMER).store(letters).await.unwrap();
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_evt_1")]).await;
    let all = found(&store, &EventFilter::default()).await;
    let outcomes: Vec<(&str, bool, u64)> = all
        .iter()
        .map(|event| {
            let applied = event.outcome == EventOutcome::Applied;
            (event.key.event_id.as_str(), applied, event.open_letters)
        })
        .collect();
    assert_eq!(outcomes, [("evt_1", true, 1), ("evt_2", false, 1)]);
    assert_eq!(found(&store, &of_payment("pi_evt_1")).await, all[..1]);
}

pub async fn an_event_that_was_given_up_again_is_there_once(store: impl StoreFixture) {
    let mut last = new_letter("evt_1", 9);
    last.cause.reason = LetterReason::AttemptsExhausted;
    let letters = vec![new_letter("evt_1", 7), last, new_letter("evt_1", 8)];
    store.letters_of(CONSUMER).store(letters).await.unwrap();
    let all = found(&store, &EventFilter::default()).await;
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].at, all[0].open_letters), (Timestamp::from_micros(9), 3));
    assert!(matches!(all[0].outcome, EventOutcome::GivenUp { reason: LetterReason::AttemptsExhausted, .. }));
    // Not by one that is not its last.
    let before = EventFilter { until: Some(Timestamp::from_micros(9)), ..EventFilter::default() };
    assert_eq!(found(&store, &before).await, []);
}

pub async fn a_message_that_could_not_be_read_is_no_event(store: impl StoreFixture) {
    store.letters_of(CONSUMER).store(vec![unreadable_letter("nonsense", 7)]).await.unwrap();
    assert_eq!(found(&store, &EventFilter::default()).await, []);
}

pub async fn an_edited_copy_is_no_event_of_its_own(store: impl StoreFixture) {
    store.letters_of(CONSUMER).store(vec![new_letter("evt_1", 7), new_letter("evt_2", 8)]).await.unwrap();
    store
        .execute(
            "UPDATE dead_letters SET linked_to = (SELECT id FROM dead_letters WHERE event_id = 'evt_1') \
             WHERE event_id = 'evt_2'",
        )
        .await
        .unwrap();
    assert_eq!(ids(&store, &EventFilter::default()).await, ["payment/evt_1"]);
    assert_eq!(found(&store, &of_id("evt_2")).await, []);
}

pub async fn a_payment_or_an_id_is_looked_for_in_every_source(store: impl StoreFixture) {
    let events = [paid("evt_1", "pi_1"), elsewhere(paid("evt_1", "pi_1")), elsewhere(paid("evt_2", "pi_2"))];
    apply(&*store.unit_of_work(1), &events).await;
    let mut letter = new_letter("evt_3", 7);
    letter.subject.payment = Some(PaymentId::parse("pi_1").unwrap());
    store.letters_of(CONSUMER).store(vec![letter, new_letter("evt_4", 8)]).await.unwrap();
    let both = ["elsewhere/evt_1", "payment/evt_1"];
    assert_eq!(ids(&store, &of_id("evt_1")).await, both);
    assert_eq!(ids(&store, &of_payment("pi_1")).await, [both[0], both[1], "payment/evt_3"]);
    assert_eq!(ids(&store, &of_source("elsewhere")).await, ["elsewhere/evt_1", "elsewhere/evt_2"]);
}

pub async fn all_that_is_asked_for_must_be_true(store: impl StoreFixture) {
    let refund = Fact::Refunded { refund: fact_id("re_1"), amount: usd(1) };
    let refunded = event("evt_2", "pi_1", &[refund]);
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_1"), refunded, elsewhere(paid("evt_1", "pi_2"))])
        .await;
    store.letters_of(CONSUMER).store(vec![new_letter("evt_3", 7)]).await.unwrap();
    let with = |source, event_id, payment| EventFilter {
        source: of_source(source).source,
        event_id: of_id(event_id).event_id,
        payment: of_payment(payment).payment,
        from: None,
        until: None,
    };
    assert_eq!(ids(&store, &with("payment", "evt_1", "pi_1")).await, ["payment/evt_1"]);
    assert_eq!(ids(&store, &with("payment", "evt_3", "pi_evt_3")).await, ["payment/evt_3"]);
    for nothing in [
        with("elsewhere", "evt_1", "pi_1"),
        with("payment", "evt_1", "pi_2"),
        with("payment", "evt_3", "pi_1"),
        with("elsewhere", "evt_3", "pi_evt_3"),
    ] {
        assert_eq!(found(&store, &nothing).await, [], "{nothing:?}");
    }
}

pub async fn what_is_not_committed_is_not_found(store: impl StoreFixture) {
    let paid = paid("evt_1", "pi_1");
    let mut unit = begin(&*store.unit_of_work(1)).await;
    unit.claim(std::slice::from_ref(&paid)).await.unwrap();
    Effects::of(&paid).store(&mut *unit).await.unwrap();
    assert_eq!(found(&store, &of_id("evt_1")).await, []);
    unit.commit().await.unwrap();
    assert_eq!(found(&store, &of_id("evt_1")).await.len(), 1);
}

pub async fn another_consumers_events_are_not_found(store: impl StoreFixture) {
    apply(&*store.unit_of_work_of("other", 1), &[paid("evt_1", "pi_1"), paid("evt_2", "pi_1")]).await;
    let mut letter = new_letter("evt_3", 7);
    letter.consumer = "other".parse().unwrap();
    store.letters_of("other").store(vec![letter]).await.unwrap();
    for filter in [EventFilter::default(), of_id("evt_1"), of_id("evt_3"), of_payment("pi_1")] {
        assert_eq!(found(&store, &filter).await, [], "{filter:?}");
    }
    let others = store.events_of("other").find(&EventFilter::default(), None, PAGE_EVENTS_MAX).await.unwrap();
    assert_eq!(others.events.len(), 3);
    // What another consumer has applied is still given up here.
    store.letters_of(CONSUMER).store(vec![new_letter("evt_1", 9)]).await.unwrap();
    let here = found(&store, &of_id("evt_1")).await;
    assert!(matches!(here[0].outcome, EventOutcome::GivenUp { .. }), "{here:?}");
    assert_eq!(here[0].open_letters, 1);
}
