//! PostgreSQL: the contract, and what only a server can do.

mod commit_cut;
mod failures;
mod migrations;

use std::sync::Arc;

use adapters::outbound::postgres::PostgresUnitOfWork;
use application::ports::unit_of_work::UnitOfWork;
use async_trait::async_trait;
use domain::ConsumerName;
use harness::postgres::TestDatabase;

use super::fixture::StoreFixture;
use super::unit_of_work_contract;

unit_of_work_contract!(contract, crate::unit_of_work::postgres::PostgresFixture);

/// A database of its own.
pub struct PostgresFixture {
    database: TestDatabase,
}

#[async_trait]
impl StoreFixture for PostgresFixture {
    async fn create() -> Self {
        let database = TestDatabase::create().await;
        Self { database }
    }

    fn unit_of_work(&self, sessions: usize) -> Arc<dyn UnitOfWork> {
        Arc::new(PostgresUnitOfWork::new(self.database.pool(sessions), consumer()))
    }

    async fn processed(&self) -> Vec<(String, &'static str)> {
        let query = "SELECT event_id, outcome FROM processed_events ORDER BY event_id";
        let rows = self.database.client().await.query(query, &[]).await.unwrap();
        rows.iter()
            .map(|row| (row.get(0), if row.get::<_, i16>(1) == 1 { "applied" } else { "recorded" }))
            .collect()
    }

    async fn payments(&self) -> Vec<(String, i64, i64)> {
        let query = "SELECT payment_id, amount_minor, revision FROM payments ORDER BY payment_id";
        let rows = self.database.client().await.query(query, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
    }

    async fn recorded(&self) -> Vec<(String, String, Vec<u8>)> {
        let query = "SELECT event_id, reason, payload FROM recorded_events ORDER BY event_id";
        let rows = self.database.client().await.query(query, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
    }

    async fn open_transactions(&self) -> usize {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                     AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        let row = self.database.client().await.query_one(query, &[]).await.unwrap();
        usize::try_from(row.get::<_, i64>(0)).unwrap()
    }

    async fn forbid_equal_amounts(&self) {
        let rule = "CREATE UNIQUE INDEX no_amount_twice ON payments (amount_minor)";
        self.database.client().await.batch_execute(rule).await.unwrap();
    }
}

fn consumer() -> ConsumerName {
    ConsumerName::parse("payments").unwrap()
}
