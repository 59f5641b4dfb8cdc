//! Whether the database can be written to now.

use std::time::Duration;

use application::error_chain::describe;
use application::ports::readiness::ReadinessCheck;
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::sql_types::Bool;

use super::pool::PostgresPool;

/// How long [`ReadinessCheck::check`] may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// Whether the store can be written to.
pub struct PostgresReadiness {
    pool: PostgresPool,
}

impl PostgresReadiness {
    /// Asks through `pool`.
    pub const fn new(pool: PostgresPool) -> Self {
        Self { pool }
    }
}

#[async_trait]
impl ReadinessCheck for PostgresReadiness {
    fn component(&self) -> &'static str {
        "store"
    }

    fn required(&self) -> bool {
        true
    }

    async fn check(&self) -> Result<(), String> {
        probe(&self.pool, CHECK_TIMEOUT).await.map_err(|error| describe(&error))
    }
}

/// Asks whether the database can be written to, and takes no answer within `timeout` for no. A session with a
/// server that has become a standby is not given back: the next one may find the new primary.
pub(super) async fn probe(pool: &PostgresPool, timeout: Duration) -> Result<(), StoreError> {
    let asked = async {
        let mut session = pool.session().await?;
        let read_only: Vec<bool> = session
            .rows(sql::<Bool>(
                "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean",
            ))
            .await?;
        if read_only != [false] {
            return Err(StoreError::Unavailable("the database is read-only".into()));
        }
        session.release();
        Ok(())
    };
    tokio::time::timeout(timeout, asked)
        .await
        .unwrap_or_else(|_| Err(StoreError::Unavailable(format!("no answer within {timeout:?}").into())))
}
