//! From a signal to the end of the process.
//!
//! The first SIGTERM or SIGINT asks everybody to finish what is in hand. A second one, or a grace time that
//! is over, ends the process with an error.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// The two steps of a stop.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Finish what is in hand, take nothing new.
    pub soft: CancellationToken,
    /// End now.
    pub hard: CancellationToken,
}

impl Shutdown {
    /// A shutdown that SIGTERM and SIGINT drive.
    ///
    /// # Errors
    /// The signals cannot be listened to.
    pub fn on_signals() -> std::io::Result<Self> {
        let shutdown = Self::default();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let tokens = shutdown.clone();
        tokio::spawn(async move {
            let mut next = async || {
                tokio::select! {
                    _ = terminate.recv() => "SIGTERM",
                    _ = interrupt.recv() => "SIGINT",
                }
            };
            let first = next().await;
            info!(signal = first, "stopping: finishing what is in hand");
            tokens.soft.cancel();
            let second = next().await;
            warn!(signal = second, "stopping at once");
            tokens.hard.cancel();
        });
        Ok(shutdown)
    }
}
