//! Removes what is old, again and again, in small transactions.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::error_chain::describe;
use crate::ports::unit_of_work::StoreError;

/// How much is kept, and how it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurgeSettings {
    /// How long it is kept.
    pub retention: Duration,
    /// How often it is looked for what is older.
    pub interval: Duration,
    /// The most that one transaction removes.
    pub batch_max: u32,
}

/// Calls `remove`, which takes age and limit and gives the number, until `stop`. The first time is after one
/// interval, so that a process that starts has shown by then what it needs.
pub(super) async fn run<R>(
    settings: PurgeSettings,
    stop: &CancellationToken,
    what: &'static str,
    mut remove: impl FnMut(Duration, u32) -> R + Send,
) where
    R: Future<Output = Result<u64, StoreError>> + Send,
{
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(settings.interval) => {}
        }
        match purge(settings, stop, &mut remove).await {
            Ok(0) => {}
            Ok(count) => info!(count, what, "removed what was old"),
            Err(error) => {
                warn!(error = describe(&error), what, "what is old was not removed; trying again later");
            }
        }
    }
}

/// One transaction after the other, until there is nothing more to remove. Between them the store is left to
/// others for as long as the last one took.
async fn purge<R>(
    settings: PurgeSettings,
    stop: &CancellationToken,
    remove: &mut (impl FnMut(Duration, u32) -> R + Send),
) -> Result<u64, StoreError>
where
    R: Future<Output = Result<u64, StoreError>> + Send,
{
    let mut removed = 0;
    while !stop.is_cancelled() {
        let begun = tokio::time::Instant::now();
        let count = remove(settings.retention, settings.batch_max).await?;
        removed += count;
        if count < u64::from(settings.batch_max) {
            break;
        }
        tokio::time::sleep(begun.elapsed()).await;
    }
    Ok(removed)
}
