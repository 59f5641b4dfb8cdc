//! PostgreSQL: the contract, and transactions that commit in another order than that of their places.

use std::sync::Arc;
use std::time::Duration;

use adapters::outbound::postgres::PostgresOutbox;
use application::ports::outbox::{Outbox, OutboxLease, Verdict};
use async_trait::async_trait;
use domain::ConsumerName;
use harness::postgres::TestDatabase;
use tokio_postgres::Client;

use super::fixture::{CONSUMER, INSERT, OutboxFixture, again, lease, payments, row, settle_next};
use super::outbox_contract;

outbox_contract!(contract, crate::outbox::postgres::PostgresFixture);

/// A database of its own.
pub struct PostgresFixture {
    database: TestDatabase,
}

#[async_trait]
impl OutboxFixture for PostgresFixture {
    async fn create() -> Self {
        Self { database: TestDatabase::create().await }
    }

    fn outbox_of(&self, consumer: &str) -> Arc<dyn Outbox> {
        Arc::new(PostgresOutbox::new(self.database.pool(2), ConsumerName::parse(consumer).unwrap()))
    }

    async fn run(&self, sql: &str) {
        self.database.client().await.batch_execute(sql).await.unwrap();
    }

    async fn texts(&self, query: &str) -> Vec<String> {
        let rows = self.database.client().await.query(query, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    fn ago(&self, time: Duration) -> String {
        format!("clock_timestamp() - interval '{} microseconds'", time.as_micros())
    }
}

/// An open transaction that has added a message, as a unit of work does: it has written before, and so has its
/// transaction number before it takes a place.
async fn adding(store: &PostgresFixture, payment: &str) -> Client {
    let client = store.database.client().await;
    let message = row(CONSUMER, payment, "now()");
    client.batch_execute(&format!("BEGIN; SELECT pg_current_xact_id(); {INSERT} {message}")).await.unwrap();
    client
}

async fn gaps(store: &PostgresFixture) -> Vec<String> {
    store.texts("SELECT gaps FROM outbox_destinations").await
}

/// Waits until no place may come any more, and gives how many messages have come until then. Transactions of
/// other databases on the server, such as those of other tests, may have begun in time as well.
async fn settle_until_no_gap(store: &PostgresFixture, lease: &mut dyn OutboxLease) -> usize {
    let mut got = 0;
    for _ in 0..1000 {
        got += settle_next(lease, |_| Verdict::Done).await.len();
        if gaps(store).await == ["[]"] {
            return got;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{:?}", gaps(store).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_committed_after_one_of_a_higher_place_is_not_passed_over() {
    let store = PostgresFixture::create().await;
    let slow = adding(&store, "pi_slow").await;
    store.add(&["pi_fast"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_fast"]);
    assert!(payments(&mut *lease).await.is_empty());
    slow.batch_execute("COMMIT").await.unwrap();
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_slow"]);
    assert!(payments(&mut *lease).await.is_empty());
    assert_eq!(gaps(&store).await, ["[]"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_relay_knows_of_what_may_still_come() {
    let store = PostgresFixture::create().await;
    let slow = adding(&store, "pi_slow").await;
    store.add(&["pi_fast"]).await;
    let mut first = lease(&*store.outbox(), "shop").await;
    settle_next(&mut *first, |_| Verdict::Done).await;
    let mut second = lease(&*store.outbox(), "shop").await;
    assert!(payments(&mut *second).await.is_empty());
    slow.batch_execute("COMMIT").await.unwrap();
    assert_eq!(payments(&mut *second).await, ["pi_slow"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_that_was_rolled_back_is_given_up_once_its_transaction_has_ended() {
    let store = PostgresFixture::create().await;
    let (doomed, slow) = (adding(&store, "pi_doomed").await, adding(&store, "pi_slow").await);
    store.add(&["pi_fast"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    settle_next(&mut *lease, |_| Verdict::Done).await;
    let found = gaps(&store).await;
    assert!(found[0].starts_with("[[1,2,"), "{found:?}");
    doomed.batch_execute("ROLLBACK").await.unwrap();
    // The other one goes on, and both places stay remembered.
    store.add(&["pi_next"]).await;
    settle_next(&mut *lease, |_| Verdict::Done).await;
    assert_eq!(gaps(&store).await, found);
    slow.batch_execute("COMMIT").await.unwrap();
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_slow"]);
    assert_eq!(settle_until_no_gap(&store, &mut *lease).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_late_comes_before_later_ones_of_its_payment() {
    let store = PostgresFixture::create().await;
    let slow = adding(&store, "pi_1").await;
    store.add(&["pi_2"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    settle_next(&mut *lease, |_| Verdict::Done).await;
    // A payment's rows are locked until the commit, so its next message is added after that.
    slow.batch_execute("COMMIT").await.unwrap();
    store.add(&["pi_1"]).await;
    let entries = lease.next(100).await.unwrap().entries;
    assert_eq!(entries.len(), 2);
    assert!(entries[0].payment_id == "pi_1" && entries[0].seq < entries[1].seq, "{entries:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_late_can_wait_for_another_attempt_like_any_other() {
    let store = PostgresFixture::create().await;
    let slow = adding(&store, "pi_slow").await;
    store.add(&["pi_fast"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    settle_next(&mut *lease, |_| Verdict::Done).await;
    slow.batch_execute("COMMIT").await.unwrap();
    settle_next(&mut *lease, |_| again(Duration::ZERO)).await;
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_slow"]);
    assert!(payments(&mut *lease).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_still_come_is_not_purged_when_it_comes() {
    let store = PostgresFixture::create().await;
    let slow = store.database.client().await;
    let message = row(CONSUMER, "pi_slow", "now() - interval '1 day'");
    slow.batch_execute(&format!("BEGIN; SELECT pg_current_xact_id(); {INSERT} {message}")).await.unwrap();
    store.add_old(&["pi_fast"]).await;
    store.add(&["pi_new"]).await;
    let outbox = store.outbox();
    let mut lease = lease(&*outbox, "shop").await;
    settle_next(&mut *lease, |_| Verdict::Done).await;
    slow.batch_execute("COMMIT").await.unwrap();
    assert_eq!(outbox.purge(Duration::from_hours(1), 10).await.unwrap(), 0);
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_slow"]);
    assert_eq!(outbox.purge(Duration::from_hours(1), 10).await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_transactions_in_any_order_nothing_is_passed_over() {
    let store = Arc::new(PostgresFixture::create().await);
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..8_u64 {
        let store = store.clone();
        writers.spawn(async move {
            let client = store.database.client().await;
            for number in 0..25_u64 {
                let message = row(CONSUMER, &format!("pi_{writer}"), "now()");
                let end = if (writer + number) % 5 == 0 { "ROLLBACK" } else { "COMMIT" };
                let add = format!("BEGIN; SELECT pg_current_xact_id(); {INSERT} {message}");
                client.batch_execute(&add).await.unwrap();
                tokio::time::sleep(Duration::from_millis((writer * 7 + number * 3) % 20)).await;
                client.batch_execute(end).await.unwrap();
            }
        });
    }
    let outbox = store.outbox();
    let mut lease = lease(&*outbox, "shop").await;
    let mut got = 0;
    while !writers.is_empty() {
        got += settle_next(&mut *lease, |_| Verdict::Done).await.len();
        while writers.try_join_next().is_some() {}
    }
    got += settle_until_no_gap(&store, &mut *lease).await;
    assert_eq!(got, 8 * 20);
}
