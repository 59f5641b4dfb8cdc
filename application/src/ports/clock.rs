//! The time.

use domain::Timestamp;

/// Tells the time. Passed in, so that tests own it.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
pub trait Clock: Send + Sync {
    /// The moment now.
    fn now(&self) -> Timestamp;
}
