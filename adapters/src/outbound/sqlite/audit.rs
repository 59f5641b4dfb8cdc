//! Looks for broken invariants.

use application::ports::store_audit::{StoreAudit, StoreTotals, Violation};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{Connection, QueryResult, RunQueryDsl, SqliteConnection};
use domain::ConsumerName;

use super::classify::classify;
use super::store::SqliteStore;
use crate::outbound::invariants::accounting::{self, GivenUp};
use crate::outbound::invariants::{self, Broken};

/// The audit of a SQLite store. It reads one state and keeps nobody from writing.
pub struct SqliteAudit {
    store: SqliteStore,
    consumer: ConsumerName,
}

impl SqliteAudit {
    /// Looks at what the events of `consumer` have done.
    pub const fn new(store: SqliteStore, consumer: ConsumerName) -> Self {
        Self { store, consumer }
    }
}

#[async_trait]
impl StoreAudit for SqliteAudit {
    async fn violations(&self, limit: u32) -> Result<Vec<Violation>, StoreError> {
        let consumer = self.consumer.clone();
        self.store
            .readers
            .read(move |connection| {
                // In WAL mode, the first query of a transaction decides which state all of them read.
                connection.batch_execute("BEGIN").map_err(classify)?;
                let violations = violations(connection, consumer.as_str(), limit).map_err(classify)?;
                connection.batch_execute("COMMIT").map_err(classify)?;
                Ok(violations)
            })
            .await
    }

    async fn totals<'a>(&self, prefix: Option<&'a str>) -> Result<StoreTotals, StoreError> {
        let (consumer, prefix) = (self.consumer.clone(), prefix.map(str::to_owned));
        self.store
            .readers
            .read(move |connection| {
                let totals = connection.transaction(|all| totals(all, consumer.as_str(), prefix.as_deref()));
                totals.map_err(classify)
            })
            .await
    }
}

fn violations(connection: &mut SqliteConnection, consumer: &str, limit: u32) -> QueryResult<Vec<Violation>> {
    let mut violations = Vec::new();
    for invariant in invariants::all() {
        let broken: Vec<Broken> = diesel::sql_query(invariant.query)
            .bind::<Text, _>(consumer)
            .bind::<BigInt, _>(i64::from(limit))
            .load(connection)?;
        violations.extend(broken.into_iter().map(|broken| invariant.violation(broken)));
    }
    Ok(violations)
}

#[derive(diesel::QueryableByName)]
struct Counted {
    #[diesel(sql_type = BigInt)]
    applied: i64,
    #[diesel(sql_type = BigInt)]
    recorded: i64,
}

/// Counts events by outcome, and those that were removed because of their age, in one state of the file.
/// `substr` has no wild cards to escape; the comparison is for the index.
fn totals(
    connection: &mut SqliteConnection,
    consumer: &str,
    prefix: Option<&str>,
) -> QueryResult<StoreTotals> {
    let counted: Counted = diesel::sql_query(
        "WITH purged AS (SELECT applied, recorded FROM purges \
           WHERE consumer = ?1 AND purged = 'processed_events' AND ?2 IS NULL) \
         SELECT count(*) FILTER (WHERE outcome = 1) + coalesce((SELECT applied FROM purged), 0) AS applied, \
           count(*) FILTER (WHERE outcome = 2) + coalesce((SELECT recorded FROM purged), 0) AS recorded \
         FROM processed_events \
         WHERE consumer = ?1 AND event_id >= coalesce(?2, '') \
           AND substr(event_id, 1, length(coalesce(?2, ''))) = coalesce(?2, '')",
    )
    .bind::<Text, _>(consumer)
    .bind::<Nullable<Text>, _>(prefix)
    .get_result(connection)?;
    let given_up: GivenUp = diesel::sql_query(accounting::DEAD_LETTERS)
        .bind::<Text, _>(consumer)
        .bind::<Text, _>(prefix.unwrap_or_default())
        .get_result(connection)?;
    Ok(StoreTotals {
        applied: counted.applied.unsigned_abs(),
        recorded: counted.recorded.unsigned_abs(),
        dead_letters: given_up.dead_letters.unsigned_abs(),
    })
}
