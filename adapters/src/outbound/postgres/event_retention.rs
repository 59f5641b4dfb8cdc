//! Removes events that are old enough.

use std::time::Duration;

use application::ports::event_retention::EventRetention;
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::sql_types::{BigInt, Text};
use domain::ConsumerName;

use super::pool::PostgresPool;
use super::statement::statement;
use crate::outbound::outbox_time::millis;
use crate::outbound::purged::UNIT_OF_WORK_MAX;

statement! {
    /// Removes the oldest events, and notes it. What another purge has in hand is left to it. A fact is stored
    /// later than its event, so it may miss its event for a while longer.
    RemoveEvents<'a> -> (BigInt,) {
        "WITH old AS ( \
           SELECT event_id, source, consumer FROM processed_events \
           WHERE consumer = " consumer: &'a str => Text,
        " AND processed_at < now() - " age_ms: i64 => BigInt,
        " * interval '1 millisecond' \
           ORDER BY processed_at LIMIT " limit: i64 => BigInt,
        " FOR UPDATE SKIP LOCKED), \
         bytes AS (DELETE FROM recorded_events AS r USING old \
           WHERE r.event_id = old.event_id AND r.source = old.source AND r.consumer = old.consumer), \
         removed AS (DELETE FROM processed_events AS p USING old \
           WHERE p.event_id = old.event_id AND p.source = old.source AND p.consumer = old.consumer \
           RETURNING p.outcome) \
         INSERT INTO purges AS noted (consumer, purged, before, applied, recorded) \
         SELECT " noted_for: &'a str => Text,
        ", 'processed_events', now() - " before_ms: i64 => BigInt,
        " * interval '1 millisecond', count(*) FILTER (WHERE outcome = 1), count(*) FILTER (WHERE outcome = 2) \
         FROM removed HAVING count(*) > 0 \
         ON CONFLICT (consumer, purged) DO UPDATE \
         SET before = greatest(noted.before, excluded.before), \
           applied = noted.applied + excluded.applied, recorded = noted.recorded + excluded.recorded \
         RETURNING (SELECT count(*) FROM removed)"
    }
}

/// The events in a PostgreSQL store.
pub struct PostgresEventRetention {
    pool: PostgresPool,
    consumer: ConsumerName,
}

impl PostgresEventRetention {
    /// Removes events of `consumer`.
    pub const fn new(pool: PostgresPool, consumer: ConsumerName) -> Self {
        Self { pool, consumer }
    }
}

#[async_trait]
impl EventRetention for PostgresEventRetention {
    async fn purge(&self, age: Duration, limit: u32) -> Result<u64, StoreError> {
        let consumer = self.consumer.as_str();
        let mut session = self.pool.session().await?;
        session.begin().await?;
        let remove = RemoveEvents {
            consumer,
            age_ms: millis(age),
            limit: i64::from(limit),
            noted_for: consumer,
            before_ms: millis(age.saturating_sub(UNIT_OF_WORK_MAX)),
        };
        let removed: Vec<(i64,)> = session.rows(remove).await?;
        session.commit().await?;
        Ok(removed.first().map_or(0, |(count,)| count.unsigned_abs()))
    }
}
