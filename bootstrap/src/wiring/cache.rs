//! The cache: Redis, this process's memory, or none.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use application::ports::readiness::ReadinessCheck;
use application::ports::seen_events::SeenEvents;
use secrecy::ExposeSecret;

use adapters::clock::SystemClock;
use adapters::outbound::memory::{MemorySeenEvents, NoSeenEvents};
use adapters::outbound::redis::{RedisSeenEvents, RedisSettings};

use crate::config::{Config, ms, scheme};

/// The cache's ports.
#[derive(Clone)]
pub struct Cache {
    port: Arc<dyn SeenEvents>,
    readiness: Arc<dyn ReadinessCheck>,
}

impl Cache {
    /// The port.
    pub fn port(&self) -> Arc<dyn SeenEvents> {
        self.port.clone()
    }

    /// Whether it answers.
    pub fn readiness(&self) -> Arc<dyn ReadinessCheck> {
        self.readiness.clone()
    }
}

/// The cache that `cache.url` names, with its marks under `namespace`. Does not connect.
///
/// # Errors
/// The URL cannot be used.
pub fn cache(config: &Config, namespace: &str) -> anyhow::Result<Cache> {
    let cache = &config.cache;
    let mark_ttl = Duration::from_secs(cache.mark_ttl_s);
    match scheme(cache.url.expose_secret()) {
        "redis" | "rediss" => {
            let settings = RedisSettings {
                url: cache.url.clone(),
                namespace: format!("{namespace}:{}", config.worker.consumer),
                timeout: ms(cache.timeout_ms),
                mark_ttl,
                pool_max: cache.pool_max,
                breaker_open: ms(cache.breaker_open_ms),
            };
            let seen = Arc::new(RedisSeenEvents::new(&settings, Arc::new(SystemClock)).context("cache.url")?);
            Ok(Cache { port: seen.clone(), readiness: seen })
        }
        "memory" => {
            let seen =
                Arc::new(MemorySeenEvents::new(cache.memory_entries_max, mark_ttl, Arc::new(SystemClock)));
            Ok(Cache { port: seen.clone(), readiness: seen })
        }
        "none" => Ok(Cache { port: Arc::new(NoSeenEvents), readiness: Arc::new(NoSeenEvents) }),
        other => anyhow::bail!("cache.url: there is no cache for the scheme {other:?}"),
    }
}
