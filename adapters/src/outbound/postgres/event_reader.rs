//! Any event, and the path that it took: a session for [`event_sql`].

use std::time::Duration;

use application::ports::event_reader::{EventCursor, EventFilter, EventPage, EventPath, EventReader};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use domain::{ConsumerName, EventKey};

use super::pool::PostgresPool;
use super::session::Session;
use crate::outbound::event_sql;

/// How long one statement may take. A source of which nothing came for long is looked for through all that came
/// since from the others.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a destination keeps the places that may still come.
const GAPS: &str = "d.gaps";

/// The events in a PostgreSQL store.
pub struct PostgresEventReader {
    pool: PostgresPool,
    consumer: ConsumerName,
}

impl PostgresEventReader {
    /// Finds the events of `consumer`.
    pub const fn new(pool: PostgresPool, consumer: ConsumerName) -> Self {
        Self { pool, consumer }
    }

    async fn snapshot(&self) -> Result<Session, StoreError> {
        let mut session = self.pool.session().await?;
        session.begin_snapshot().await?;
        session.run(&format!("SET LOCAL statement_timeout = {}", STATEMENT_TIMEOUT.as_millis())).await?;
        session.wait_for_answers(STATEMENT_TIMEOUT + Duration::from_secs(1));
        Ok(session)
    }
}

#[async_trait]
impl EventReader for PostgresEventReader {
    async fn find(
        &self,
        filter: &EventFilter,
        after: Option<EventCursor>,
        limit: u32,
    ) -> Result<EventPage, StoreError> {
        let mut session = self.snapshot().await?;
        let page = event_sql::find(&mut session, &self.consumer, filter, after.as_ref(), limit).await?;
        session.commit().await?;
        Ok(page)
    }

    async fn path(&self, key: &EventKey) -> Result<Option<EventPath>, StoreError> {
        let mut session = self.snapshot().await?;
        let path = event_sql::path(&mut session, &self.consumer, key, GAPS).await?;
        session.commit().await?;
        Ok(path)
    }
}
