//! All of a unit or nothing, and nothing left open.

use std::time::{Duration, Instant};

use application::ports::unit_of_work::StoreError;
use application::testing::succeeded;

use super::fixture::{StoreFixture, begin, payment, payment_key, save};

pub async fn a_committed_unit_is_stored(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    unit.save_payments(&[payment("pi_1", 5)]).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.processed().await, [("evt_1".to_owned(), "applied")]);
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}

pub async fn a_dropped_unit_leaves_nothing_and_no_open_session(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    unit.save_payments(&[payment("pi_1", 5)]).await.unwrap();
    drop(unit);
    wait_until_nothing_is_open(&store).await;
    assert_eq!(store.processed().await, []);
    assert_eq!(store.payments().await, []);
    // The only session is free again.
    save(&*unit_of_work, &[payment("pi_2", 5)]).await.unwrap();
}

pub async fn a_unit_that_is_dropped_in_mid_statement_leaves_nothing(store: impl StoreFixture) {
    save(&*store.unit_of_work(1), &[payment("pi_1", 5)])
        .await
        .unwrap();
    let other = store.unit_of_work(1);
    let mut holder = begin(&*other).await;
    holder.lock_payments(&[payment_key("pi_1")]).await.unwrap();

    let unit_of_work = store.unit_of_work(1);
    let waiting = tokio::time::timeout(Duration::from_millis(300), async {
        let mut unit = begin(&*unit_of_work).await;
        unit.claim(&[succeeded("evt_1", "pi_2", 5)]).await.unwrap();
        unit.lock_payments(&[payment_key("pi_1")]).await.unwrap();
        unit.commit().await.unwrap();
    });
    assert!(waiting.await.is_err(), "it does not wait for the lock");
    drop(holder);
    wait_until_nothing_is_open(&store).await;
    assert_eq!(store.processed().await, []);
    save(&*unit_of_work, &[payment("pi_3", 5)]).await.unwrap();
}

pub async fn the_commit_of_a_failed_unit_fails_and_stores_nothing(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    let refused = unit.save_payments(&[payment("pi_1", -1)]).await;
    assert!(matches!(refused, Err(StoreError::Permanent(_))), "{refused:?}");
    assert!(unit.commit().await.is_err(), "a failed unit is committed");
    wait_until_nothing_is_open(&store).await;
    assert_eq!(store.processed().await, []);
    save(&*unit_of_work, &[payment("pi_2", 5)]).await.unwrap();
}

/// F054: whatever a unit was doing when it was cancelled, the next ones are not touched by it.
pub async fn a_cancelled_unit_costs_no_session(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    for polls in 1..=20 {
        let event = succeeded(&format!("evt_cancelled_{polls}"), "pi_cancelled", 5);
        let payments = [payment(&format!("pi_cancelled_{polls}"), 5)];
        let unit = async {
            let mut unit = unit_of_work.begin().await?;
            unit.claim(&[event]).await?;
            unit.save_payments(&payments).await?;
            std::future::pending::<Result<(), StoreError>>().await
        };
        // Each round it comes a little further.
        let cancelled = tokio::time::timeout(Duration::from_micros(polls * 300), unit);
        assert!(cancelled.await.is_err());
    }
    for number in 0..20 {
        let mut unit = begin(&*unit_of_work).await;
        unit.claim(&[succeeded(&format!("evt_{number:02}"), "pi_1", 5)])
            .await
            .unwrap();
        unit.commit().await.unwrap();
    }
    wait_until_nothing_is_open(&store).await;
    let expected: Vec<_> = (0..20)
        .map(|number| (format!("evt_{number:02}"), "applied"))
        .collect();
    assert_eq!(store.processed().await, expected);
    assert_eq!(store.payments().await, []);
}

pub async fn a_store_in_order_can_be_written_to(store: impl StoreFixture) {
    store.unit_of_work(1).probe().await.unwrap();
}

async fn wait_until_nothing_is_open(store: &impl StoreFixture) {
    let since = Instant::now();
    loop {
        let open = store.open_transactions().await;
        if open == 0 {
            return;
        }
        assert!(
            since.elapsed() < Duration::from_secs(5),
            "{open} transactions stay open"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
