//! The sessions of one process.

use std::sync::Arc;
use std::time::Duration;

use application::ports::unit_of_work::StoreError;
use deadpool::Runtime;
use diesel_async::AsyncPgConnection;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use futures::FutureExt;

use super::connect::Connector;
use super::session::Session;
use super::settings::{PostgresSettings, PostgresSetupError};

/// Sessions with one database, shared by clones. None is opened before it is needed, so the database may be
/// away when the process starts.
#[derive(Clone)]
pub struct PostgresPool {
    sessions: Pool<AsyncPgConnection>,
    answer_timeout: Duration,
}

impl PostgresPool {
    /// The pool that `settings` describe.
    ///
    /// # Errors
    /// The settings cannot be used. The text never holds the password.
    pub fn new(settings: &PostgresSettings) -> Result<Self, PostgresSetupError> {
        let connector = Arc::new(Connector::new(settings)?);
        let mut config = ManagerConfig::default();
        config.custom_setup = Box::new(move |_| {
            let connector = connector.clone();
            async move { connector.connect().await }.boxed()
        });
        // A session that was lost meanwhile is noticed without a round trip in nearly every case; in the
        // others the first statement fails with an error that means "come again".
        config.recycling_method = RecyclingMethod::Fast;
        // The connector has the URL; the manager has no use for it.
        let manager = AsyncDieselConnectionManager::new_with_config("", config);
        let sessions = Pool::builder(manager)
            .max_size(settings.pool_max)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(settings.acquire_timeout))
            .create_timeout(Some(settings.connect_timeout))
            .recycle_timeout(Some(settings.connect_timeout))
            .build()
            .map_err(|error| PostgresSetupError::Pool(error.to_string()))?;
        Ok(Self { sessions, answer_timeout: settings.answer_timeout() })
    }

    /// A session, when one is free in time.
    pub(super) async fn session(&self) -> Result<Session, StoreError> {
        let connection = self.sessions.get().await.map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Session::new(connection, self.answer_timeout))
    }
}
