//! The schema and the store's identity.

use application::ports::store_admin::StoreAdmin;
use harness::postgres::TestDatabase;
use tokio::task::JoinSet;

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
async fn a_step_can_be_undone_and_done_again() {
    let database = TestDatabase::create().await;
    let down = include_str!("../../../../migrations/postgres/2026-11-29-000001_pipeline/down.sql");
    let client = database.client().await;
    client.batch_execute(down).await.unwrap();
    client.batch_execute("DROP TABLE __diesel_schema_migrations").await.unwrap();
    let left = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    assert_eq!(client.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
    assert!(!database.admin().migrate().await.unwrap().is_empty());
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
