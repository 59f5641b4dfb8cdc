//! The cache port over Redis.

use std::sync::Arc;
use std::time::Duration;

use application::ports::clock::Clock;
use application::ports::readiness::ReadinessCheck;
use application::ports::seen_events::{Seen, SeenEvents};
use async_trait::async_trait;
use deadpool::Runtime;
use deadpool::managed::{Object, PoolError};
use deadpool_redis::redis::{Client, Pipeline, RedisError, Value};
use domain::{EventKey, Fingerprint};
use secrecy::ExposeSecret;

use super::breaker::Breaker;
use super::connection::{Connections, Pool};
use super::settings::{RedisSettings, RedisSetupError};
use super::wire;

/// Remembers in Redis which events were committed.
///
/// One round trip a call. Whatever Redis does, a call ends within the time-out; after a failure Redis is
/// left alone for a while, with one warning, and every event is asked of the database.
pub struct RedisSeenEvents {
    pool: Pool,
    namespace: String,
    timeout: Duration,
    mark_ttl: Duration,
    breaker: Breaker,
    clock: Arc<dyn Clock>,
}

/// Why Redis did not answer, in words without address or password.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("{0}")]
    Redis(#[from] RedisError),
    #[error("no connection could be had: {0}")]
    Pool(String),
    #[error("it refused a command: {0}")]
    Refused(String),
    #[error("it gave {got} replies to {sent} commands")]
    OutOfStep { sent: usize, got: usize },
}

impl RedisSeenEvents {
    /// Does not connect: that happens at the first look, and again whenever it must.
    pub fn new(settings: &RedisSettings, clock: Arc<dyn Clock>) -> Result<Self, RedisSetupError> {
        let namespace = wire::namespace(&settings.namespace).map_err(RedisSetupError::Namespace)?;
        let client = Client::open(settings.url.expose_secret()).map_err(|_| RedisSetupError::Url)?;
        let pool = Pool::builder(Connections::new(client, settings.timeout))
            .max_size(settings.pool_max.max(1))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| RedisSetupError::Pool(error.to_string()))?;
        Ok(Self {
            pool,
            namespace,
            timeout: settings.timeout,
            mark_ttl: settings.mark_ttl,
            breaker: Breaker::new(settings.breaker_open),
            clock,
        })
    }

    /// Talks to Redis if the breaker lets it; `None` when there is no answer to rely on.
    async fn ask(&self, pipeline: &Pipeline) -> Option<Vec<Value>> {
        if !self.breaker.admits(self.clock.now()) {
            return None;
        }
        match self.converse(pipeline).await {
            Ok(replies) => {
                if self.breaker.succeeded() {
                    tracing::info!("the cache answers again");
                }
                Some(replies)
            }
            Err(failure) => {
                if self.breaker.failed(self.clock.now()) {
                    tracing::warn!(
                        reason = %failure,
                        "the cache failed; the database is asked instead until it answers again"
                    );
                }
                None
            }
        }
    }

    async fn converse(&self, pipeline: &Pipeline) -> Result<Vec<Value>, Failure> {
        let replies = tokio::time::timeout(self.timeout, self.converse_unbounded(pipeline))
            .await
            .map_err(|_| Failure::TimedOut(self.timeout))??;
        if replies.len() != pipeline.len() {
            return Err(Failure::OutOfStep { sent: pipeline.len(), got: replies.len() });
        }
        match replies.iter().find_map(refusal) {
            Some(refused) => Err(Failure::Refused(refused)),
            None => Ok(replies),
        }
    }

    async fn converse_unbounded(&self, pipeline: &Pipeline) -> Result<Vec<Value>, Failure> {
        let mut connection = self.connection().await?;
        match connection.converse(pipeline).await {
            Ok(replies) => Ok(replies),
            // An idle connection may have been closed meanwhile, as by a restart of Redis; then all of
            // them were. That is no failure of the Redis that is there now.
            Err(error) if closed(&error) && !connection.is_fresh() => {
                drop(Object::take(connection));
                self.pool.retain(|_, _| false);
                Ok(self.connection().await?.converse(pipeline).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn connection(&self) -> Result<Object<Connections>, Failure> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => Failure::Redis(error),
            other => Failure::Pool(other.to_string()),
        })
    }
}

fn closed(error: &RedisError) -> bool {
    !error.is_timeout() && (error.is_io_error() || error.is_connection_dropped())
}

/// The refusal of a command, which says that Redis is in no state to be used, such as while it loads.
fn refusal(reply: &Value) -> Option<String> {
    match reply {
        Value::ServerError(error) => Some(error.code().to_owned()),
        _ => None,
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1)
}

fn seen(reply: &Value) -> Seen {
    match reply {
        Value::BulkString(value) => wire::read(value),
        Value::SimpleString(value) => wire::read(value.as_bytes()),
        _ => Seen::Unknown,
    }
}

#[async_trait]
impl SeenEvents for RedisSeenEvents {
    async fn look(&self, keys: &[EventKey]) -> Vec<Seen> {
        if keys.is_empty() {
            return Vec::new();
        }
        // A key of another type is answered as if it were not there.
        let mut pipeline = Pipeline::with_capacity(1);
        let look = pipeline.cmd("MGET");
        for key in keys {
            look.arg(wire::key(&self.namespace, key));
        }
        match self.ask(&pipeline).await.as_deref() {
            Some([Value::Array(values)]) if values.len() == keys.len() => values.iter().map(seen).collect(),
            _ => vec![Seen::Unknown; keys.len()],
        }
    }

    async fn mark_committed(&self, events: &[(EventKey, Fingerprint)]) {
        if events.is_empty() {
            return;
        }
        let mut pipeline = Pipeline::with_capacity(events.len());
        for (key, fingerprint) in events {
            pipeline
                .cmd("SET")
                .arg(wire::key(&self.namespace, key))
                .arg(wire::mark(*fingerprint))
                .arg("PX")
                .arg(millis(self.mark_ttl));
        }
        // Without an answer the mark may be there or not; both are right, since the commit has returned.
        let _answer: Option<Vec<Value>> = self.ask(&pipeline).await;
    }
}

#[async_trait]
impl ReadinessCheck for RedisSeenEvents {
    fn component(&self) -> &'static str {
        "cache"
    }

    fn required(&self) -> bool {
        false
    }

    async fn check(&self) -> Result<(), String> {
        let mut ping = Pipeline::with_capacity(1);
        ping.cmd("PING");
        match self.converse(&ping).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.to_string()),
        }
    }
}
