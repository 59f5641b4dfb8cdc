//! The schema and the store's identity.

use application::ports::store_admin::StoreAdmin;
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::sql_types::Text;
use diesel::{RunQueryDsl, SqliteConnection};

use super::classify::classify;
use super::migrations;
use super::store::SqliteStore;

/// Sets a SQLite store up.
pub struct SqliteAdmin {
    store: SqliteStore,
}

impl SqliteAdmin {
    /// Asks through `store`; migrates over a connection of its own, which makes the file if it is missing.
    pub const fn new(store: SqliteStore) -> Self {
        Self { store }
    }
}

#[async_trait]
impl StoreAdmin for SqliteAdmin {
    async fn migrate(&self) -> Result<Vec<String>, StoreError> {
        migrations::migrate(self.store.file.path()).await
    }

    async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        migrations::pending(&self.store).await
    }

    async fn identity(&self) -> Result<String, StoreError> {
        let file = self.store.file.clone();
        let query = |connection: &mut SqliteConnection| {
            sql::<Text>("SELECT id FROM store_identity").get_result::<String>(connection).map_err(classify)
        };
        self.store
            .readers
            .read(move |connection| Ok(format!("{}-{}", query(connection)?, file.inode()?)))
            .await
    }
}
