//! SQLite: the contract, and what only a file can do.

mod crash;
mod failures;
mod file;
mod serial;

use std::sync::Arc;
use std::time::Duration;

use adapters::outbound::sqlite::{
    SqliteAudit, SqliteDeadLetters, SqliteEventReader, SqliteEventRetention, SqliteOutbox,
    SqlitePaymentReader, SqliteUnitOfWork,
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
use harness::sqlite::TestFile;

use super::fixture::{CONSUMER, StoreFixture};
use super::steps::{back_to, first_releases_rows};
use super::unit_of_work_contract;

unit_of_work_contract!(contract, crate::unit_of_work::sqlite::SqliteFixture);

/// A file of its own.
pub struct SqliteFixture {
    file: TestFile,
}

#[async_trait]
impl StoreFixture for SqliteFixture {
    async fn create() -> Self {
        let file = TestFile::create().await;
        Self { file }
    }

    async fn as_the_first_release_left_it(&self) {
        let rows = first_releases_rows("x'00112233445566778899aabbccddeeff'", "1700000000000000");
        let client = self.file.client();
        client.execute_batch(&back_to("sqlite", 1)).unwrap();
        client.execute_batch(&rows).unwrap();
        drop(client);
        self.file.admin().migrate().await.unwrap();
    }

    fn unit_of_work_of(&self, consumer: &str, _sessions: usize) -> Arc<dyn UnitOfWork> {
        // There is always one session that writes.
        Arc::new(SqliteUnitOfWork::new(self.file.store(), named(consumer)))
    }

    fn reader_of(&self, consumer: &str) -> Arc<dyn PaymentReader> {
        Arc::new(SqlitePaymentReader::new(self.file.store(), named(consumer)))
    }

    fn events_of(&self, consumer: &str) -> Arc<dyn EventReader> {
        Arc::new(SqliteEventReader::new(self.file.store(), named(consumer)))
    }

    fn retention_of(&self, consumer: &str) -> Arc<dyn EventRetention> {
        Arc::new(SqliteEventRetention::new(self.file.store(), named(consumer)))
    }

    fn letters_of(&self, consumer: &str) -> Arc<dyn DeadLetters> {
        Arc::new(SqliteDeadLetters::new(self.file.store(), named(consumer)))
    }

    fn outbox_of(&self, consumer: &str) -> Arc<dyn Outbox> {
        Arc::new(SqliteOutbox::new(self.file.store(), named(consumer)))
    }

    fn ago(&self, time: Duration) -> String {
        format!("(CAST(unixepoch('subsec') * 1000000 AS INTEGER) - {})", time.as_micros())
    }

    fn audit_of(&self, consumer: &str) -> Arc<dyn StoreAudit> {
        Arc::new(SqliteAudit::new(self.file.store(), named(consumer)))
    }

    async fn processed(&self) -> Vec<(String, &'static str)> {
        let query = "SELECT event_id, outcome FROM processed_events ORDER BY event_id";
        rows(&self.file, query, |row| {
            let outcome = if row.get::<_, i64>(1)? == 1 { "applied" } else { "recorded" };
            Ok((row.get(0)?, outcome))
        })
    }

    async fn payments(&self) -> Vec<(String, i64, i64)> {
        let query = "SELECT payment_id, amount_minor, revision FROM payments ORDER BY payment_id";
        rows(&self.file, query, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    async fn recorded(&self) -> Vec<(String, String, Vec<u8>)> {
        let query = "SELECT event_id, reason, payload FROM recorded_events ORDER BY event_id";
        rows(&self.file, query, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    async fn texts(&self, query: &str) -> Vec<String> {
        rows(&self.file, query, |row| row.get(0))
    }

    async fn execute(&self, statements: &str) -> Result<(), String> {
        self.file.client().execute_batch(statements).map_err(|error| error.to_string())
    }

    async fn tamper(&self, statements: &str) {
        let loosen = "PRAGMA ignore_check_constraints = ON; \
             DROP TRIGGER ledger_entries_are_not_changed; \
             DROP TRIGGER ledger_entries_are_not_removed; \
             CREATE TABLE loose AS SELECT * FROM processed_events; \
             DROP TABLE processed_events; \
             ALTER TABLE loose RENAME TO processed_events";
        let client = self.file.client();
        client.execute_batch(loosen).unwrap();
        client.execute_batch(statements).unwrap();
    }

    async fn open_transactions(&self) -> usize {
        // Whoever writes has the only lock there is.
        let free = self.file.client().execute_batch("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK");
        usize::from(free.is_err())
    }
}

fn rows<T>(
    file: &TestFile,
    query: &str,
    row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let client = file.client();
    let mut statement = client.prepare(query).unwrap();
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

fn consumer() -> ConsumerName {
    named(CONSUMER)
}

fn named(consumer: &str) -> ConsumerName {
    ConsumerName::parse(consumer).unwrap()
}
