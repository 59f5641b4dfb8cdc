//! SQLite.

use std::sync::Arc;
use std::time::Duration;

use adapters::outbound::sqlite::SqliteOutbox;
use application::ports::outbox::Outbox;
use async_trait::async_trait;
use domain::ConsumerName;
use harness::sqlite::TestFile;

use super::fixture::OutboxFixture;
use super::outbox_contract;

outbox_contract!(contract, crate::outbox::sqlite::SqliteFixture);

/// A file of its own.
pub struct SqliteFixture {
    file: TestFile,
}

#[async_trait]
impl OutboxFixture for SqliteFixture {
    async fn create() -> Self {
        Self { file: TestFile::create().await }
    }

    fn outbox_of(&self, consumer: &str) -> Arc<dyn Outbox> {
        Arc::new(SqliteOutbox::new(self.file.store(), ConsumerName::parse(consumer).unwrap()))
    }

    async fn run(&self, sql: &str) {
        self.file.client().execute_batch(sql).unwrap();
    }

    async fn texts(&self, query: &str) -> Vec<String> {
        let client = self.file.client();
        let mut statement = client.prepare(query).unwrap();
        let texts = statement.query_map([], |row| row.get(0)).unwrap();
        texts.map(Result::unwrap).collect()
    }

    fn ago(&self, time: Duration) -> String {
        format!("(CAST(unixepoch('subsec') * 1000000 AS INTEGER) - {})", time.as_micros())
    }
}
