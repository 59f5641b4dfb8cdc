//! What is asked for by its key is looked up by it, however large the server believes a table to be.

use std::time::Duration;

use adapters::outbound::postgres::PostgresUnitOfWork;
use application::testing::succeeded;
use domain::{Payment, PaymentEvent};
use harness::postgres::TestDatabase;
use tokio_postgres::Client;

use super::super::fixture::{begin, payment};
use super::consumer;

const BATCHES: usize = 20;
const BATCH: usize = 100;

/// The server plans a statement for a session when it is first run, which in a new store is for an empty table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_has_known_the_store_empty_does_not_read_all_of_it_for_every_batch() {
    let database = TestDatabase::create().await;
    let client = database.client().await;
    let units = PostgresUnitOfWork::new(database.pool(1), consumer());
    for batch in 0..BATCHES {
        let ids: Vec<String> = (0..BATCH).map(|number| format!("{batch}_{number}")).collect();
        let events: Vec<PaymentEvent> =
            ids.iter().map(|id| succeeded(&format!("evt_{id}"), &format!("pi_{id}"), 5)).collect();
        let mut payments: Vec<Payment> = ids.iter().map(|id| payment(&format!("pi_{id}"), 5)).collect();
        payments.sort_by(|one, other| one.key.cmp(&other.key));
        let keys: Vec<_> = payments.iter().map(|payment| payment.key.clone()).collect();
        let mut unit = begin(&units).await;
        unit.claim(&events).await.unwrap();
        assert_eq!(unit.lock_payments(&keys).await.unwrap(), []);
        unit.save_payments(&payments).await.unwrap();
        unit.commit().await.unwrap();
    }
    // A session tells what it has read at its end at the latest.
    drop(units);
    wait_until_alone(&client).await;

    let read = "SELECT (seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes AS i \
                  WHERE i.relid = t.relid))::bigint FROM pg_stat_user_tables AS t WHERE relname = 'payments'";
    let read: i64 = client.query_one(read, &[]).await.unwrap().get(0);
    assert!(usize::try_from(read).unwrap() <= 2 * BATCHES * BATCH, "{read} rows were read");
}

async fn wait_until_alone(client: &Client) {
    let others = "SELECT count(*) FROM pg_stat_activity \
                  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    for _ in 0..200 {
        if client.query_one(others, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the session is still there");
}
