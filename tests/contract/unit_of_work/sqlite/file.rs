//! The file: its schema, its identity, who may read it.

use std::os::unix::fs::PermissionsExt;

use adapters::outbound::sqlite::{SqliteReadiness, SqliteUnitOfWork};
use application::ports::readiness::ReadinessCheck;
use application::ports::store_admin::StoreAdmin;
use harness::sqlite::TestFile;
use tokio::task::JoinSet;

use super::super::fixture::{begin, payment, save};
use super::super::steps::{back_to, steps};
use super::consumer;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_processes_may_migrate_at_once() {
    let file = TestFile::create_empty();
    let mut migrating = JoinSet::new();
    for _ in 0..8 {
        let admin = file.admin();
        migrating.spawn(async move { admin.migrate().await.unwrap() });
    }
    let applied: usize = migrating.join_all().await.iter().map(Vec::len).sum();
    assert_eq!(applied, steps("sqlite").len());
}

// Not only on a runtime of many threads.
#[tokio::test]
async fn what_is_missing_is_named_and_looking_changes_nothing() {
    let file = TestFile::create_empty();
    let admin = file.admin();
    let missing = admin.pending_migrations().await.unwrap();
    assert_eq!(missing.len(), steps("sqlite").len());
    assert!(!file.path().exists());
    assert_eq!(admin.migrate().await.unwrap(), missing);
    assert_eq!(admin.pending_migrations().await.unwrap(), Vec::<String>::new());
    assert_eq!(admin.migrate().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn every_step_can_be_undone_and_done_again() {
    let file = TestFile::create().await;
    let count =
        "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE '%diesel%' AND name NOT LIKE 'sqlite_%'";
    let left = || file.client().query_row(count, [], |row| row.get::<_, i64>(0)).unwrap();
    let before = left();
    for kept in (0..steps("sqlite").len()).rev() {
        file.client().execute_batch(&back_to("sqlite", kept)).unwrap();
        if kept == 0 {
            assert_eq!(left(), 0);
        }
        file.admin().migrate().await.unwrap();
        assert_eq!(left(), before);
    }
}

#[tokio::test]
async fn an_empty_file_misses_everything() {
    let file = TestFile::create().await;
    let admin = TestFile::create_empty();
    std::fs::create_dir(admin.path().parent().unwrap()).unwrap();
    std::fs::write(admin.path(), []).unwrap();
    assert_eq!(admin.admin().pending_migrations().await.unwrap().len(), steps("sqlite").len());
    drop(file);
}

#[tokio::test]
async fn a_store_has_one_identity_and_a_copy_has_another() {
    let (one, other) = (TestFile::create().await, TestFile::create().await);
    let identity = one.admin().identity().await.unwrap();
    assert!(identity.len() > 32, "{identity}");
    assert_eq!(one.admin().identity().await.unwrap(), identity);
    assert_ne!(other.admin().identity().await.unwrap(), identity);

    let copy = TestFile::create_empty();
    std::fs::create_dir(copy.path().parent().unwrap()).unwrap();
    one.client().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::copy(one.path(), copy.path()).unwrap();
    assert_ne!(copy.admin().identity().await.unwrap(), identity);
}

#[tokio::test]
async fn nobody_else_may_read_the_file_or_what_is_beside_it() {
    let file = TestFile::create().await;
    let unit_of_work = SqliteUnitOfWork::new(file.store(), consumer());
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let folder = file.path().parent().unwrap().to_owned();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.len() >= 2, "the log is beside it: {names:?}");
    for name in names {
        assert_eq!(mode(&name), 0o600, "{}", name.display());
    }
}

#[tokio::test]
async fn the_file_is_in_wal_mode_and_closed_with_the_store() {
    let file = TestFile::create().await;
    let unit_of_work = SqliteUnitOfWork::new(file.store(), consumer());
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let mode: String = file.client().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    // A unit outlives what has begun it.
    let unit = begin(&unit_of_work).await;
    drop(unit_of_work);
    drop(unit);
    let log = file.path().with_file_name("payonce.db-wal");
    let mut looks = 0;
    while log.exists() {
        looks += 1;
        assert!(looks < 500, "the last connection is not closed");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn the_store_is_ready_and_the_process_needs_it() {
    let file = TestFile::create().await;
    let readiness = SqliteReadiness::new(file.store());
    assert_eq!(readiness.component(), "store");
    assert!(readiness.required());
    readiness.check().await.unwrap();
}
