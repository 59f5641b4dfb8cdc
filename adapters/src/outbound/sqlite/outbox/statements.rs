//! What the outbox does to the tables. Blocks its thread. All times are SQLite's.

use diesel::sql_types::{BigInt, Bool, Text};
use diesel::{QueryResult, RunQueryDsl, SqliteConnection, sql_query};

use super::rows::{Depth, Due, Fresh, Number, Taken};

/// Whose destination.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) consumer: String,
    pub(super) destination: String,
}

/// Stores a destination that is not there, and takes its lease where it is over, or the owner's.
pub(super) fn take_lease(
    connection: &mut SqliteConnection,
    target: &Target,
    owner: &str,
    lease_ms: i64,
    newest: bool,
) -> QueryResult<Option<Taken>> {
    sql_query(
        "INSERT INTO outbox_destinations (consumer, destination, position) \
         VALUES (?1, ?2, CASE WHEN ?3 THEN coalesce((SELECT max(seq) FROM outbox), 0) ELSE 0 END) \
         ON CONFLICT (consumer, destination) DO NOTHING",
    )
    .bind::<Text, _>(&target.consumer)
    .bind::<Text, _>(&target.destination)
    .bind::<Bool, _>(newest)
    .execute(connection)?;
    let mut taken: Vec<Taken> = sql_query(
        "UPDATE outbox_destinations \
         SET owner = ?3, term = term + 1, \
           relayed_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER), \
           lease_until = CAST(unixepoch('subsec') * 1000000 AS INTEGER) + ?4 * 1000 \
         WHERE consumer = ?1 AND destination = ?2 AND (lease_until IS NULL OR owner = ?3 \
           OR lease_until <= CAST(unixepoch('subsec') * 1000000 AS INTEGER)) \
         RETURNING term, position",
    )
    .bind::<Text, _>(&target.consumer)
    .bind::<Text, _>(&target.destination)
    .bind::<Text, _>(owner)
    .bind::<BigInt, _>(lease_ms)
    .load(connection)?;
    Ok(taken.pop())
}

/// Whether another relay has the lease: asked by reading, so that whoever stands by keeps nobody from writing.
pub(super) fn is_taken(connection: &mut SqliteConnection, target: &Target, owner: &str) -> QueryResult<bool> {
    let found: Number = sql_query(
        "SELECT count(*) AS number FROM outbox_destinations \
         WHERE consumer = ?1 AND destination = ?2 AND owner <> ?3 \
           AND lease_until > CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
    )
    .bind::<Text, _>(&target.consumer)
    .bind::<Text, _>(&target.destination)
    .bind::<Text, _>(owner)
    .get_result(connection)?;
    Ok(found.number > 0)
}

/// Stores the position, and has the lease begin anew; false when the term is over.
pub(super) fn move_position(
    connection: &mut SqliteConnection,
    target: &Target,
    term: i64,
    lease_ms: i64,
    position: i64,
) -> QueryResult<bool> {
    let changed = sql_query(
        "UPDATE outbox_destinations \
         SET position = ?5, \
           relayed_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER), \
           lease_until = CAST(unixepoch('subsec') * 1000000 AS INTEGER) + ?4 * 1000 \
         WHERE consumer = ?1 AND destination = ?2 AND term = ?3",
    )
    .bind::<Text, _>(&target.consumer)
    .bind::<Text, _>(&target.destination)
    .bind::<BigInt, _>(term)
    .bind::<BigInt, _>(lease_ms)
    .bind::<BigInt, _>(position)
    .execute(connection)?;
    Ok(changed == 1)
}

/// Gives the lease back; false when the term is over.
pub(super) fn release(connection: &mut SqliteConnection, target: &Target, term: i64) -> QueryResult<bool> {
    let changed = sql_query(
        "UPDATE outbox_destinations SET lease_until = NULL \
         WHERE consumer = ?1 AND destination = ?2 AND term = ?3",
    )
    .bind::<Text, _>(&target.consumer)
    .bind::<Text, _>(&target.destination)
    .bind::<BigInt, _>(term)
    .execute(connection)?;
    Ok(changed == 1)
}

/// The messages after a position, each with whether it is this consumer's and whether an earlier message of
/// its payment waits.
pub(super) fn fresh(
    connection: &mut SqliteConnection,
    target: &Target,
    position: i64,
    limit: i64,
) -> QueryResult<Vec<Fresh>> {
    sql_query(
        "SELECT o.seq, o.id, o.kind, o.source, o.payment_id, o.account, o.fact, o.amount_minor, o.currency, \
           o.occurred_at, o.consumer = ?1 AS is_ours, \
           EXISTS (SELECT 1 FROM outbox_retries AS r WHERE r.consumer = o.consumer AND r.destination = ?2 \
             AND r.source = o.source AND r.payment_id = o.payment_id AND r.state = 'waiting') AS is_behind \
         FROM outbox AS o WHERE o.seq > ?3 ORDER BY o.seq LIMIT ?4",
    )
    .bind::<Text, _>(&target.consumer)
    .bind::<Text, _>(&target.destination)
    .bind::<BigInt, _>(position)
    .bind::<BigInt, _>(limit)
    .load(connection)
}

