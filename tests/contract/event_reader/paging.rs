//! In which order events come, and how many of them at a time.

use std::time::Duration;

use application::ports::event_reader::{EventCursor, EventFilter};
use application::testing::dead_letters::new_letter;
use application::testing::without_effect;
use domain::{PaymentEvent, Timestamp};

use super::searching::{found, paid};
use crate::unit_of_work::effects::apply;
use crate::unit_of_work::fixture::{CONSUMER, StoreFixture};

/// A moment that is later than any that a test sees.
const FAR_MICROS: i64 = 4_000_000_000_000_000;

async fn ids(store: &impl StoreFixture, filter: &EventFilter) -> Vec<String> {
    found(store, filter).await.iter().map(|event| event.key.event_id.to_string()).collect()
}

/// The ids of one page after another, of at most `limit` each.
async fn pages(store: &impl StoreFixture, filter: &EventFilter, limit: u32) -> Vec<Vec<String>> {
    let reader = store.events_of(CONSUMER);
    let (mut pages, mut after): (_, Option<EventCursor>) = (Vec::new(), None);
    loop {
        let page = reader.find(filter, after.clone(), limit).await.unwrap();
        pages.push(page.events.iter().map(|event| event.key.event_id.to_string()).collect());
        let Some(next) = page.next else { return pages };
        // As a client gives it back.
        after = Some(next.to_string().parse().unwrap());
    }
}

pub async fn the_newest_events_come_first_whatever_became_of_them(store: impl StoreFixture) {
    let letters = vec![new_letter("oldest", 7), new_letter("newest", FAR_MICROS)];
    store.letters_of(CONSUMER).store(letters).await.unwrap();
    for event in [paid("evt_1", "pi_1"), without_effect("evt_2"), paid("evt_3", "pi_1")] {
        apply(&*store.unit_of_work(1), &[event]).await;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let all = ["newest", "evt_3", "evt_2", "evt_1", "oldest"];
    assert_eq!(ids(&store, &EventFilter::default()).await, all);
    assert_eq!(pages(&store, &EventFilter::default(), 2).await, [&all[..2], &all[2..4], &all[4..]]);
}

/// A batch may be settled within one moment, and letters given up in it.
pub async fn pages_neither_repeat_nor_skip_events_of_one_moment(store: impl StoreFixture) {
    let events: Vec<PaymentEvent> =
        (0..10).map(|number| paid(&format!("evt_{number}.x"), &format!("pi_{number}"))).collect();
    apply(&*store.unit_of_work(1), &events).await;
    store
        .execute(&format!("UPDATE processed_events SET processed_at = {}", store.ago(Duration::ZERO)))
        .await
        .unwrap();
    let moment = found(&store, &EventFilter::default()).await[0].at.as_micros();
    let letters = (0..10).map(|number| new_letter(&format!("evt_{number}.y"), moment)).collect();
    store.letters_of(CONSUMER).store(letters).await.unwrap();
    let all = ids(&store, &EventFilter::default()).await;
    assert_eq!((all.len(), all[0].as_str(), all[19].as_str()), (20, "evt_9.y", "evt_0.x"));
    for limit in [1, 3, 10, 19, 20, 100] {
        assert_eq!(pages(&store, &EventFilter::default(), limit).await.concat(), all, "{limit}");
    }
    // What comes meanwhile moves nothing.
    let reader = store.events_of(CONSUMER);
    let first = reader.find(&EventFilter::default(), None, 15).await.unwrap();
    store.letters_of(CONSUMER).store(vec![new_letter("late", FAR_MICROS)]).await.unwrap();
    let second = reader.find(&EventFilter::default(), first.next, 15).await.unwrap();
    let rest: Vec<String> = second.events.iter().map(|event| event.key.event_id.to_string()).collect();
    assert_eq!(rest, all[15..]);
}

pub async fn events_of_a_time_are_those_from_its_begin_and_before_its_end(store: impl StoreFixture) {
    apply(&*store.unit_of_work(1), &[paid("settled", "pi_1")]).await;
    let settled_at = found(&store, &EventFilter::default()).await[0].at;
    let letters = (0..3).map(|second| new_letter(&format!("evt_{second}"), second * 1_000_000)).collect();
    store.letters_of(CONSUMER).store(letters).await.unwrap();
    let between = |from: i64, until: i64| EventFilter {
        from: Some(Timestamp::from_micros(from)),
        until: Some(Timestamp::from_micros(until)),
        ..EventFilter::default()
    };
    assert_eq!(ids(&store, &between(1_000_000, 2_000_000)).await, ["evt_1"]);
    assert_eq!(ids(&store, &between(1, 2_000_001)).await, ["evt_2", "evt_1"]);
    let at = settled_at.as_micros();
    assert_eq!(ids(&store, &between(at, at + 1)).await, ["settled"]);
    assert_eq!(ids(&store, &between(at + 1, FAR_MICROS)).await, [""; 0]);
    assert_eq!(ids(&store, &between(3_000_000, at)).await, [""; 0]);
    let from = EventFilter { from: Some(settled_at), ..EventFilter::default() };
    assert_eq!(ids(&store, &from).await, ["settled"]);
}

pub async fn a_page_has_at_least_one_event_and_at_most_as_many_as_it_may(store: impl StoreFixture) {
    let letters = (0..503).map(|number| new_letter(&format!("evt_{number}"), number)).collect();
    store.letters_of(CONSUMER).store(letters).await.unwrap();
    for (limit, expected) in [(0, 1), (1, 1), (500, 500), (u32::MAX, 500)] {
        let page = store.events_of(CONSUMER).find(&EventFilter::default(), None, limit).await.unwrap();
        assert_eq!((page.events.len(), page.next.is_some()), (expected, true), "{limit}");
    }
}
