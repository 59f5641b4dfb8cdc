//! How Redis is reached, and how long anything may take there.

use std::time::Duration;

use secrecy::SecretString;

/// The settings of [`super::RedisSeenEvents`].
#[derive(Debug, Clone)]
pub struct RedisSettings {
    /// `redis://` or `rediss://`, with its password.
    pub url: SecretString,
    /// Keeps installations on one Redis apart: one or more names of `a-z 0-9 - _`, joined by `:`.
    pub namespace: String,
    /// How long a whole call may take, the wait for a connection included.
    pub timeout: Duration,
    /// How long a mark of a committed event lives; at least the longest time that a provider retries.
    pub mark_ttl: Duration,
    /// How many connections there may be.
    pub pool_max: usize,
    /// How long Redis is left alone after it failed.
    pub breaker_open: Duration,
}

/// Why the settings cannot be used. Never holds the URL, which has a password in it.
#[derive(Debug, thiserror::Error)]
pub enum RedisSetupError {
    /// The URL is not one of Redis.
    #[error("the cache URL is not a usable redis:// or rediss:// URL")]
    Url,
    /// The namespace would make keys ambiguous.
    #[error("the cache namespace {0}")]
    Namespace(#[source] domain::IdError),
    /// The pool cannot be built.
    #[error("the cache's connection pool cannot be built: {0}")]
    Pool(String),
}
