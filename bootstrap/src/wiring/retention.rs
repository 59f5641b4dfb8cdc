//! The purge of a worker: what is removed from the store when it is old.

use std::time::Duration;

use application::use_cases::{PurgeEvents, PurgeSettings};

use super::store::Store;
use crate::config::Config;

/// How often it is looked for events that are old enough to be removed.
const PURGE_INTERVAL: Duration = Duration::from_mins(10);
/// The most events that one transaction removes.
const PURGE_BATCH_MAX: u32 = 1000;

/// What removes old events; `None` where they are kept for ever.
pub fn purge_events(config: &Config, store: &Store) -> Option<PurgeEvents> {
    let settings = PurgeSettings {
        retention: Duration::from_secs(config.store.retention_s),
        interval: PURGE_INTERVAL,
        batch_max: PURGE_BATCH_MAX,
    };
    (config.store.retention_s > 0).then(|| PurgeEvents::new(store.retention(), settings))
}
