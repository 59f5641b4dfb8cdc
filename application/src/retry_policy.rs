//! How often an event may fail, and how long it waits in between.
//!
//! Two kinds of failure have budgets of their own. An event that fails by itself
//! ([`RetryClass::Transient`]) has a number of attempts. An event that waits for another one of its payment
//! ([`RetryClass::NotReady`]) has time: it is tried again after about as long as it has waited already, until
//! it is too old. A store that is away ([`RetryClass::DependencyDown`]) uses up neither.

use std::time::Duration;

use domain::Timestamp;

use crate::disposition::RetryClass;

/// How many failures an event's history keeps; the newest are kept.
pub const HISTORY_ENTRIES_MAX: usize = 8;

/// By what a wait grows from one attempt to the next, for an event that fails.
const GROWTH: u32 = 2;

/// By what the waits of an event that is not ready grow.
const NOT_READY_GROWTH: u32 = 4;

/// More waits than this are never told apart; the longest is used from there on.
const STEPS_MAX: usize = 16;

/// A wait is shortened by up to this part of it, so that events that failed together do not come back together.
const JITTER_PERCENT: u64 = 20;

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
    /// It has used up its budget.
    GiveUp,
}

/// The budgets of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often an event that fails is run before it becomes a dead letter; at least 1.
    pub attempts_max: u32,
    /// The first wait; it doubles.
    pub delay: Duration,
    /// The longest wait of an event that fails.
    pub delay_max: Duration,
    /// How old an event that fails may become, from when it was queued.
    pub age_max: Duration,
    /// The longest wait of an event that is not ready.
    pub not_ready_delay_max: Duration,
    /// How old an event that is not ready may become, from when it was queued.
    pub not_ready_age_max: Duration,
}

impl RetryPolicy {
    /// What follows when an event that was queued `age` ago has failed with `class` and `failed_attempts`, this
    /// one included, have failed. `salt` is anything that differs between events: it spreads the waits.
    pub fn after(&self, class: RetryClass, failed_attempts: u32, age: Duration, salt: u64) -> Next {
        let wait = match class {
            RetryClass::NotReady if age >= self.not_ready_age_max => return Next::GiveUp,
            RetryClass::NotReady => self.not_ready_wait(age),
            _ if failed_attempts >= self.attempts_max || age >= self.age_max => return Next::GiveUp,
            _ => self.wait(failed_attempts),
        };
        Next::RetryAfter(shortened(wait, salt))
    }

    /// Every wait that can be asked for, before it is shortened: from the shortest to the longest, each once.
    pub fn waits(&self) -> Vec<Duration> {
        let failing = steps(self.delay, GROWTH, self.delay_max)
            .take(usize::try_from(self.attempts_max).unwrap_or(STEPS_MAX).min(STEPS_MAX));
        let waiting = steps(self.delay, NOT_READY_GROWTH, self.not_ready_delay_max);
        let mut waits: Vec<Duration> = failing.chain(waiting).collect();
        waits.sort_unstable();
        waits.dedup();
        waits
    }

    fn wait(&self, failed_attempts: u32) -> Duration {
        let step = usize::try_from(failed_attempts.saturating_sub(1)).unwrap_or(STEPS_MAX).min(STEPS_MAX - 1);
        steps(self.delay, GROWTH, self.delay_max).nth(step).unwrap_or(self.delay_max)
    }

    /// The longest step that is not longer than the event has waited already.
    fn not_ready_wait(&self, age: Duration) -> Duration {
        let reached =
            steps(self.delay, NOT_READY_GROWTH, self.not_ready_delay_max).take_while(|wait| *wait <= age);
        reached.last().unwrap_or_else(|| self.delay.min(self.not_ready_delay_max))
    }
}

/// `first`, and then each longer than the one before, up to `longest`, which is the last.
fn steps(first: Duration, growth: u32, longest: Duration) -> impl Iterator<Item = Duration> {
    let mut next = Some(first.min(longest));
    std::iter::from_fn(move || {
        let wait = next?;
        next = (wait < longest).then(|| wait.saturating_mul(growth).min(longest));
        Some(wait)
    })
    .take(STEPS_MAX)
}

fn shortened(wait: Duration, salt: u64) -> Duration {
    // A multiplicative hash: salts that follow each other land far apart.
    let part = (salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % (JITTER_PERCENT * 10);
    let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    wait.saturating_sub(Duration::from_millis(millis / 1_000 * part))
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

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    const POLICY: RetryPolicy = RetryPolicy {
        attempts_max: 3,
        delay: secs(5),
        delay_max: secs(300),
        age_max: secs(86_400),
        not_ready_delay_max: secs(3_600),
        not_ready_age_max: secs(259_200),
    };

    fn failing(policy: &RetryPolicy, failed_attempts: u32) -> Option<Duration> {
        match policy.after(RetryClass::Transient, failed_attempts, secs(1), 0) {
            Next::RetryAfter(wait) => Some(wait),
            Next::GiveUp => None,
        }
    }

    fn not_ready(age: u64) -> Option<Duration> {
        match POLICY.after(RetryClass::NotReady, 1_000, secs(age), 0) {
            Next::RetryAfter(wait) => Some(wait),
            Next::GiveUp => None,
        }
    }

    #[test]
    fn an_event_is_run_exactly_as_often_as_allowed_and_its_waits_double() {
        assert_eq!(failing(&POLICY, 1), Some(secs(5)));
        assert_eq!(failing(&POLICY, 2), Some(secs(10)));
        assert_eq!(failing(&POLICY, 3), None);
        assert_eq!(failing(&POLICY, u32::MAX), None);
    }

    #[test]
    fn no_wait_is_longer_than_the_longest() {
        let patient = RetryPolicy { attempts_max: 1_000, ..POLICY };
        assert_eq!(failing(&patient, 6), Some(secs(160)));
        assert_eq!(failing(&patient, 7), Some(secs(300)));
        assert_eq!(failing(&patient, 999), Some(secs(300)));
    }

    #[test]
    fn an_event_that_is_too_old_is_given_up() {
        assert_eq!(POLICY.after(RetryClass::Transient, 1, secs(86_400), 0), Next::GiveUp);
    }

    #[test]
    fn an_event_that_is_not_ready_has_time_instead_of_attempts() {
        assert_eq!(not_ready(0), Some(secs(5)));
        assert_eq!(not_ready(19), Some(secs(5)));
        assert_eq!(not_ready(20), Some(secs(20)));
        assert_eq!(not_ready(100_000), Some(secs(3_600)));
        assert_eq!(not_ready(259_199), Some(secs(3_600)));
        assert_eq!(not_ready(259_200), None);
    }

    #[test]
    fn every_wait_is_announced_before_it_is_asked_for() {
        let waits = POLICY.waits();
        assert_eq!(waits, [5, 10, 20, 80, 320, 1_280, 3_600].map(secs));
        let asked =
            (1..3).filter_map(|n| failing(&POLICY, n)).chain((0..259_200).step_by(977).filter_map(not_ready));
        for wait in asked {
            assert!(waits.contains(&wait), "{wait:?}");
        }
    }

    #[test]
    fn waits_are_spread_and_never_longer_than_announced() {
        let spread: std::collections::BTreeSet<Duration> = (0..100)
            .map(|salt| match POLICY.after(RetryClass::Transient, 1, secs(0), salt) {
                Next::RetryAfter(wait) => wait,
                Next::GiveUp => panic!("given up"),
            })
            .collect();
        assert!(spread.len() > 50, "{}", spread.len());
        assert!(spread.iter().all(|wait| (secs(4)..=secs(5)).contains(wait)), "{spread:?}");
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
