//! The test Redis, with a key namespace for each test. Nothing here flushes the server: others use it too.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use adapters::outbound::redis::RedisSettings;
use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{Client, cmd};

/// A namespace of its own on the test Redis.
pub struct TestRedis {
    /// Where the server is.
    pub url: String,
    /// The namespace of this test's keys.
    pub namespace: String,
}

impl TestRedis {
    /// A new namespace on the server of `PAYONCE_TEST_REDIS_URL`.
    #[must_use]
    pub fn new() -> Self {
        let random = RandomState::new().build_hasher().finish();
        Self { url: crate::service("PAYONCE_TEST_REDIS_URL"), namespace: format!("test-{random:016x}") }
    }

    /// Settings for this namespace, with times that suit a test.
    #[must_use]
    pub fn settings(&self) -> RedisSettings {
        RedisSettings {
            url: self.url.clone().into(),
            namespace: self.namespace.clone(),
            timeout: Duration::from_secs(2),
            mark_ttl: Duration::from_mins(1),
            pool_max: 4,
            breaker_open: Duration::from_secs(5),
        }
    }

    /// Every key of this test.
    ///
    /// # Panics
    /// The server does not answer.
    pub async fn keys(&self) -> Vec<String> {
        let mut connection = self.connect().await;
        let (mut cursor, mut keys) = (0_u64, Vec::new());
        loop {
            let (next, mut page): (u64, Vec<String>) = cmd("SCAN")
                .arg(cursor)
                .arg("MATCH")
                .arg(format!("payonce:{}:*", self.namespace))
                .arg("COUNT")
                .arg(1_000)
                .query_async(&mut connection)
                .await
                .expect("SCAN");
            keys.append(&mut page);
            cursor = next;
            if cursor == 0 {
                return keys;
            }
        }
    }

    /// Removes this test's keys, as a flush would.
    ///
    /// # Panics
    /// The server does not answer.
    pub async fn forget_all(&self) {
        let keys = self.keys().await;
        if !keys.is_empty() {
            self.run("DEL", &keys).await;
        }
    }

    /// Runs a command for its effect.
    ///
    /// # Panics
    /// The server does not answer, or refuses it.
    pub async fn run(&self, command: &str, arguments: &[String]) {
        let mut connection = self.connect().await;
        cmd(command).arg(arguments).exec_async(&mut connection).await.expect("a command that works");
    }

    /// How long the key still lives; `None` when it lives for ever or not at all.
    ///
    /// # Panics
    /// The server does not answer.
    pub async fn time_to_live(&self, key: &str) -> Option<Duration> {
        let mut connection = self.connect().await;
        let millis: i64 = cmd("PTTL").arg(key).query_async(&mut connection).await.expect("PTTL");
        u64::try_from(millis).ok().map(Duration::from_millis)
    }

    async fn connect(&self) -> MultiplexedConnection {
        Client::open(self.url.as_str())
            .expect("a Redis URL")
            .get_multiplexed_async_connection()
            .await
            .expect("the test Redis")
    }
}

impl Default for TestRedis {
    fn default() -> Self {
        Self::new()
    }
}
