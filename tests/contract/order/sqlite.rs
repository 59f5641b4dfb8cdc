//! Any order, on SQLite.

use std::collections::BTreeSet;
use std::sync::Arc;

use adapters::outbound::sqlite::{SqliteAudit, SqliteUnitOfWork};
use application::ports::store_audit::StoreAudit;
use application::ports::unit_of_work::UnitOfWork;
use async_trait::async_trait;
use domain::ConsumerName;
use harness::sqlite::TestFile;

use super::OrderedStore;

struct Store(TestFile);

#[async_trait]
impl OrderedStore for Store {
    async fn create() -> Self {
        Self(TestFile::create().await)
    }

    fn unit_of_work(&self) -> Arc<dyn UnitOfWork> {
        Arc::new(SqliteUnitOfWork::new(self.0.store(), consumer()))
    }

    fn audit(&self) -> Arc<dyn StoreAudit> {
        Arc::new(SqliteAudit::new(self.0.store(), consumer()))
    }

    async fn lines(&self, query: &str) -> BTreeSet<String> {
        let client = self.0.client();
        let mut statement = client.prepare(query).expect("the query can be run");
        let rows = statement.query_map([], |row| row.get(0)).expect("the query can be run");
        rows.map(|row| row.expect("a text")).collect()
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
