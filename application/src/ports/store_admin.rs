//! The store's schema and identity.

use async_trait::async_trait;

use super::unit_of_work::StoreError;

/// Sets a store up.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait StoreAdmin: Send + Sync {
    /// Applies pending migrations and names them. Many processes MAY call it at once: one does the work, the
    /// others wait for it. One that dies in it MUST NOT leave the others waiting.
    async fn migrate(&self) -> Result<Vec<String>, StoreError>;

    /// The names of migrations that this release has and the store has not applied.
    async fn pending_migrations(&self) -> Result<Vec<String>, StoreError>;

    /// An id that no other store has: the cache keeps its marks under it, so that what was committed in
    /// another database is never taken for committed in this one.
    async fn identity(&self) -> Result<String, StoreError>;
}