/// The messages of payments of which one is due, each with its failed attempts and the milliseconds since the
/// first of them.
pub(super) fn due(connection: &mut SqliteConnection, target: &Target, limit: i64) -> QueryResult<Vec<Due>> {
    sql_query(
        "WITH due AS (SELECT DISTINCT source, payment_id FROM \
           (SELECT source, payment_id FROM outbox_retries \
            WHERE consumer = ?1 AND destination = ?2 AND state = 'waiting' \
              AND next_at <= CAST(unixepoch('subsec') * 1000000 AS INTEGER) \
            ORDER BY next_at LIMIT ?3)) \
         SELECT o.seq, o.id, o.kind, o.source, o.payment_id, o.account, o.fact, o.amount_minor, o.currency, \
           o.occurred_at, r.attempts, \
           coalesce((CAST(unixepoch('subsec') * 1000000 AS INTEGER) - r.first_tried_at) / 1000, 0) AS tried_ms \
         FROM due CROSS JOIN outbox_retries AS r CROSS JOIN outbox AS o \
         WHERE r.consumer = ?1 AND r.destination = ?2 AND r.state = 'waiting' \
           AND r.source = due.source AND r.payment_id = due.payment_id AND o.seq = r.seq \
         ORDER BY o.seq LIMIT ?3",
    )
    .bind::<Text, _>(&target.consumer)
    .bind::<Text, _>(&target.destination)
    .bind::<BigInt, _>(limit)
    .load(connection)
}

/// How many messages wait, counted up to a limit.
pub(super) fn waiting(connection: &mut SqliteConnection, target: &Target, limit: i64) -> QueryResult<i64> {
    let found: Number = sql_query(
        "SELECT count(*) AS number FROM (SELECT 1 FROM outbox_retries \
         WHERE consumer = ?1 AND destination = ?2 AND state = 'waiting' LIMIT ?3)",
    )
    .bind::<Text, _>(&target.consumer)
    .bind::<Text, _>(&target.destination)
    .bind::<BigInt, _>(limit)
    .get_result(connection)?;
    Ok(found.number)
}

/// How far the destinations have come.
pub(super) fn depths(connection: &mut SqliteConnection, consumer: &str) -> QueryResult<Vec<Depth>> {
    sql_query(
        "SELECT d.destination, \
           max(coalesce((SELECT max(seq) FROM outbox), 0) - d.position, 0) AS behind, \
           coalesce((SELECT (CAST(unixepoch('subsec') * 1000000 AS INTEGER) - o.created_at) / 1000 \
             FROM outbox AS o WHERE o.consumer = d.consumer AND o.seq > d.position \
             ORDER BY o.seq LIMIT 1), 0) AS oldest_ms, \
           (SELECT count(*) FROM outbox_retries AS r WHERE r.consumer = d.consumer \
             AND r.destination = d.destination AND r.state = 'waiting') AS waiting, \
           (SELECT count(*) FROM outbox_retries AS r WHERE r.consumer = d.consumer \
             AND r.destination = d.destination AND r.state = 'failed') AS failed \
         FROM outbox_destinations AS d WHERE d.consumer = ?1 ORDER BY d.destination",
    )
    .bind::<Text, _>(consumer)
    .load(connection)
}

/// Removes the oldest messages, where they are older than an age and everybody has them, and notes it. Only as
/// many rows are looked at as may be removed, since there is no index over their age.
pub(super) fn purge(
    connection: &mut SqliteConnection,
    consumer: &str,
    age_ms: i64,
    limit: i64,
) -> QueryResult<usize> {
    let removed = sql_query(
        "DELETE FROM outbox WHERE seq IN (SELECT seq FROM \
           (SELECT o.seq, o.created_at FROM outbox AS o \
            WHERE o.consumer = ?1 \
              AND o.seq < (SELECT max(seq) FROM outbox) \
              AND o.seq <= coalesce((SELECT min(d.position) FROM outbox_destinations AS d \
                WHERE d.consumer = ?1 \
                  AND d.relayed_at > CAST(unixepoch('subsec') * 1000000 AS INTEGER) - ?2 * 1000), \
                9223372036854775807) \
              AND NOT EXISTS (SELECT 1 FROM outbox_retries AS r \
                WHERE r.consumer = o.consumer AND r.seq = o.seq) \
            ORDER BY o.seq LIMIT ?3) \
         WHERE created_at < CAST(unixepoch('subsec') * 1000000 AS INTEGER) - ?2 * 1000)",
    )
    .bind::<Text, _>(consumer)
    .bind::<BigInt, _>(age_ms)
    .bind::<BigInt, _>(limit)
    .execute(connection)?;
    if removed > 0 {
        sql_query(
            "INSERT INTO purges (consumer, purged, before) \
             VALUES (?1, 'outbox', CAST(unixepoch('subsec') * 1000000 AS INTEGER) - ?2 * 1000) \
             ON CONFLICT (consumer, purged) DO UPDATE SET before = max(before, excluded.before)",
        )
        .bind::<Text, _>(consumer)
        .bind::<BigInt, _>(age_ms)
        .execute(connection)?;
    }
    Ok(removed)
}
