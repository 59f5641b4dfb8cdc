//! Dead letters, replay jobs and operator actions in SQLite: connections and transactions for
//! [`dead_letter_sql`](crate::outbound::dead_letter_sql).

use application::ports::unit_of_work::StoreError;
use domain::ConsumerName;

use super::blocking::{self, Blocking, done};
use super::store::SqliteStore;

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
        blocking::write(&self.store, work).await
    }

    /// Runs `work` on a connection that reads, in one state of the file.
    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Blocking<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        blocking::read(&self.store, work).await
    }
}
