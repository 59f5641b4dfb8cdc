//! The outbox: who relays to which destination, and how far each has come.

use std::time::Duration;

use application::ports::outbox::{DestinationDepth, LeaseClaim, Outbox, OutboxLease, Start};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use domain::ConsumerName;

use super::pool::PostgresPool;
use crate::outbound::outbox_time::{millis, since_millis};
use cursor::Cursor;
use lease::PostgresLease;
use statements::{Depths, NameDestination, NotePurge, RemoveMessages, TakeLease};

mod cursor;
mod lease;
mod statements;

/// The outbox of a PostgreSQL store.
pub struct PostgresOutbox {
    pool: PostgresPool,
    consumer: ConsumerName,
}

impl PostgresOutbox {
    /// Hands out what events had done that were processed as `consumer`.
    pub const fn new(pool: PostgresPool, consumer: ConsumerName) -> Self {
        Self { pool, consumer }
    }

    async fn take_lease(&self, claim: &LeaseClaim) -> Result<Option<PostgresLease>, StoreError> {
        let mut session = self.pool.session().await?;
        let take = TakeLease {
            owner: &claim.owner,
            lease_ms: millis(claim.lease),
            consumer: self.consumer.as_str(),
            destination: &claim.destination,
            same_owner: &claim.owner,
        };
        let mut taken: Vec<(i64, i64, String)> = session.rows(take).await?;
        session.release();
        let Some((term, position, gaps)) = taken.pop() else {
            return Ok(None);
        };
        let cursor = Cursor::from_stored(position, &gaps)?;
        Ok(Some(PostgresLease::new(self.pool.clone(), self.consumer.clone(), claim, term, cursor)))
    }

    /// Whether the destination was not there.
    async fn name(&self, claim: &LeaseClaim) -> Result<bool, StoreError> {
        let mut session = self.pool.session().await?;
        let name = NameDestination {
            consumer: self.consumer.as_str(),
            destination: &claim.destination,
            newest: claim.start == Start::Newest,
        };
        let named = session.change(name).await?;
        session.release();
        Ok(named > 0)
    }
}

#[async_trait]
impl Outbox for PostgresOutbox {
    async fn lease(&self, claim: &LeaseClaim) -> Result<Option<Box<dyn OutboxLease>>, StoreError> {
        let mut lease = self.take_lease(claim).await?;
        if lease.is_none() && self.name(claim).await? {
            lease = self.take_lease(claim).await?;
        }
        Ok(lease.map(|lease| Box::new(lease) as Box<dyn OutboxLease>))
    }

    async fn depths(&self) -> Result<Vec<DestinationDepth>, StoreError> {
        let mut session = self.pool.session().await?;
        let found: Vec<(String, i64, i64, i64, i64)> =
            session.rows(Depths { consumer: self.consumer.as_str() }).await?;
        session.release();
        let depth = |(destination, behind, oldest_ms, waiting, failed): (String, i64, i64, i64, i64)| {
            DestinationDepth {
                destination,
                behind: behind.unsigned_abs(),
                oldest_age: since_millis(oldest_ms),
                waiting: waiting.unsigned_abs(),
                failed: failed.unsigned_abs(),
            }
        };
        Ok(found.into_iter().map(depth).collect())
    }

    async fn purge(&self, age: Duration, limit: u32) -> Result<u64, StoreError> {
        let (consumer, age_ms) = (self.consumer.as_str(), millis(age));
        let mut session = self.pool.session().await?;
        session.begin().await?;
        let remove = RemoveMessages {
            consumer,
            destinations_of: consumer,
            unused_ms: age_ms,
            limit: i64::from(limit),
            age_ms,
        };
        let removed = session.change(remove).await?;
        if removed > 0 {
            session.change(NotePurge { consumer, age_ms }).await?;
        }
        session.commit().await?;
        Ok(u64::try_from(removed).unwrap_or(u64::MAX))
    }
}
