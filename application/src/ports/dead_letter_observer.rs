//! Hears what becomes of dead letters, for metrics. Never decides anything.

/// Counts. An implementation MUST NOT block.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
pub trait DeadLetterObserver: Send + Sync {
    /// Letters were stored that had not been before.
    fn archived(&self, count: u64);

    /// Letters were published to the main queue again, and the broker has confirmed them.
    fn replayed(&self, count: usize);

    /// Letters could not be published, and are tried again or open again.
    fn not_replayed(&self, count: usize);
}
