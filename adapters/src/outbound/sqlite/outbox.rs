//! The outbox: who relays to which destination, and how far each has come.

use std::time::Duration;

use application::ports::outbox::{DestinationDepth, LeaseClaim, Outbox, OutboxLease, Start};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use domain::ConsumerName;

use super::classify::classify;
use super::store::SqliteStore;
use crate::outbound::outbox_time::{millis, since_millis};
use lease::SqliteLease;
use rows::Depth;
use statements::Target;

mod keeping;
mod lease;
mod rows;
mod statements;

/// The outbox of a SQLite store.
pub struct SqliteOutbox {
    store: SqliteStore,
    consumer: ConsumerName,
}

impl SqliteOutbox {
    /// Hands out what events had done that were processed as `consumer`.
    pub const fn new(store: SqliteStore, consumer: ConsumerName) -> Self {
        Self { store, consumer }
    }
}

#[async_trait]
impl Outbox for SqliteOutbox {
    async fn lease(&self, claim: &LeaseClaim) -> Result<Option<Box<dyn OutboxLease>>, StoreError> {
        let target =
            Target { consumer: self.consumer.as_str().to_owned(), destination: claim.destination.clone() };
        let (asked, owner) = (target.clone(), claim.owner.clone());
        let is_taken = self
            .store
            .readers
            .read(move |connection| statements::is_taken(connection, &asked, &owner).map_err(classify));
        if is_taken.await? {
            return Ok(None);
        }
        let (asked, owner, lease_ms) = (target.clone(), claim.owner.clone(), millis(claim.lease));
        let newest = claim.start == Start::Newest;
        let turn = self.store.writer.turn().await?;
        let taken = turn
            .run(move |seat| {
                let connection = seat.transaction()?;
                let taken =
                    statements::take_lease(connection, &asked, &owner, lease_ms, newest).map_err(classify)?;
                seat.commit()?;
                Ok(taken)
            })
            .await?;
        Ok(taken.map(|taken| {
            let lease = SqliteLease::new(self.store.clone(), target, lease_ms, taken.term, taken.position);
            Box::new(lease) as Box<dyn OutboxLease>
        }))
    }

    async fn depths(&self) -> Result<Vec<DestinationDepth>, StoreError> {
        let consumer = self.consumer.clone();
        let found = self
            .store
            .readers
            .read(move |connection| statements::depths(connection, consumer.as_str()).map_err(classify));
        let depth = |depth: Depth| DestinationDepth {
            destination: depth.destination,
            behind: depth.behind.unsigned_abs(),
            oldest_age: since_millis(depth.oldest_ms),
            waiting: depth.waiting.unsigned_abs(),
            failed: depth.failed.unsigned_abs(),
        };
        Ok(found.await?.into_iter().map(depth).collect())
    }

    async fn purge(&self, age: Duration, limit: u32) -> Result<u64, StoreError> {
        let (consumer, age_ms) = (self.consumer.clone(), millis(age));
        let turn = self.store.writer.turn().await?;
        let removed = turn
            .run(move |seat| {
                let connection = seat.transaction()?;
                let removed = statements::purge(connection, consumer.as_str(), age_ms, i64::from(limit))
                    .map_err(classify)?;
                seat.commit()?;
                Ok(removed)
            })
            .await?;
        Ok(u64::try_from(removed).unwrap_or(u64::MAX))
    }
}
