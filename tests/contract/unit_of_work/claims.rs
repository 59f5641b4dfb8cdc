//! The idempotency key.

use application::ports::unit_of_work::{Claim, RecordedEvent, UnitOfWork};
use application::testing::{succeeded, without_effect};
use bytes::Bytes;
use domain::{EventKey, PaymentEvent, RecordReason, SourceName};

use super::fixture::{StoreFixture, begin};

async fn claim(store: &dyn UnitOfWork, events: &[PaymentEvent]) -> Vec<Claim> {
    let mut unit = begin(store).await;
    let claims = unit.claim(events).await.unwrap();
    unit.commit().await.unwrap();
    claims
}

pub async fn an_event_is_fresh_once_and_a_duplicate_ever_after(store: impl StoreFixture) {
    let (one, other) = (store.unit_of_work(1), store.unit_of_work(1));
    let event = [succeeded("evt_1", "pi_1", 5)];
    assert_eq!(claim(&*one, &event).await, [Claim::Fresh]);
    assert_eq!(claim(&*one, &event).await, [Claim::Duplicate]);
    assert_eq!(claim(&*other, &event).await, [Claim::Duplicate]);
    assert_eq!(store.processed().await, [("evt_1".to_owned(), "applied")]);
}

pub async fn the_same_key_with_another_meaning_is_a_conflict(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let first = succeeded("evt_1", "pi_1", 5);
    claim(&*unit_of_work, std::slice::from_ref(&first)).await;
    let stored = first.fingerprint();
    assert_eq!(claim(&*unit_of_work, &[succeeded("evt_1", "pi_1", 6)]).await, [Claim::Conflict { stored }]);
}

pub async fn claims_answer_in_the_order_of_the_events(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let known = [succeeded("evt_b", "pi_1", 5), succeeded("evt_d", "pi_2", 5)];
    claim(&*unit_of_work, &known).await;
    let batch = [
        succeeded("evt_e", "pi_1", 5),
        succeeded("evt_d", "pi_2", 6),
        succeeded("evt_a", "pi_1", 5),
        succeeded("evt_b", "pi_1", 5),
        without_effect("evt_c"),
    ];
    let stored = known[1].fingerprint();
    assert_eq!(
        claim(&*unit_of_work, &batch).await,
        [Claim::Fresh, Claim::Conflict { stored }, Claim::Fresh, Claim::Duplicate, Claim::Fresh]
    );
}

pub async fn an_event_is_a_duplicate_only_in_its_own_source(store: impl StoreFixture) {
    let here = succeeded("evt_1", "pi_1", 5);
    let elsewhere = PaymentEvent {
        key: EventKey { source: SourceName::parse("elsewhere").unwrap(), ..here.key.clone() },
        ..here.clone()
    };
    let unit_of_work = store.unit_of_work(1);
    assert_eq!(claim(&*unit_of_work, &[here, elsewhere]).await, [Claim::Fresh, Claim::Fresh]);
}

pub async fn a_second_claim_in_one_unit_is_a_duplicate(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let event = [succeeded("evt_1", "pi_1", 5)];
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.claim(&event).await.unwrap(), [Claim::Fresh]);
    assert_eq!(unit.claim(&event).await.unwrap(), [Claim::Duplicate]);
}

pub async fn ids_are_kept_byte_for_byte(store: impl StoreFixture) {
    // Two ways to write é, right-to-left marks, wild cards, quotes and the longest id there is.
    let longest = "x".repeat(255);
    let ids = [
        "e\u{301}",
        "\u{e9}",
        "\u{202e}evt",
        "100%_\\",
        "'; DROP TABLE x; --",
        "{a,\"b\"}",
        "NULL",
        &longest,
    ];
    let events: Vec<PaymentEvent> = ids.iter().map(|id| succeeded(id, id, 5)).collect();
    let unit_of_work = store.unit_of_work(1);
    assert_eq!(claim(&*unit_of_work, &events).await, vec![Claim::Fresh; ids.len()]);
    assert_eq!(claim(&*unit_of_work, &events).await, vec![Claim::Duplicate; ids.len()]);
    let mut expected: Vec<String> = ids.map(str::to_owned).to_vec();
    expected.sort();
    let stored: Vec<String> = store.processed().await.into_iter().map(|(id, _)| id).collect();
    assert_eq!(stored, expected);
}

pub async fn a_recorded_event_keeps_its_reason_and_bytes(store: impl StoreFixture) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let recorded = RecordedEvent {
        event: without_effect("evt_1"),
        reason: RecordReason::NoEffect,
        payload: Bytes::from(every_byte.clone()),
    };
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(std::slice::from_ref(&recorded.event)).await.unwrap();
    unit.record(&[recorded]).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.processed().await, [("evt_1".to_owned(), "recorded")]);
    let expected = ("evt_1".to_owned(), "no_effect".to_owned(), every_byte);
    assert_eq!(store.recorded().await, [expected]);
}

pub async fn an_applied_event_that_turns_out_to_have_no_effect_is_recorded(store: impl StoreFixture) {
    let events = [succeeded("evt_1", "pi_1", 5), succeeded("evt_2", "pi_1", 5)];
    let recorded = RecordedEvent {
        event: events[1].clone(),
        reason: RecordReason::FactAlreadyKnown,
        payload: Bytes::from_static(b"{}"),
    };
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&events).await.unwrap();
    unit.record(&[recorded]).await.unwrap();
    unit.commit().await.unwrap();
    let expected = [("evt_1".to_owned(), "applied"), ("evt_2".to_owned(), "recorded")];
    assert_eq!(store.processed().await, expected);
}

pub async fn an_empty_batch_is_claimed(store: impl StoreFixture) {
    assert_eq!(claim(&*store.unit_of_work(1), &[]).await, []);
}
