//! The schema and the store's identity.

use application::ports::store_admin::StoreAdmin;
use harness::postgres::TestDatabase;
use tokio::task::JoinSet;

use super::super::steps::{back_to, steps};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_five_that_migrate_at_once_one_does_the_work() {
    let database = TestDatabase::create_empty().await;
    let pending = database.admin().pending_migrations().await.unwrap();
    assert!(!pending.is_empty());
    let mut running = JoinSet::new();
    for _ in 0..5 {
        let admin = database.admin();
        running.spawn(async move { admin.migrate().await.unwrap() });
    }
    let applied: Vec<String> = running.join_all().await.into_iter().flatten().collect();
    assert_eq!(applied, pending);
    assert!(database.admin().pending_migrations().await.unwrap().is_empty());
}

/// The migration harness of the driver panics there, unless it is given a thread of its own.
#[tokio::test(flavor = "current_thread")]
async fn it_migrates_on_a_current_thread_runtime() {
    let database = TestDatabase::create_empty().await;
    assert!(!database.admin().migrate().await.unwrap().is_empty());
    assert!(database.admin().migrate().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asking_what_is_pending_changes_nothing() {
    let database = TestDatabase::create_empty().await;
    database.admin().pending_migrations().await.unwrap();
    let query = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    let row = database.client().await.query_one(query, &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_can_be_undone_and_done_again() {
    let database = TestDatabase::create().await;
    let client = database.client().await;
    let count = "SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                   AND relname NOT LIKE '%diesel%') \
                 + (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace)";
    let left = async || client.query_one(count, &[]).await.unwrap().get::<_, i64>(0);
    let before = left().await;
    for kept in (0..steps("postgres").len()).rev() {
        client.batch_execute(&back_to("postgres", kept)).await.unwrap();
        if kept == 0 {
            assert_eq!(left().await, 0);
        }
        database.admin().migrate().await.unwrap();
        assert_eq!(left().await, before);
    }
}

/// As when the process that builds it was killed: the index is there and cannot be used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_was_not_finished_is_built_again() {
    let database = TestDatabase::create().await;
    let client = database.client().await;
    client
        .batch_execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'processed_events_by_moment'::regclass; \
             DELETE FROM __diesel_schema_migrations WHERE version = '20261129000005'",
        )
        .await
        .unwrap();
    assert_eq!(database.admin().migrate().await.unwrap(), ["2026-11-29-000005_event_search"]);
    let valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'processed_events_by_moment'::regclass";
    assert!(client.query_one(valid, &[]).await.unwrap().get::<_, bool>(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_keeps_its_identity_and_no_other_has_it() {
    let (one, other) = (TestDatabase::create().await, TestDatabase::create().await);
    let identity = one.admin().identity().await.unwrap();
    assert_eq!(one.admin().identity().await.unwrap(), identity);
    assert_ne!(other.admin().identity().await.unwrap(), identity);
    // Nor a copy of its rows.
    let id = identity.get(..36).unwrap();
    let copy = format!("UPDATE store_identity SET id = '{id}'");
    other.client().await.batch_execute(&copy).await.unwrap();
    assert_ne!(other.admin().identity().await.unwrap(), identity);
}
