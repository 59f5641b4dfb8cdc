//! The rows that events change.

use application::ports::unit_of_work::StoreError;
use application::testing::succeeded;
use domain::{EventId, Payment};

use super::fixture::{StoreFixture, begin, payment, payment_key, save};

pub async fn a_payment_comes_back_as_it_was_saved(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let first = payment("pi_1", 5);
    save(&*unit_of_work, std::slice::from_ref(&first)).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.lock_payments(&[payment_key("pi_1")]).await.unwrap(), std::slice::from_ref(&first));
    let second = Payment { last_event: EventId::parse("evt_2").unwrap(), revision: 2, ..first };
    unit.save_payments(std::slice::from_ref(&second)).await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.lock_payments(&[payment_key("pi_1")]).await.unwrap(), [second]);
}

pub async fn amounts_are_exact_to_the_last_minor_unit(store: impl StoreFixture) {
    // Beyond 2^53 a float would round.
    let amounts = [0, 9_007_199_254_740_993, i64::MAX];
    let payments = amounts.map(|amount| payment(&format!("pi_{amount}"), amount));
    let unit_of_work = store.unit_of_work(1);
    save(&*unit_of_work, &payments).await.unwrap();
    let keys = payments.clone().map(|payment| payment.key);
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.lock_payments(&keys).await.unwrap(), payments);
}

pub async fn only_existing_payments_are_loaded_in_key_order(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let stored = ["pi_B", "pi_a", "pi_é"].map(|id| payment(id, 5));
    save(&*unit_of_work, &stored).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    let keys = ["pi_é", "pi_none", "pi_a", "pi_B"].map(payment_key);
    assert_eq!(unit.lock_payments(&keys).await.unwrap(), stored);
}

pub async fn a_payment_that_was_created_meanwhile_is_not_overwritten(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(2);
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.lock_payments(&[payment_key("pi_1")]).await.unwrap(), []);
    drop(unit);
    save(&*unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    let lost = unit.save_payments(&[payment("pi_0", 7), payment("pi_1", 7)]).await;
    assert!(matches!(lost, Err(StoreError::Transient(_))), "{lost:?}");
    assert!(unit.commit().await.is_err(), "a unit that lost is committed");
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}

pub async fn a_stale_change_is_not_saved(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    save(&*unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let stale = Payment { revision: 3, ..payment("pi_1", 7) };
    let lost = save(&*unit_of_work, &[stale]).await;
    assert!(matches!(lost, Err(StoreError::Transient(_))), "{lost:?}");
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}

/// F053: breaking a rule that is not ours is neither a duplicate nor something to try again.
pub async fn breaking_a_business_rule_is_permanent(store: impl StoreFixture) {
    store.forbid_equal_amounts().await;
    let unit_of_work = store.unit_of_work(1);
    save(&*unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&[succeeded("evt_2", "pi_2", 5)]).await.unwrap();
    let refused = unit.save_payments(&[payment("pi_2", 5)]).await;
    assert!(matches!(refused, Err(StoreError::Permanent(_))), "{refused:?}");
    assert!(unit.commit().await.is_err());
    assert_eq!(store.processed().await, []);
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}
