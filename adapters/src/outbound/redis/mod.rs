//! The cache in Redis (7.0 or later), and what keeps a sick Redis from slowing anything down.

pub mod breaker;
mod connection;
mod seen_events;
mod settings;
mod wire;

pub use seen_events::RedisSeenEvents;
pub use settings::{RedisSettings, RedisSetupError};
