//! PostgreSQL.

use adapters::outbound::postgres::PostgresDeadLetters;
use async_trait::async_trait;
use domain::ConsumerName;
use harness::postgres::TestDatabase;

use super::dead_letters_contract;
use super::fixture::{LettersFixture, Store};

dead_letters_contract!(contract, crate::dead_letters::postgres::PostgresFixture);

/// A database of its own.
pub struct PostgresFixture {
    database: TestDatabase,
}

#[async_trait]
impl LettersFixture for PostgresFixture {
    async fn create() -> Self {
        Self { database: TestDatabase::create().await }
    }

    fn store_of(&self, consumer: &str) -> Store {
        let consumer = ConsumerName::parse(consumer).unwrap();
        Store::of(PostgresDeadLetters::new(self.database.pool(2), consumer))
    }

    async fn refuses(&self, statement: &str) -> bool {
        self.database.client().await.batch_execute(statement).await.is_err()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_record_of_operators_cannot_be_emptied() {
    let fixture = PostgresFixture::create().await;
    assert!(fixture.refuses("TRUNCATE operator_actions").await);
}
