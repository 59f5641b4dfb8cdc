//! A disk that is full, a file that is missing, damaged or not ours.

use adapters::outbound::sqlite::{SqliteReadiness, SqliteUnitOfWork};
use application::error_chain::describe;
use application::ports::readiness::ReadinessCheck;
use application::ports::unit_of_work::{StoreError, UnitOfWork};
use application::testing::succeeded;
use harness::sqlite::TestFile;

use super::super::fixture::{begin, payment, save};
use super::consumer;

/// The text of an error that says nothing about the events.
fn unavailable<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Err(error @ StoreError::Unavailable(_)) => describe(&error),
        other => panic!("not unavailable: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_missing_is_not_made_by_writing() {
    let file = TestFile::create_empty();
    let store = file.store();
    let unit_of_work = SqliteUnitOfWork::new(store.clone(), consumer());
    let told = unavailable(unit_of_work.begin().await.map(|_| ()));
    assert!(told.contains("the first start makes it"), "{told}");
    assert!(SqliteReadiness::new(store).check().await.is_err());
    assert!(!file.path().exists());
    // It may come later.
    application::ports::store_admin::StoreAdmin::migrate(&file.admin()).await.unwrap();
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_without_the_schema_is_unavailable_and_says_what_to_do() {
    let file = TestFile::create().await;
    file.client().execute_batch("DROP TABLE payments").unwrap();
    let unit_of_work = SqliteUnitOfWork::new(file.store(), consumer());
    let told = unavailable(save(&unit_of_work, &[payment("pi_1", 5)]).await);
    assert!(told.contains("payonce migrate"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_file_is_unavailable_and_says_what_to_do() {
    let file = TestFile::create().await;
    std::fs::write(file.path(), [7; 8192]).unwrap();
    let store = file.store();
    let unit_of_work = SqliteUnitOfWork::new(store.clone(), consumer());
    let told = unavailable(save(&unit_of_work, &[payment("pi_1", 5)]).await);
    assert!(told.contains("backup"), "{told}");
    let told = SqliteReadiness::new(store).check().await.unwrap_err();
    assert!(told.contains("backup"), "{told}");
}

/// What was written to the old one would be lost, and the cache knows nothing of the new one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_took_the_place_of_the_open_one_is_not_written_to() {
    let file = TestFile::create().await;
    let store = file.store();
    let unit_of_work = SqliteUnitOfWork::new(store.clone(), consumer());
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let away = file.folder().join("away.db");
    std::fs::rename(file.path(), &away).unwrap();
    unavailable(unit_of_work.begin().await.map(|_| ()));

    std::fs::copy(&away, file.path()).unwrap();
    let told = unavailable(unit_of_work.begin().await.map(|_| ()));
    assert!(told.contains("start payonce again"), "{told}");
    let told = SqliteReadiness::new(store).check().await.unwrap_err();
    assert!(told.contains("start payonce again"), "{told}");
    std::fs::rename(&away, file.path()).unwrap();
    save(&unit_of_work, &[payment("pi_2", 5)]).await.unwrap();
}

/// SQLite rolls the whole transaction back by itself, and would store what comes after it at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_stored_of_a_unit_that_sqlite_has_rolled_back() {
    let file = TestFile::create().await;
    file.client()
        .execute_batch(
            "CREATE TRIGGER no_room BEFORE INSERT ON payments WHEN new.payment_id = 'pi_full' \
             BEGIN SELECT RAISE(ROLLBACK, 'database or disk is full'); END",
        )
        .unwrap();
    let unit_of_work = SqliteUnitOfWork::new(file.store(), consumer());
    let mut unit = begin(&unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    let told = unavailable(unit.save_payments(&[payment("pi_full", 5)]).await);
    assert!(told.contains("make room"), "{told}");
    assert!(unit.save_payments(&[payment("pi_1", 5)]).await.is_err());
    assert!(unit.commit().await.is_err());
    let stored: i64 = file
        .client()
        .query_row(
            "SELECT (SELECT count(*) FROM payments) + (SELECT count(*) FROM processed_events)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(stored, 0);
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
}
