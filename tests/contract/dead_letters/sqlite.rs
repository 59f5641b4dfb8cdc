//! SQLite.

use adapters::outbound::sqlite::SqliteDeadLetters;
use async_trait::async_trait;
use domain::ConsumerName;
use harness::sqlite::TestFile;

use super::dead_letters_contract;
use super::fixture::{LettersFixture, Store};

dead_letters_contract!(contract, crate::dead_letters::sqlite::SqliteFixture);

/// A file of its own.
pub struct SqliteFixture {
    file: TestFile,
}

#[async_trait]
impl LettersFixture for SqliteFixture {
    async fn create() -> Self {
        Self { file: TestFile::create().await }
    }

    fn store_of(&self, consumer: &str) -> Store {
        let consumer = ConsumerName::parse(consumer).unwrap();
        Store::of(SqliteDeadLetters::new(self.file.store(), consumer))
    }

    async fn refuses(&self, statement: &str) -> bool {
        self.file.client().execute_batch(statement).is_err()
    }
}
