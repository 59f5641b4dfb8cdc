//! Reads something again and again, for a gauge.

use std::time::Duration;

use application::error_chain::describe;
use tokio_util::sync::CancellationToken;

/// Reads until `stop`, and sets what was read; nothing while it cannot be read: an old number would look like a
/// quiet system.
pub async fn watch<T, E, R>(
    what: &'static str,
    interval: Duration,
    stop: CancellationToken,
    read: impl Fn() -> R + Send,
    set: impl Fn(Option<T>) + Send,
) where
    T: Send,
    E: std::error::Error + Send + 'static,
    R: Future<Output = Result<T, E>> + Send,
{
    while !stop.is_cancelled() {
        let found = read().await;
        if let Err(error) = &found {
            tracing::debug!(what, error = describe(error), "cannot be counted now");
        }
        set(found.ok());
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(interval) => {}
        }
    }
}
