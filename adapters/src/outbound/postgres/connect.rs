//! One session with the database, set up.

use std::time::Duration;

use diesel::{ConnectionError, ConnectionResult};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::settings::{PostgresSettings, PostgresSetupError};
use super::tls;

/// How soon the server notices that the client of a running statement is gone, so that a unit that was given
/// up does not keep its locks until the statement ends.
const CLIENT_CHECK_INTERVAL_MS: u32 = 500;

/// Opens sessions.
pub(super) struct Connector {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    setup: String,
}

impl Connector {
    /// Sessions in which a statement may take as long as `settings` say.
    pub(super) fn new(settings: &PostgresSettings) -> Result<Self, PostgresSetupError> {
        Self::with_statement_timeout(settings, settings.statement_timeout)
    }

    /// Sessions in which a statement may take `statement_timeout`; zero means for ever.
    pub(super) fn with_statement_timeout(
        settings: &PostgresSettings,
        statement_timeout: Duration,
    ) -> Result<Self, PostgresSetupError> {
        let (config, trust) = settings.target()?;
        // By statements and not by start-up options, which connection poolers refuse. The last of them is
        // one that servers before 14 do not know.
        let setup = format!(
            "SET statement_timeout = {};\
             SET lock_timeout = {};\
             SET idle_in_transaction_session_timeout = {};\
             SELECT set_config(name, '{CLIENT_CHECK_INTERVAL_MS}', false) \
               FROM pg_settings WHERE name = 'client_connection_check_interval';",
            statement_timeout.as_millis(),
            settings.lock_timeout.as_millis(),
            settings.idle_in_transaction_timeout.as_millis(),
        );
        Ok(Self { config, tls: tls::connector(&trust)?, setup })
    }

    /// A new session.
    pub(super) async fn connect(&self) -> ConnectionResult<AsyncPgConnection> {
        let mut session = if let Some(tls) = &self.tls {
            let (client, connection) =
                self.config.connect(tls.clone()).await.map_err(|error| refused(&error))?;
            AsyncPgConnection::try_from_client_and_connection(client, connection).await?
        } else {
            let (client, connection) = self.config.connect(NoTls).await.map_err(|error| refused(&error))?;
            AsyncPgConnection::try_from_client_and_connection(client, connection).await?
        };
        session.batch_execute(&self.setup).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
        Ok(session)
    }
}

/// With the causes, which the driver's own text leaves out. They name hosts and users, never a password.
fn refused(error: &tokio_postgres::Error) -> ConnectionError {
    ConnectionError::BadConnection(application::error_chain::describe(error))
}
