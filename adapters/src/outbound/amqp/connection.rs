//! Opens connections. Every attempt ends within its time-out, and no error tells the password.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use lapin::uri::AMQPUri;
use lapin::{Connection, ConnectionProperties};
use secrecy::{ExposeSecret, SecretString};

use super::topology::Queues;

/// How the broker is reached, and what is declared there.
#[derive(Debug, Clone)]
pub struct AmqpSettings {
    /// `amqp://` or `amqps://`, with user and password.
    pub url: SecretString,
    /// The name that the broker shows for the connection.
    pub name: String,
    /// The longest that opening a connection, or declaring the topology on it, may take.
    pub connect_timeout: Duration,
    /// The delays after which an event may be tried again; each is a queue of its own.
    pub retry_tiers: Vec<Duration>,
    /// The queues that this process takes from and counts.
    pub queues: Queues,
    /// The name of this worker, which its dead letters bear; `None` where it has none.
    pub worker: Option<String>,
    /// The queues of every consumer, which get a copy of each event from the moment they are declared.
    pub consumers: Vec<Queues>,
}

impl AmqpSettings {
    /// For the only consumer.
    pub fn new(
        url: SecretString,
        name: String,
        connect_timeout: Duration,
        retry_tiers: Vec<Duration>,
    ) -> Self {
        let (queues, consumers) = (Queues::first(), vec![Queues::first()]);
        Self { url, name, connect_timeout, retry_tiers, queues, worker: None, consumers }
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// It cannot be read as a URL. What it is stays untold: it may hold a password.
    #[error("the broker's URL is not an AMQP URL")]
    InvalidUrl,
    /// Refused, by the network or by the broker.
    #[error("cannot connect to the broker at {address}")]
    Failed {
        /// Host, port and vhost.
        address: String,
        /// What the broker or the network said.
        #[source]
        source: lapin::Error,
    },
    /// Nothing came back in time.
    #[error("the broker at {address} did not answer within {} ms", .limit.as_millis())]
    TimedOut {
        /// Host, port and vhost.
        address: String,
        /// How long it was given.
        limit: Duration,
    },
}

/// The first wait between two attempts; it doubles up to [`BACKOFF_MAX`], with jitter.
const BACKOFF_FIRST: Duration = Duration::from_millis(100);

/// The longest wait between two attempts.
const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// How long a connection may take to say good-bye.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens a connection that does not recover by itself.
pub(crate) async fn connect(settings: &AmqpSettings) -> Result<Connection, ConnectError> {
    let mut uri: AMQPUri = settings.url.expose_secret().parse().map_err(|_| ConnectError::InvalidUrl)?;
    let address = format!("{}:{}/{}", uri.authority.host, uri.authority.port, uri.vhost);
    let limit = settings.connect_timeout;
    // So that lapin's thread, which outlives the dropped future, ends as well.
    uri.query.connection_timeout.get_or_insert(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    let properties = ConnectionProperties::default().with_connection_name(settings.name.as_str().into());
    match tokio::time::timeout(limit, Connection::connect_uri(uri, properties)).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(source)) => Err(ConnectError::Failed { address, source }),
        Err(_) => Err(ConnectError::TimedOut { address, limit }),
    }
}

/// Says good-bye, for at most [`CLOSE_TIMEOUT`]; a connection that is gone already is no error.
pub(crate) async fn close(connection: &Connection) {
    if connection.status().connected() {
        let farewell = connection.close(200, "OK".into());
        if let Ok(Err(error)) = tokio::time::timeout(CLOSE_TIMEOUT, farewell).await {
            tracing::debug!(%error, "the connection did not close cleanly");
        }
    }
}

/// The waits between attempts: without end, and different in every process.
pub(crate) fn backoff() -> impl Iterator<Item = Duration> + Send {
    ExponentialBuilder::default()
        .with_min_delay(BACKOFF_FIRST)
        .with_max_delay(BACKOFF_MAX)
        .without_max_times()
        .with_jitter()
        .build()
}

/// The next of `waits`.
pub(crate) fn next_wait(waits: &mut impl Iterator<Item = Duration>) -> Duration {
    waits.next().unwrap_or(BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> AmqpSettings {
        AmqpSettings::new(url.to_owned().into(), "test".to_owned(), Duration::from_millis(300), vec![])
    }

    #[tokio::test]
    async fn no_error_tells_the_password() {
        for url in
            ["amqp://u:hunter2@127.0.0.1:1/%2f", "http://u:hunter2@x", "amqp://u:hunter2@[", ":hunter2"]
        {
            let settings = settings(url);
            let error = connect(&settings).await.expect_err("nothing listens there");
            let told = format!("{error} {error:?} {settings:?}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    }

    #[tokio::test]
    async fn a_server_that_never_answers_is_given_up() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("amqp://u:p@{}/%2f", silent.local_addr().unwrap());
        let error = connect(&settings(&url)).await.expect_err("it says nothing");
        assert!(matches!(error, ConnectError::TimedOut { .. }), "{error:?}");
    }
}
