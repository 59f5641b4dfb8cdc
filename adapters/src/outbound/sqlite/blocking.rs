//! A connection for statements that are written for both databases: one that blocks its thread.

use std::future::{Future, ready};

use application::ports::unit_of_work::StoreError;
use diesel::connection::SimpleConnection;
use diesel::{RunQueryDsl, SqliteConnection};
use futures::FutureExt;

use super::classify::classify;
use super::store::SqliteStore;
use crate::outbound::dead_letter_sql::{Composed, Row, Statements};

/// A connection on a thread that may block: each statement is done before its future is there.
pub(super) struct Blocking<'a>(&'a mut SqliteConnection);

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

/// Runs `work` in a transaction of the connection that writes.
pub(super) async fn write<T, F>(store: &SqliteStore, work: F) -> Result<T, StoreError>
where
    T: Send + 'static,
    F: FnOnce(&mut Blocking<'_>) -> Result<T, StoreError> + Send + 'static,
{
    let turn = store.writer.turn().await?;
    turn.run(|seat| {
        let done = work(&mut Blocking(seat.transaction()?))?;
        seat.commit()?;
        Ok(done)
    })
    .await
}

/// Runs `work` on a connection that reads, in one state of the file.
pub(super) async fn read<T, F>(store: &SqliteStore, work: F) -> Result<T, StoreError>
where
    T: Send + 'static,
    F: FnOnce(&mut Blocking<'_>) -> Result<T, StoreError> + Send + 'static,
{
    store
        .readers
        .read(|connection| {
            connection.batch_execute("BEGIN").map_err(classify)?;
            let found = work(&mut Blocking(connection))?;
            connection.batch_execute("COMMIT").map_err(classify)?;
            Ok(found)
        })
        .await
}

/// What statements that never wait come to.
pub(super) fn done<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    work.now_or_never()
        .unwrap_or_else(|| Err(StoreError::Transient("a blocking statement has waited".into())))
}
