//! How often an event may fail, and how long it waits in between.

use std::time::Duration;

use domain::Timestamp;

use crate::disposition::RetryClass;

/// How many failures an event's history keeps; the newest are kept.
pub const HISTORY_ENTRIES_MAX: usize = 8;

/// One failed attempt, as it travels with the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptFailure {
    /// When it failed.
    pub at: Timestamp,
    /// The class of the failure, see [`RetryClass::as_str`].
    pub class: String,
    /// The error and its causes, bounded.
    pub error: String,
}

/// What follows a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Run it again after this long.
    RetryAfter(Duration),
    /// It has used up its attempts.
    GiveUp,
}

/// The budget of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often an event is run before it becomes a dead letter; at least 1.
    pub attempts_max: u32,
    /// How long it waits before the next attempt.
    pub delay: Duration,
}

impl RetryPolicy {
    /// What follows when `failed_attempts`, this one included, have failed.
    pub fn after(&self, failed_attempts: u32) -> Next {
        if failed_attempts >= self.attempts_max { Next::GiveUp } else { Next::RetryAfter(self.delay) }
    }
}

/// `history` with one more failure, keeping the newest [`HISTORY_ENTRIES_MAX`].
pub fn with_failure(
    mut history: Vec<AttemptFailure>,
    at: Timestamp,
    class: RetryClass,
    error: String,
) -> Vec<AttemptFailure> {
    history.push(AttemptFailure { at, class: class.as_str().to_owned(), error });
    let surplus = history.len().saturating_sub(HISTORY_ENTRIES_MAX);
    history.drain(..surplus);
    history
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy { attempts_max: 3, delay: Duration::from_secs(5) };

    #[test]
    fn an_event_is_run_exactly_as_often_as_allowed() {
        assert_eq!(POLICY.after(1), Next::RetryAfter(Duration::from_secs(5)));
        assert_eq!(POLICY.after(2), Next::RetryAfter(Duration::from_secs(5)));
        assert_eq!(POLICY.after(3), Next::GiveUp);
        assert_eq!(POLICY.after(4), Next::GiveUp);
    }

    #[test]
    fn the_history_keeps_the_newest_failures() {
        let history = (0..20).fold(Vec::new(), |history, n| {
            with_failure(history, Timestamp::from_micros(n), RetryClass::Transient, format!("failure {n}"))
        });
        assert_eq!(history.len(), HISTORY_ENTRIES_MAX);
        assert_eq!(history.last().map(|failure| failure.error.as_str()), Some("failure 19"));
    }
}
