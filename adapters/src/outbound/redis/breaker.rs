//! Leaves a failing service alone for a while, so that its time-outs are not paid on every call.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::Timestamp;

/// A circuit breaker: closed while calls succeed; open for a set time after a failure; then one call may
/// try, and its outcome closes it or opens it again.
#[derive(Debug)]
pub struct Breaker {
    open_for: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    /// Nothing passes before `since` and the open time have passed.
    Open {
        since: Timestamp,
    },
    /// One call tries. Should it never report (its task was dropped), another may after the open time.
    HalfOpen {
        since: Timestamp,
    },
}

impl Breaker {
    /// A closed breaker that opens for `open_for`.
    pub const fn new(open_for: Duration) -> Self {
        Self { open_for, state: Mutex::new(State::Closed) }
    }

    /// Whether a call may be made now.
    pub fn admits(&self, now: Timestamp) -> bool {
        self.with_state(|state| match *state {
            State::Closed => true,
            State::Open { since } | State::HalfOpen { since } if self.is_over(since, now) => {
                *state = State::HalfOpen { since: now };
                true
            }
            State::Open { .. } | State::HalfOpen { .. } => false,
        })
    }

    /// A call succeeded. `true` when that closed the breaker.
    pub fn succeeded(&self) -> bool {
        self.with_state(|state| std::mem::replace(state, State::Closed) != State::Closed)
    }

    /// A call failed. `true` when that opened the breaker, which is worth one warning.
    pub fn failed(&self, now: Timestamp) -> bool {
        self.with_state(|state| match *state {
            // A call from before the opening that reports late.
            State::Open { .. } => false,
            State::Closed | State::HalfOpen { .. } => {
                *state = State::Open { since: now };
                true
            }
        })
    }

    fn is_over(&self, since: Timestamp, now: Timestamp) -> bool {
        // A clock that was set back must not keep it open for longer.
        now < since || now.since(since) >= self.open_for
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(secs: i64) -> Timestamp {
        Timestamp::from_micros(secs * 1_000_000)
    }

    fn breaker() -> Breaker {
        Breaker::new(Duration::from_secs(5))
    }

    #[test]
    fn a_failure_opens_it_for_the_set_time() {
        let breaker = breaker();
        assert!(breaker.admits(at(0)));
        assert!(breaker.failed(at(0)));
        assert!(!breaker.admits(at(4)));
        assert!(breaker.admits(at(5)));
    }

    #[test]
    fn only_the_failure_that_opens_it_is_told() {
        let breaker = breaker();
        assert!(breaker.failed(at(0)));
        assert!(!breaker.failed(at(1)));
        assert!(!breaker.failed(at(2)));
    }

    #[test]
    fn after_the_open_time_one_call_tries_alone() {
        let breaker = breaker();
        breaker.failed(at(0));
        assert!(breaker.admits(at(5)));
        assert!(!breaker.admits(at(5)));
        assert!(breaker.succeeded());
        assert!(breaker.admits(at(5)));
        assert!(!breaker.succeeded());
    }

    #[test]
    fn a_failed_trial_opens_it_again_and_is_told() {
        let breaker = breaker();
        breaker.failed(at(0));
        assert!(breaker.admits(at(5)));
        assert!(breaker.failed(at(5)));
        assert!(!breaker.admits(at(9)));
        assert!(breaker.admits(at(10)));
    }

    #[test]
    fn a_trial_that_never_reports_is_replaced() {
        let breaker = breaker();
        breaker.failed(at(0));
        assert!(breaker.admits(at(5)));
        assert!(!breaker.admits(at(9)));
        assert!(breaker.admits(at(10)));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_hold_it_open() {
        let breaker = breaker();
        breaker.failed(at(1_000));
        assert!(breaker.admits(at(1)));
    }
}
