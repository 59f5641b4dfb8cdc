//! The machine's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use application::ports::clock::Clock;
use domain::Timestamp;

/// Tells the machine's time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the Clock port's one implementation")]
    fn now(&self) -> Timestamp {
        // A clock before 1970 is a broken machine; the epoch is as good as any answer then.
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
    }
}
