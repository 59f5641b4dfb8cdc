//! Any event, and the path that it took: a connection for [`event_sql`].

use application::ports::event_reader::{EventCursor, EventFilter, EventPage, EventPath, EventReader};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use domain::{ConsumerName, EventKey};

use super::blocking::{done, read};
use super::store::SqliteStore;
use crate::outbound::event_sql;

/// One writer leaves no places that may still come.
const GAPS: &str = "'[]'";

/// The events in a SQLite store. Reads beside whoever writes.
pub struct SqliteEventReader {
    store: SqliteStore,
    consumer: ConsumerName,
}

impl SqliteEventReader {
    /// Finds the events of `consumer`.
    pub const fn new(store: SqliteStore, consumer: ConsumerName) -> Self {
        Self { store, consumer }
    }
}

#[async_trait]
impl EventReader for SqliteEventReader {
    async fn find(
        &self,
        filter: &EventFilter,
        after: Option<EventCursor>,
        limit: u32,
    ) -> Result<EventPage, StoreError> {
        let (consumer, filter) = (self.consumer.clone(), filter.clone());
        read(&self.store, move |connection| {
            done(event_sql::find(connection, &consumer, &filter, after.as_ref(), limit))
        })
        .await
    }

    async fn path(&self, key: &EventKey) -> Result<Option<EventPath>, StoreError> {
        let (consumer, key) = (self.consumer.clone(), key.clone());
        read(&self.store, move |connection| done(event_sql::path(connection, &consumer, &key, GAPS))).await
    }
}
