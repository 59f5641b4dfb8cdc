//! The right to relay to one destination.

use application::ports::outbox::{OutboxBatch, OutboxEntry, OutboxError, OutboxLease, Settled};
use async_trait::async_trait;
use diesel::{QueryResult, SqliteConnection};

use super::keeping;
use super::rows::{Due, Fresh};
use super::statements::{self, Target};
use crate::outbound::outbox_settlement::{Settlement, WAITING_MAX};
use crate::outbound::sqlite::classify::classify;
use crate::outbound::sqlite::store::SqliteStore;

/// A lease of one term. There is one writer, so what is committed later has a higher place, and the position
/// alone says how far the destination has come.
pub(super) struct SqliteLease {
    store: SqliteStore,
    target: Target,
    lease_ms: i64,
    term: i64,
    position: i64,
    /// The position once the last batch is settled.
    after_batch: i64,
}

/// What was found for a batch.
struct Found {
    entries: Vec<OutboxEntry>,
    more: bool,
    position: i64,
}

impl SqliteLease {
    pub(super) const fn new(
        store: SqliteStore,
        target: Target,
        lease_ms: i64,
        term: i64,
        position: i64,
    ) -> Self {
        Self { store, target, lease_ms, term, position, after_batch: position }
    }

    /// Runs `statements` in a transaction of their own, which is committed when they say that the term is
    /// still the lease's.
    async fn write<F>(&self, statements: F) -> Result<(), OutboxError>
    where
        F: FnOnce(&mut SqliteConnection) -> QueryResult<bool> + Send + 'static,
    {
        let turn = self.store.writer.turn().await?;
        let is_own = turn
            .run(move |seat| {
                let is_own = statements(seat.transaction()?).map_err(classify)?;
                if is_own {
                    seat.commit()?;
                }
                Ok(is_own)
            })
            .await?;
        if is_own { Ok(()) } else { Err(OutboxError::LeaseLost) }
    }
}

/// What waits and is due, and, while there is room for more to wait, what is new.
fn find(connection: &mut SqliteConnection, target: &Target, position: i64, limit: i64) -> QueryResult<Found> {
    let due = statements::due(connection, target, limit)?;
    let mut more = i64::try_from(due.len()).is_ok_and(|count| count >= limit);
    let mut entries: Vec<OutboxEntry> = due.into_iter().map(Due::into_entry).collect();
    let mut position = position;
    if statements::waiting(connection, target, WAITING_MAX)? + limit <= WAITING_MAX {
        let fresh = statements::fresh(connection, target, position, limit)?;
        more |= i64::try_from(fresh.len()).is_ok_and(|count| count >= limit);
        position = fresh.last().map_or(position, Fresh::seq);
        entries.extend(fresh.into_iter().filter_map(Fresh::into_entry));
    }
    Ok(Found { entries, more, position })
}

#[async_trait]
impl OutboxLease for SqliteLease {
    async fn next(&mut self, limit: usize) -> Result<OutboxBatch, OutboxError> {
        let limit = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
        let (target, position) = (self.target.clone(), self.position);
        let reading = self
            .store
            .readers
            .read(move |connection| find(connection, &target, position, limit).map_err(classify));
        let Found { entries, more, position } = reading.await?;
        self.after_batch = position;
        if entries.is_empty() {
            // There is nothing to settle, so nobody would move it.
            self.position = position;
        }
        Ok(OutboxBatch { entries, more })
    }

    async fn settle(&mut self, settled: Vec<Settled>) -> Result<(), OutboxError> {
        let (target, term, lease_ms, position) =
            (self.target.clone(), self.term, self.lease_ms, self.after_batch);
        self.write(move |connection| {
            if !statements::move_position(connection, &target, term, lease_ms, position)? {
                return Ok(false);
            }
            let settlement = Settlement::of(&settled);
            if !settlement.is_simple() {
                keeping::keep(connection, &target, &settlement)?;
            }
            Ok(true)
        })
        .await?;
        self.position = self.after_batch;
        Ok(())
    }

    async fn renew(&mut self) -> Result<(), OutboxError> {
        // With what was passed over meanwhile, for which there was nothing to settle.
        let (target, term, lease_ms, position) =
            (self.target.clone(), self.term, self.lease_ms, self.position);
        self.write(move |connection| statements::move_position(connection, &target, term, lease_ms, position))
            .await
    }

    async fn release(self: Box<Self>) -> Result<(), OutboxError> {
        let (target, term) = (self.target.clone(), self.term);
        self.write(move |connection| statements::release(connection, &target, term)).await
    }
}
