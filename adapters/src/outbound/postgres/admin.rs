//! The store's schema and identity.

use application::ports::store_admin::StoreAdmin;
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::sql_types::Text;

use super::migrations;
use super::pool::PostgresPool;
use super::settings::PostgresSettings;

/// Sets a PostgreSQL store up.
pub struct PostgresAdmin {
    pool: PostgresPool,
    settings: PostgresSettings,
}

impl PostgresAdmin {
    /// Asks through `pool`; migrates in sessions of its own by `settings`, in which a statement may take as long
    /// as it needs.
    pub const fn new(pool: PostgresPool, settings: PostgresSettings) -> Self {
        Self { pool, settings }
    }
}

#[async_trait]
impl StoreAdmin for PostgresAdmin {
    async fn migrate(&self) -> Result<Vec<String>, StoreError> {
        migrations::migrate(&self.settings).await
    }

    async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        migrations::pending(&self.pool).await
    }

    async fn identity(&self) -> Result<String, StoreError> {
        // With the database's number in its server, which a copy of the rows does not have.
        let query = "SELECT id::text || '-' || (SELECT oid FROM pg_database WHERE datname = current_database()) \
                     FROM store_identity";
        let mut session = self.pool.session().await?;
        let mut found: Vec<String> = session.rows(sql::<Text>(query)).await?;
        session.release();
        match (found.pop(), found.is_empty()) {
            (Some(identity), true) => Ok(identity),
            _ => Err(StoreError::Permanent("store_identity does not have exactly one row".into())),
        }
    }
}
