//! Times, as the stores' outboxes have them.

use std::time::Duration;

/// A hundred years: more than any setting, and less than what overflows when it is added to a moment.
const MILLIS_MAX: i64 = 100 * 366 * 24 * 60 * 60 * 1000;

/// Whole milliseconds, at most [`MILLIS_MAX`].
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(MILLIS_MAX).min(MILLIS_MAX)
}

/// From whole milliseconds; nothing for what a clock that was set back makes of a time.
pub(super) fn since_millis(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}
