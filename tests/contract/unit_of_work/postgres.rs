//! PostgreSQL: the contract, and what only a server can do.

mod commit_cut;
mod failures;
mod lookups;
mod migrations;

use std::sync::Arc;
use std::time::Duration;

use adapters::outbound::postgres::{
    PostgresAudit, PostgresDeadLetters, PostgresEventReader, PostgresEventRetention, PostgresOutbox,
    PostgresPaymentReader, PostgresUnitOfWork,
};
use application::ports::dead_letters::DeadLetters;
use application::ports::event_reader::EventReader;
use application::ports::event_retention::EventRetention;
use application::ports::outbox::Outbox;
use application::ports::payment_reader::PaymentReader;
use application::ports::store_admin::StoreAdmin;
use application::ports::store_audit::StoreAudit;
use application::ports::unit_of_work::UnitOfWork;
use async_trait::async_trait;
use domain::ConsumerName;
use harness::postgres::TestDatabase;

use super::fixture::{CONSUMER, StoreFixture};
use super::steps::{back_to, first_releases_rows};
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

    async fn as_the_first_release_left_it(&self) {
        let client = self.database.client().await;
        client.batch_execute(&back_to("postgres", 1)).await.unwrap();
        let rows = first_releases_rows(r"'\x00112233445566778899aabbccddeeff'", "now()");
        client.batch_execute(&rows).await.unwrap();
        self.database.admin().migrate().await.unwrap();
    }

    fn unit_of_work_of(&self, consumer: &str, sessions: usize) -> Arc<dyn UnitOfWork> {
        Arc::new(PostgresUnitOfWork::new(self.database.pool(sessions), named(consumer)))
    }

    fn reader_of(&self, consumer: &str) -> Arc<dyn PaymentReader> {
        Arc::new(PostgresPaymentReader::new(self.database.pool(1), named(consumer)))
    }

    fn events_of(&self, consumer: &str) -> Arc<dyn EventReader> {
        Arc::new(PostgresEventReader::new(self.database.pool(1), named(consumer)))
    }

    fn retention_of(&self, consumer: &str) -> Arc<dyn EventRetention> {
        Arc::new(PostgresEventRetention::new(self.database.pool(1), named(consumer)))
    }

    fn letters_of(&self, consumer: &str) -> Arc<dyn DeadLetters> {
        Arc::new(PostgresDeadLetters::new(self.database.pool(1), named(consumer)))
    }

    fn outbox_of(&self, consumer: &str) -> Arc<dyn Outbox> {
        Arc::new(PostgresOutbox::new(self.database.pool(1), named(consumer)))
    }

    fn ago(&self, time: Duration) -> String {
        format!("(now() - interval '{} microseconds')", time.as_micros())
    }

    fn audit_of(&self, consumer: &str) -> Arc<dyn StoreAudit> {
        Arc::new(PostgresAudit::new(self.database.pool(1), named(consumer)))
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

    async fn texts(&self, query: &str) -> Vec<String> {
        let rows = self.database.client().await.query(query, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn execute(&self, statements: &str) -> Result<(), String> {
        let done = self.database.client().await.batch_execute(statements).await;
        done.map_err(|error| application::error_chain::describe(&error))
    }

    async fn tamper(&self, statements: &str) {
        let loosen = "DO $$ DECLARE rule record; BEGIN \
             FOR rule IN SELECT conrelid::regclass AS owner, conname FROM pg_constraint \
               WHERE connamespace = 'public'::regnamespace \
                 AND (contype = 'c' OR conname = 'processed_events_pkey') \
             LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I CASCADE', rule.owner, rule.conname); END LOOP; \
             END $$; \
             DROP TRIGGER ledger_entries_are_append_only ON ledger_entries";
        let client = self.database.client().await;
        client.batch_execute(loosen).await.unwrap();
        client.batch_execute(statements).await.unwrap();
    }

    async fn open_transactions(&self) -> usize {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                     AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        let row = self.database.client().await.query_one(query, &[]).await.unwrap();
        usize::try_from(row.get::<_, i64>(0)).unwrap()
    }
}

fn consumer() -> ConsumerName {
    named(CONSUMER)
}

fn named(consumer: &str) -> ConsumerName {
    ConsumerName::parse(consumer).unwrap()
}
