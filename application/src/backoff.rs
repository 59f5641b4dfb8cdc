//! Waits between tries of something that is away.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

/// Waits without end: `first`, then twice as long each time, up to `longest`; with jitter, so that processes that
/// failed together do not come back together.
pub(crate) fn waits(first: Duration, longest: Duration) -> impl Iterator<Item = Duration> + Send + use<> {
    ExponentialBuilder::default()
        .with_min_delay(first.min(longest))
        .with_max_delay(longest)
        .without_max_times()
        .with_jitter()
        .build()
}
