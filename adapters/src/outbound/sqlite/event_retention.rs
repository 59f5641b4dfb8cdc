//! Removes events that are old enough.

use std::time::Duration;

use application::ports::event_retention::EventRetention;
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::sql_types::{BigInt, Text};
use diesel::{QueryResult, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use domain::ConsumerName;

use super::classify::classify;
use super::store::SqliteStore;
use crate::outbound::outbox_time::millis;
use crate::outbound::purged::UNIT_OF_WORK_MAX;

/// The events in a SQLite store.
pub struct SqliteEventRetention {
    store: SqliteStore,
    consumer: ConsumerName,
}

impl SqliteEventRetention {
    /// Removes events of `consumer`.
    pub const fn new(store: SqliteStore, consumer: ConsumerName) -> Self {
        Self { store, consumer }
    }
}

#[async_trait]
impl EventRetention for SqliteEventRetention {
    async fn purge(&self, age: Duration, limit: u32) -> Result<u64, StoreError> {
        let consumer = self.consumer.clone();
        let turn = self.store.writer.turn().await?;
        turn.run(move |seat| {
            let removed = remove(seat.transaction()?, consumer.as_str(), age, limit).map_err(classify)?;
            seat.commit()?;
            Ok(removed)
        })
        .await
    }
}

#[derive(QueryableByName)]
struct Now {
    #[diesel(sql_type = BigInt)]
    now_us: i64,
}

#[derive(QueryableByName)]
struct Removed {
    #[diesel(sql_type = BigInt)]
    outcome: i64,
}

/// Removes the oldest events, their bytes first, and notes it. Both statements mean the same rows: those before
/// one moment, in the order of the index, in one transaction. A fact is stored later than its event, so it may
/// miss its event for a while longer.
fn remove(connection: &mut SqliteConnection, consumer: &str, age: Duration, limit: u32) -> QueryResult<u64> {
    let now: Now = sql_query("SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER) AS now_us")
        .get_result(connection)?;
    let before = now.now_us - millis(age) * 1000;
    sql_query(
        "DELETE FROM recorded_events WHERE (event_id, source, consumer) IN \
           (SELECT event_id, source, consumer FROM processed_events \
            WHERE consumer = ?1 AND processed_at < ?2 \
            ORDER BY processed_at, event_id, source LIMIT ?3)",
    )
    .bind::<Text, _>(consumer)
    .bind::<BigInt, _>(before)
    .bind::<BigInt, _>(i64::from(limit))
    .execute(connection)?;
    let removed: Vec<Removed> = sql_query(
        "DELETE FROM processed_events WHERE (event_id, source, consumer) IN \
           (SELECT event_id, source, consumer FROM processed_events \
            WHERE consumer = ?1 AND processed_at < ?2 \
            ORDER BY processed_at, event_id, source LIMIT ?3) \
         RETURNING outcome",
    )
    .bind::<Text, _>(consumer)
    .bind::<BigInt, _>(before)
    .bind::<BigInt, _>(i64::from(limit))
    .load(connection)?;
    if removed.is_empty() {
        return Ok(0);
    }
    let missing_before = now.now_us - millis(age.saturating_sub(UNIT_OF_WORK_MAX)) * 1000;
    note(connection, consumer, missing_before, &removed)?;
    Ok(u64::try_from(removed.len()).unwrap_or(u64::MAX))
}

fn note(
    connection: &mut SqliteConnection,
    consumer: &str,
    before: i64,
    removed: &[Removed],
) -> QueryResult<usize> {
    let of = |outcome| {
        let count = removed.iter().filter(|removed| removed.outcome == outcome).count();
        i64::try_from(count).unwrap_or(i64::MAX)
    };
    sql_query(
        "INSERT INTO purges (consumer, purged, before, applied, recorded) \
         VALUES (?1, 'processed_events', ?2, ?3, ?4) \
         ON CONFLICT (consumer, purged) DO UPDATE SET before = max(before, excluded.before), \
           applied = applied + excluded.applied, recorded = recorded + excluded.recorded",
    )
    .bind::<Text, _>(consumer)
    .bind::<BigInt, _>(before)
    .bind::<BigInt, _>(of(1))
    .bind::<BigInt, _>(of(2))
    .execute(connection)
}
