//! What both stores note of what they remove.

use std::time::Duration;

/// The longest that a unit of work lasts, by far. An event is stored at its beginning and facts at its end, so
/// facts may miss an event that was removed for so much longer.
pub(super) const UNIT_OF_WORK_MAX: Duration = Duration::from_hours(1);
