//! Hears what relays do, for metrics. Never decides anything.

/// Counts. An implementation MUST NOT block. Destinations are configured, so their names are a closed set.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
pub trait RelayObserver: Send + Sync {
    /// This process relays to the destination, or does no more.
    fn leading(&self, destination: &str, leading: bool);

    /// Messages were delivered.
    fn delivered(&self, destination: &str, count: usize);

    /// Messages were not delivered and are tried again.
    fn retried(&self, destination: &str, count: usize);

    /// Messages were given up.
    fn failed(&self, destination: &str, count: usize);

    /// The destination takes nothing, or takes messages again.
    fn away(&self, destination: &str, away: bool);
}
