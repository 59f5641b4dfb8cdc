//! One unit at a time.

use std::sync::Arc;
use std::time::Duration;

use adapters::outbound::sqlite::{SqliteAudit, SqliteSettings, SqliteStore, SqliteUnitOfWork};
use application::ports::store_audit::{StoreAudit, StoreTotals};
use application::ports::unit_of_work::{Claim, StoreError, UnitOfWork};
use application::testing::succeeded;
use domain::PaymentEvent;
use harness::sqlite::TestFile;
use tokio::task::JoinSet;

use super::super::fixture::{begin, payment, payment_key, save};
use super::consumer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_waits_for_its_turn_only_so_long() {
    let file = TestFile::create().await;
    let settings = SqliteSettings { acquire_timeout: Duration::from_millis(100), ..file.settings() };
    let unit_of_work = SqliteUnitOfWork::new(SqliteStore::new(&settings).unwrap(), consumer());
    let first = begin(&unit_of_work).await;
    let second = unit_of_work.begin().await.map(|_| ());
    assert!(matches!(second, Err(StoreError::Unavailable(_))), "{second:?}");
    // Whether it can be written to is known all the same.
    unit_of_work.probe().await.unwrap();
    drop(first);
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn units_of_one_store_follow_each_other() {
    let file = TestFile::create().await;
    let unit_of_work = Arc::new(SqliteUnitOfWork::new(file.store(), consumer()));
    let mut units = JoinSet::new();
    for number in 0..20 {
        let unit_of_work = unit_of_work.clone();
        units.spawn(async move {
            let mut unit = begin(&*unit_of_work).await;
            let claims = unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
            tokio::task::yield_now().await;
            // Every other one changes its mind.
            if number % 2 == 0 {
                unit.commit().await.unwrap();
                return claims[0] == Claim::Fresh;
            }
            false
        });
    }
    let committed = units.join_all().await.into_iter().filter(|fresh| *fresh).count();
    assert_eq!(committed, 1);
}

/// Trap: `busy_timeout` does not help a transaction that has read before it writes, unless it was begun with
/// the intention to write.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn units_of_many_stores_that_read_and_then_write_all_get_through() {
    let file = TestFile::create().await;
    let mut units = JoinSet::new();
    for store in 0..4 {
        let unit_of_work = SqliteUnitOfWork::new(file.store(), consumer());
        units.spawn(async move {
            for number in 0..25 {
                let id = format!("pi_{store}_{number}");
                let mut unit = begin(&unit_of_work).await;
                assert_eq!(unit.lock_payments(&[payment_key(&id)]).await.unwrap(), []);
                unit.save_payments(&[payment(&id, 5)]).await.unwrap();
                unit.commit().await.unwrap();
            }
        });
    }
    units.join_all().await;
    let stored: i64 = file.client().query_row("SELECT count(*) FROM payments", [], |row| row.get(0)).unwrap();
    assert_eq!(stored, 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_of_another_process_is_waited_for_only_so_long() {
    let file = TestFile::create().await;
    let settings = SqliteSettings { busy_timeout: Duration::from_millis(100), ..file.settings() };
    let unit_of_work = SqliteUnitOfWork::new(SqliteStore::new(&settings).unwrap(), consumer());
    let other = file.client();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = save(&unit_of_work, &[payment("pi_1", 5)]).await;
    assert!(matches!(refused, Err(StoreError::Transient(_))), "{refused:?}");
    // Another one is writing, so it can be written to.
    unit_of_work.probe().await.unwrap();
    other.execute_batch("ROLLBACK").unwrap();
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_audit_reads_beside_a_unit_that_is_open() {
    let file = TestFile::create().await;
    let unit_of_work = SqliteUnitOfWork::new(file.store(), consumer());
    let mut unit = begin(&unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    unit.save_payments(&[payment("pi_1", 5)]).await.unwrap();

    let audit = SqliteAudit::new(file.store(), consumer());
    assert_eq!(audit.violations(10).await.unwrap(), []);
    assert_eq!(audit.totals(None).await.unwrap(), StoreTotals::default());
    unit.commit().await.unwrap();
    assert_eq!(audit.totals(None).await.unwrap().applied, 1);
}

/// A statement that nobody waits for any more may have failed, or not have come to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_with_a_statement_that_was_given_up_is_not_committed() {
    let file = TestFile::create().await;
    let unit_of_work = SqliteUnitOfWork::new(file.store(), consumer());
    let events: Vec<PaymentEvent> =
        (0..5_000).map(|number| succeeded(&format!("evt_{number}"), "pi_1", 5)).collect();
    let mut unit = begin(&unit_of_work).await;
    let given_up = tokio::time::timeout(Duration::from_micros(1), unit.claim(&events)).await;
    assert!(given_up.is_err(), "it was faster than that");
    let refused = unit.commit().await;
    assert!(matches!(refused, Err(StoreError::Transient(_))), "{refused:?}");
    // The next one waits until that is undone.
    let mut unit = begin(&unit_of_work).await;
    assert_eq!(unit.claim(&events).await.unwrap(), vec![Claim::Fresh; events.len()]);
}
