//! Pooled connections, none of which is used again after a conversation that did not end well.

use std::time::Duration;

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use deadpool_redis::redis::aio::{ConnectionLike, MultiplexedConnection};
use deadpool_redis::redis::{AsyncConnectionConfig, Client, Pipeline, RedisError, Value};

/// Pools [`Connection`]s. Not deadpool-redis's own pool, which pings before each use: a second round trip
/// for every batch.
pub type Pool = managed::Pool<Connections>;

/// Makes connections.
pub struct Connections {
    client: Client,
    timeout: Duration,
}

impl Connections {
    pub const fn new(client: Client, timeout: Duration) -> Self {
        Self { client, timeout }
    }
}

/// A connection that knows whether its last conversation ended well.
pub struct Connection {
    inner: MultiplexedConnection,
    /// Set before a pipeline is sent, cleared by its whole answer. A call that was dropped or failed in
    /// between leaves it set, whatever the way out was.
    unanswered: bool,
    fresh: bool,
}

impl Connection {
    /// Sends the pipeline and gives every reply, errors of single commands included.
    pub async fn converse(&mut self, pipeline: &Pipeline) -> Result<Vec<Value>, RedisError> {
        self.unanswered = true;
        let replies = self.inner.req_packed_commands(pipeline, 0, pipeline.len()).await?;
        self.unanswered = false;
        Ok(replies)
    }

    /// Whether it was never used before.
    pub const fn is_fresh(&self) -> bool {
        self.fresh
    }
}

impl managed::Manager for Connections {
    type Type = Connection;
    type Error = RedisError;

    async fn create(&self) -> Result<Connection, RedisError> {
        // Answers have no time-out of their own: the caller bounds the whole call, this included.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(None);
        let inner = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(Connection { inner, unanswered: false, fresh: true })
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<RedisError> {
        connection.fresh = false;
        if connection.unanswered {
            return Err(RecycleError::message("its last conversation did not end"));
        }
        Ok(())
    }
}
