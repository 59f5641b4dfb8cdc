//! SQLite: the contract, and what only a file can do.

mod crash;
mod failures;
mod file;
mod serial;

use std::sync::Arc;

use adapters::outbound::sqlite::SqliteUnitOfWork;
use application::ports::unit_of_work::UnitOfWork;
use async_trait::async_trait;
use domain::ConsumerName;
use harness::sqlite::TestFile;

use super::fixture::StoreFixture;
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

    fn unit_of_work(&self, _sessions: usize) -> Arc<dyn UnitOfWork> {
        // There is always one session that writes.
        Arc::new(SqliteUnitOfWork::new(self.file.store(), consumer()))
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

    async fn open_transactions(&self) -> usize {
        // Whoever writes has the only lock there is.
        let free = self.file.client().execute_batch("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK");
        usize::from(free.is_err())
    }

    async fn forbid_equal_amounts(&self) {
        let rule = "CREATE UNIQUE INDEX no_amount_twice ON payments (amount_minor)";
        self.file.client().execute_batch(rule).unwrap();
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
    ConsumerName::parse("payments").unwrap()
}
