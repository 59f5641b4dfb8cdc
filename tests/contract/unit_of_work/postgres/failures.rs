//! What errors of the server mean.

use std::time::{Duration, Instant};

use adapters::outbound::postgres::{PostgresPool, PostgresReadiness, PostgresSettings, PostgresUnitOfWork};
use application::error_chain::describe;
use application::ports::readiness::ReadinessCheck;
use application::ports::unit_of_work::{StoreError, UnitOfWork};
use application::testing::succeeded;
use harness::postgres::TestDatabase;

use super::super::fixture::{begin, payment, payment_key, save};
use super::consumer;

fn unit_of_work(settings: &PostgresSettings) -> PostgresUnitOfWork {
    PostgresUnitOfWork::new(PostgresPool::new(settings).unwrap(), consumer())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_timeout_is_transient() {
    let database = TestDatabase::create().await;
    let settings = PostgresSettings { lock_timeout: Duration::from_millis(100), ..database.settings() };
    let unit_of_work = unit_of_work(&settings);
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let mut holder = begin(&unit_of_work).await;
    holder.lock_payments(&[payment_key("pi_1")]).await.unwrap();
    let mut unit = begin(&unit_of_work).await;
    let late = unit.lock_payments(&[payment_key("pi_1")]).await;
    assert!(matches!(late, Err(StoreError::Transient(_))), "{late:?}");
    assert!(unit.commit().await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminated_session_is_unavailable_and_the_next_one_works() {
    let database = TestDatabase::create().await;
    let unit_of_work = PostgresUnitOfWork::new(database.pool(1), consumer());
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let admin = database.client().await;
    // Idle in the pool.
    terminate_others(&admin).await;
    save(&unit_of_work, &[payment("pi_2", 5)]).await.unwrap();
    // In a transaction.
    let mut unit = begin(&unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    terminate_others(&admin).await;
    let lost = unit.save_payments(&[payment("pi_3", 5)]).await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    assert!(unit.commit().await.is_err());
    save(&unit_of_work, &[payment("pi_4", 5)]).await.unwrap();
    // At the commit.
    let unit = begin(&unit_of_work).await;
    terminate_others(&admin).await;
    let lost = unit.commit().await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_terminated_while_it_waits_is_unavailable() {
    let database = TestDatabase::create().await;
    let unit_of_work = PostgresUnitOfWork::new(database.pool(1), consumer());
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let holder = database.client().await;
    holder.batch_execute("BEGIN; SELECT FROM payments FOR UPDATE").await.unwrap();
    let mut unit = begin(&unit_of_work).await;
    let keys = [payment_key("pi_1")];
    let (lost, ()) = tokio::join!(unit.lock_payments(&keys), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        terminate_others(&holder).await;
    });
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
}

/// F057: a server that has become read-only is away, and its session does not stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_database_is_unavailable_until_it_is_not() {
    let database = TestDatabase::create().await;
    let pool = database.pool(1);
    let unit_of_work = PostgresUnitOfWork::new(pool.clone(), consumer());
    let readiness = PostgresReadiness::new(pool);
    let admin = database.client().await;
    let set = |value: &str| {
        format!("ALTER DATABASE {} SET default_transaction_read_only = {value}", database.name())
    };
    admin.batch_execute(&set("on")).await.unwrap();
    let mut unit = begin(&unit_of_work).await;
    let refused = unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    drop(unit);
    let probed = unit_of_work.probe().await;
    assert!(matches!(probed, Err(StoreError::Unavailable(_))), "{probed:?}");
    assert!(readiness.check().await.unwrap_err().contains("read-only"));
    admin.batch_execute(&format!("SET transaction_read_only = off; {}", set("off"))).await.unwrap();
    unit_of_work.probe().await.unwrap();
    readiness.check().await.unwrap();
    save(&unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_unavailable_at_once_and_told_without_the_password() {
    let settings = TestDatabase::settings_through("postgres://payonce:hunter2@127.0.0.1:9/payonce");
    let pool = PostgresPool::new(&settings).unwrap();
    let unit_of_work = PostgresUnitOfWork::new(pool.clone(), consumer());
    let since = Instant::now();
    let error = unit_of_work.begin().await.err().unwrap();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(unit_of_work.probe().await.is_err());
    let told = PostgresReadiness::new(pool).check().await.unwrap_err();
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
    for text in [told, describe(&error), format!("{error:?}"), format!("{settings:?}")] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_with_no_free_session_is_unavailable_in_time() {
    let database = TestDatabase::create().await;
    let settings =
        PostgresSettings { pool_max: 1, acquire_timeout: Duration::from_millis(100), ..database.settings() };
    let unit_of_work = unit_of_work(&settings);
    let unit = begin(&unit_of_work).await;
    let error = unit_of_work.begin().await.err().unwrap();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    unit.commit().await.unwrap();
    begin(&unit_of_work).await;
}

/// An answer that never comes is not waited for: a peer that is gone without a word sends no error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_falls_silent_is_unavailable_in_time() {
    let database = TestDatabase::create().await;
    let mut url = url::Url::parse(&database.url()).unwrap();
    let upstream = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
    let proxy = harness::proxy::Proxy::to(upstream).await;
    url.set_port(Some(proxy.port)).unwrap();
    let settings = PostgresSettings {
        statement_timeout: Duration::from_millis(500),
        pool_max: 1,
        ..TestDatabase::settings_through(url.as_str())
    };
    let unit_of_work = unit_of_work(&settings);
    let mut unit = begin(&unit_of_work).await;
    proxy.swallow_requests();
    let since = Instant::now();
    let lost = unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
}

async fn terminate_others(admin: &tokio_postgres::Client) {
    let others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
                  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'payonce'";
    let terminated = admin.query(others, &[]).await.unwrap();
    assert!(!terminated.is_empty(), "there is no session to terminate");
}
