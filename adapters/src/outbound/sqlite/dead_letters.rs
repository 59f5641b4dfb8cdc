//! Dead letters, replay jobs and operator actions in SQLite: connections and transactions for
//! [`dead_letter_sql`](crate::outbound::dead_letter_sql).

use std::future::{Future, ready};

use application::ports::unit_of_work::StoreError;
use diesel::connection::SimpleConnection;
use diesel::{RunQueryDsl, SqliteConnection};
use domain::ConsumerName;
use futures::FutureExt;

use super::classify::classify;
use super::store::SqliteStore;
use crate::outbound::dead_letter_sql::{Composed, Row, Statements};

mod actions;
mod alerts;
mod jobs;
mod letters;

/// The dead letters of one consumer.
pub struct SqliteDeadLetters {
    store: SqliteStore,
    consumer: ConsumerName,
}

impl SqliteDeadLetters {
    /// Keeps the letters of `consumer`.
    pub const fn new(store: SqliteStore, consumer: ConsumerName) -> Self {
        Self { store, consumer }
    }

    /// Runs `work` in a transaction of the connection that writes.
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Blocking<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let turn = self.store.writer.turn().await?;
        turn.run(|seat| {
            let done = work(&mut Blocking(seat.transaction()?))?;
            seat.commit()?;
            Ok(done)
        })
        .await
    }

    /// Runs `work` on a connection that reads, in one state of the file.
    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Blocking<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.store
            .readers
            .read(|connection| {
                connection.batch_execute("BEGIN").map_err(classify)?;
                let found = work(&mut Blocking(connection))?;
                connection.batch_execute("COMMIT").map_err(classify)?;
                Ok(found)
            })
            .await
    }
}

/// A connection on a thread that may block: each statement is done before its future is there.
struct Blocking<'a>(&'a mut SqliteConnection);

impl Statements for Blocking<'_> {
    fn rows<T: Row>(
        &mut self,
        statement: Composed,
    ) -> impl Future<Output = Result<Vec<T>, StoreError>> + Send {
        ready(statement.load(self.0).map_err(classify))
    }

    fn change(&mut self, statement: Composed) -> impl Future<Output = Result<usize, StoreError>> + Send {
        ready(statement.execute(self.0).map_err(classify))
    }
}

/// What statements that never wait come to.
fn done<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    work.now_or_never()
        .unwrap_or_else(|| Err(StoreError::Transient("a blocking statement has waited".into())))
}
