//! Looks for broken invariants.

use std::time::Duration;

use application::ports::store_audit::{StoreAudit, StoreTotals, Violation};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::sql_types::{BigInt, Text};
use domain::ConsumerName;

use super::pool::PostgresPool;
use super::session::Session;
use super::statement::statement;
use crate::outbound::invariants::accounting::{self, GivenUp};
use crate::outbound::invariants::{self, Broken};

/// How long one query of the audit may take: it reads whole tables.
const QUERY_TIMEOUT: Duration = Duration::from_mins(10);

/// The audit of a PostgreSQL store.
pub struct PostgresAudit {
    pool: PostgresPool,
    consumer: ConsumerName,
}

impl PostgresAudit {
    /// Looks at what the events of `consumer` have done.
    pub const fn new(pool: PostgresPool, consumer: ConsumerName) -> Self {
        Self { pool, consumer }
    }

    async fn snapshot(&self) -> Result<Session, StoreError> {
        let mut session = self.pool.session().await?;
        session.begin_snapshot().await?;
        session.run(&format!("SET LOCAL statement_timeout = {}", QUERY_TIMEOUT.as_millis())).await?;
        session.wait_for_answers(QUERY_TIMEOUT + Duration::from_secs(1));
        Ok(session)
    }
}

#[async_trait]
impl StoreAudit for PostgresAudit {
    async fn violations(&self, limit: u32) -> Result<Vec<Violation>, StoreError> {
        let mut session = self.snapshot().await?;
        let mut violations = Vec::new();
        for invariant in invariants::all() {
            let query = diesel::sql_query(invariant.query)
                .bind::<Text, _>(self.consumer.as_str())
                .bind::<BigInt, _>(i64::from(limit));
            let broken: Vec<Broken> = session.rows(query).await?;
            violations.extend(broken.into_iter().map(|broken| invariant.violation(broken)));
        }
        session.commit().await?;
        Ok(violations)
    }

    async fn totals<'a>(&self, prefix: Option<&'a str>) -> Result<StoreTotals, StoreError> {
        let mut session = self.snapshot().await?;
        let counted: Vec<(i64, i64)> = session
            .rows(Totals {
                consumer: self.consumer.as_str(),
                from: prefix.unwrap_or_default(),
                prefix: prefix.unwrap_or_default(),
            })
            .await?;
        let purged: Vec<(i64, i64)> = match prefix {
            Some(_) => Vec::new(),
            None => session.rows(Purged { consumer: self.consumer.as_str() }).await?,
        };
        let given_up: Vec<GivenUp> = session
            .rows(
                diesel::sql_query(accounting::DEAD_LETTERS)
                    .bind::<Text, _>(self.consumer.as_str())
                    .bind::<Text, _>(prefix.unwrap_or_default()),
            )
            .await?;
        session.commit().await?;
        let of = |count: fn(&(i64, i64)) -> i64| counted.iter().chain(&purged).map(count).sum::<i64>();
        let (applied, recorded) = (of(|(applied, _)| *applied), of(|(_, recorded)| *recorded));
        let dead_letters = given_up.first().map_or(0, |counted| counted.dead_letters);
        Ok(StoreTotals {
            applied: applied.unsigned_abs(),
            recorded: recorded.unsigned_abs(),
            dead_letters: dead_letters.unsigned_abs(),
        })
    }
}

statement! {
    /// Counts events by outcome. `starts_with` has no wild cards to escape; the comparison is for the index.
    Totals<'a> -> (BigInt, BigInt) {
        "SELECT count(*) FILTER (WHERE outcome = 1), count(*) FILTER (WHERE outcome = 2) \
         FROM processed_events \
         WHERE consumer = " consumer: &'a str => Text,
        " AND event_id >= " from: &'a str => Text,
        " AND starts_with(event_id, " prefix: &'a str => Text,
        ")"
    }
}

statement! {
    /// How many events were removed because of their age, by outcome.
    Purged<'a> -> (BigInt, BigInt) {
        "SELECT applied, recorded FROM purges \
         WHERE purged = 'processed_events' AND consumer = " consumer: &'a str => Text,
        ""
    }
}
