//! Several units at once.

use std::sync::Arc;
use std::time::Duration;

use application::ports::unit_of_work::{Claim, StoreError, UnitOfWork};
use application::testing::succeeded;
use domain::{Payment, PaymentEvent};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::fixture::{StoreFixture, begin, payment, payment_key};

pub async fn of_two_units_that_race_for_an_event_one_gets_it(store: impl StoreFixture) {
    for round in 0..20 {
        let start = Arc::new(Barrier::new(2));
        let mut units = JoinSet::new();
        for _ in 0..2 {
            let (unit_of_work, start) = (store.unit_of_work(1), start.clone());
            units.spawn(async move {
                let mut unit = begin(&*unit_of_work).await;
                start.wait().await;
                let claims = unit.claim(&[succeeded(&format!("evt_{round}"), "pi_1", 5)]).await.unwrap();
                unit.commit().await.unwrap();
                claims[0]
            });
        }
        let claims = units.join_all().await;
        assert!(claims.contains(&Claim::Fresh) && claims.contains(&Claim::Duplicate), "{claims:?}");
    }
}

pub async fn a_claim_waits_for_the_unit_that_holds_the_key(store: impl StoreFixture) {
    assert_eq!(claim_behind(&store, true).await, Claim::Duplicate);
}

pub async fn a_claim_that_waited_for_a_dropped_unit_is_fresh(store: impl StoreFixture) {
    assert_eq!(claim_behind(&store, false).await, Claim::Fresh);
}

/// What a second unit is told of an event that a first one has claimed and then commits, or not.
async fn claim_behind(store: &impl StoreFixture, commit: bool) -> Claim {
    let (one, other) = (store.unit_of_work(1), store.unit_of_work(1));
    let mut first = begin(&*one).await;
    first.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    let second = tokio::spawn(async move {
        let mut second = begin(&*other).await;
        let claims = second.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
        second.commit().await.unwrap();
        claims[0]
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!second.is_finished(), "it does not wait");
    if commit {
        first.commit().await.unwrap();
    } else {
        drop(first);
    }
    let claim = second.await.unwrap();
    assert_eq!(store.processed().await.len(), 1);
    claim
}

pub async fn racing_creations_of_a_payment_lose_no_update(store: impl StoreFixture) {
    let start = Arc::new(Barrier::new(8));
    let mut units = JoinSet::new();
    for number in 0..8 {
        let (unit_of_work, start) = (store.unit_of_work(1), start.clone());
        units.spawn(async move {
            start.wait().await;
            let event = succeeded(&format!("evt_{number}"), "pi_1", 5);
            until_done(&*unit_of_work, &[event]).await;
        });
    }
    units.join_all().await;
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 8)]);
    assert_eq!(store.processed().await.len(), 8);
}

/// F051: insertion without error on conflict does not by itself prevent a deadlock.
pub async fn batches_in_reverse_order_lose_no_event(store: impl StoreFixture) {
    let (one, other) = (store.unit_of_work(1), store.unit_of_work(1));
    for round in 0..20 {
        let events: Vec<PaymentEvent> = (0..50)
            .map(|number| succeeded(&format!("evt_{round:02}_{number:02}"), &format!("pi_{number:02}"), 5))
            .collect();
        let reversed: Vec<PaymentEvent> = events.iter().rev().cloned().collect();
        let (forward, backward) = tokio::join!(until_done(&*one, &events), until_done(&*other, &reversed));
        assert_eq!(forward.retries + backward.retries, 0, "they wait for each other in a circle");
        assert_eq!(forward.fresh + backward.fresh, 50);
    }
    assert_eq!(store.processed().await.len(), 20 * 50);
    let payments = store.payments().await;
    assert_eq!(payments.len(), 50);
    assert!(payments.iter().all(|(_, _, revision)| *revision == 20), "{payments:?}");
}

#[derive(Debug, Default)]
struct Done {
    fresh: usize,
    retries: usize,
}

/// Applies `events` as a worker does: what fails for now is run again.
async fn until_done(store: &dyn UnitOfWork, events: &[PaymentEvent]) -> Done {
    let mut retries = 0;
    loop {
        match apply(store, events).await {
            Ok(fresh) => return Done { fresh, retries },
            Err(StoreError::Transient(_)) => retries += 1,
            Err(error) => panic!("{error:?}"),
        }
        assert!(retries < 100, "it never succeeds");
    }
}

async fn apply(store: &dyn UnitOfWork, events: &[PaymentEvent]) -> Result<usize, StoreError> {
    let mut unit = store.begin().await?;
    let claims = unit.claim(events).await?;
    let fresh: Vec<&PaymentEvent> = events
        .iter()
        .zip(&claims)
        .filter_map(|(event, claim)| (*claim == Claim::Fresh).then_some(event))
        .collect();
    let mut keys: Vec<_> = fresh.iter().filter_map(|event| event.payment_key()).collect();
    keys.sort();
    let existing = unit.lock_payments(&keys).await?;
    let mut changed: Vec<Payment> = fresh
        .iter()
        .map(|event| {
            let id = event.payment_key().unwrap().payment_id;
            let current = existing.iter().find(|payment| payment.key == payment_key(id.as_str()));
            Payment {
                last_event: event.key.event_id.clone(),
                revision: current.map_or(1, |payment| payment.revision + 1),
                ..payment(id.as_str(), 5)
            }
        })
        .collect();
    changed.sort_by(|one, other| one.key.cmp(&other.key));
    unit.save_payments(&changed).await?;
    unit.commit().await?;
    Ok(fresh.len())
}
