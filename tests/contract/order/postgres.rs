//! Any order, on PostgreSQL.

use std::collections::BTreeSet;
use std::sync::Arc;

use adapters::outbound::postgres::{PostgresAudit, PostgresUnitOfWork};
use application::ports::store_audit::StoreAudit;
use application::ports::unit_of_work::UnitOfWork;
use async_trait::async_trait;
use domain::ConsumerName;
use harness::postgres::TestDatabase;

use super::OrderedStore;

struct Store(TestDatabase);

#[async_trait]
impl OrderedStore for Store {
    async fn create() -> Self {
        Self(TestDatabase::create().await)
    }

    fn unit_of_work(&self) -> Arc<dyn UnitOfWork> {
        Arc::new(PostgresUnitOfWork::new(self.0.pool(1), consumer()))
    }

    fn audit(&self) -> Arc<dyn StoreAudit> {
        Arc::new(PostgresAudit::new(self.0.pool(1), consumer()))
    }

    async fn lines(&self, query: &str) -> BTreeSet<String> {
        let rows = self.0.client().await.query(query, &[]).await.expect("the query can be run");
        rows.iter().map(|row| row.get(0)).collect()
    }
}

fn consumer() -> ConsumerName {
    ConsumerName::parse("payments").expect("a valid name")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_order_ends_in_the_same_state() {
    super::every_order_ends_in_the_same_state::<Store>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_workers_on_three_accounts_lose_nothing() {
    super::workers_that_share_accounts_lose_nothing::<Store>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_order_of_a_stripe_history_ends_in_the_same_state() {
    super::stripe::every_order_of_a_stripe_history_ends_in_the_same_state::<Store>().await;
}
