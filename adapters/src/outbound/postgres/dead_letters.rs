//! Dead letters, replay jobs and operator actions in PostgreSQL: sessions and transactions for
//! [`dead_letter_sql`](crate::outbound::dead_letter_sql).

use std::time::Duration;

use application::ports::unit_of_work::StoreError;
use domain::ConsumerName;

use super::pool::PostgresPool;
use super::session::Session;
use crate::outbound::dead_letter_sql::{Composed, Row, Statements};

mod actions;
mod alerts;
mod jobs;
mod letters;

/// How long one statement may take: a job or a sum may be about very many letters.
const STATEMENT_TIMEOUT: Duration = Duration::from_mins(1);

/// The dead letters of one consumer.
pub struct PostgresDeadLetters {
    pool: PostgresPool,
    consumer: ConsumerName,
}

impl PostgresDeadLetters {
    /// Keeps the letters of `consumer`.
    pub const fn new(pool: PostgresPool, consumer: ConsumerName) -> Self {
        Self { pool, consumer }
    }

    /// A transaction. What is dropped without a commit is rolled back.
    async fn begin(&self) -> Result<Session, StoreError> {
        let mut session = self.pool.session().await?;
        session.begin().await?;
        give_time(&mut session).await?;
        Ok(session)
    }

    /// A transaction that reads one state of the whole database.
    async fn snapshot(&self) -> Result<Session, StoreError> {
        let mut session = self.pool.session().await?;
        session.begin_snapshot().await?;
        give_time(&mut session).await?;
        Ok(session)
    }
}

async fn give_time(session: &mut Session) -> Result<(), StoreError> {
    session.run(&format!("SET LOCAL statement_timeout = {}", STATEMENT_TIMEOUT.as_millis())).await?;
    session.wait_for_answers(STATEMENT_TIMEOUT + Duration::from_secs(1));
    Ok(())
}

impl Statements for Session {
    async fn rows<T: Row>(&mut self, statement: Composed) -> Result<Vec<T>, StoreError> {
        Self::rows(self, statement).await
    }

    async fn change(&mut self, statement: Composed) -> Result<usize, StoreError> {
        Self::change(self, statement).await
    }
}
