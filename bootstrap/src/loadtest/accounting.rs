//! Whether what was accepted is what the system has: accepted = applied + recorded + dead-lettered + queued.

use serde::Serialize;

use super::system::State;

/// What the senders know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    /// Distinct events ever answered 2xx.
    pub accepted: u64,
    /// Distinct events that were not, and may have been stored all the same.
    pub uncertain: u64,
    /// Requests that may have put an event into the queue once more.
    pub again: u64,
}

/// Where this run's events are, and whether that is all of them and no more.
#[derive(Debug, Clone, Serialize)]
pub struct Accounting {
    /// Events of this run with a committed effect.
    pub applied: u64,
    /// Events of this run recorded as having none.
    pub recorded: u64,
    /// Dead letters that came during the run.
    pub dead_lettered: u64,
    /// Messages that wait, for the first time or for a retry.
    pub queued: u64,
    /// What is wrong, if anything.
    pub wrong: Vec<String>,
}

/// Compares the state after the run with that before. Store totals are of this run's events; the queue
/// holds everybody's, so what it held before weakens only the upper bound.
///
/// `in_hand`: workers may hold deliveries that the broker does not count.
pub(super) fn account(claim: Claim, before: State, after: State, in_hand: bool) -> Accounting {
    let settled = after.settled().saturating_sub(before.settled());
    let dead_lettered = after.dead_letters().saturating_sub(before.dead_letters());
    let somewhere = settled + dead_lettered + after.waiting();
    let most = claim.accepted + claim.uncertain;
    let mut wrong = Vec::new();
    if somewhere < claim.accepted && !in_hand {
        let lost = claim.accepted - somewhere;
        wrong.push(format!("{lost} of {} accepted events are nowhere: LOST", claim.accepted));
    }
    if settled > most {
        wrong.push(format!("{settled} events settled, of {most} that can have been accepted"));
    } else if before.waiting() == 0 && somewhere > most + claim.again {
        let most = most + claim.again;
        wrong.push(format!("{somewhere} events or copies there, of {most} that can have been accepted"));
    }
    Accounting {
        applied: after.totals.applied.saturating_sub(before.totals.applied),
        recorded: after.totals.recorded.saturating_sub(before.totals.recorded),
        dead_lettered,
        queued: after.waiting(),
        wrong,
    }
}

#[cfg(test)]
mod tests {
    use application::ports::event_queue::QueueDepths;
    use application::ports::store_audit::StoreTotals;

    use super::*;

    fn state(applied: u64, recorded: u64, main: u64, dead_letters: u64) -> State {
        State {
            totals: StoreTotals { applied, recorded, dead_letters: 0 },
            depths: QueueDepths { main, retry: 0, dead_letters },
        }
    }

    fn claim(accepted: u64, uncertain: u64, again: u64) -> Claim {
        Claim { accepted, uncertain, again }
    }

    fn holds(claim: Claim, before: State, after: State) -> bool {
        account(claim, before, after, false).wrong.is_empty()
    }

    #[test]
    fn it_holds_when_every_accepted_event_is_somewhere() {
        assert!(holds(claim(10, 0, 0), state(0, 0, 0, 3), state(5, 2, 1, 5)));
    }

    #[test]
    fn one_event_lost_or_invented_is_found() {
        for applied in [9, 11] {
            assert!(!holds(claim(10, 0, 5), state(0, 0, 0, 0), state(applied, 0, 0, 0)), "{applied}");
        }
        assert!(!holds(claim(10, 0, 0), state(0, 0, 0, 0), state(10, 0, 1, 0)));
    }

    #[test]
    fn uncertain_events_may_be_there_or_not() {
        for (applied, fine) in [(9, false), (10, true), (12, true), (13, false)] {
            assert_eq!(holds(claim(10, 2, 0), State::default(), state(applied, 0, 0, 0)), fine, "{applied}");
        }
    }

    #[test]
    fn copies_may_wait_but_not_be_settled() {
        assert!(holds(claim(10, 0, 4), State::default(), state(10, 0, 4, 0)));
        assert!(!holds(claim(10, 0, 4), State::default(), state(10, 0, 5, 0)));
        assert!(!holds(claim(10, 0, 4), State::default(), state(11, 0, 0, 0)));
    }

    #[test]
    fn what_workers_hold_is_not_lost() {
        let wrong = |in_hand| account(claim(10, 0, 0), State::default(), state(4, 0, 1, 0), in_hand).wrong;
        assert_eq!(wrong(true), Vec::<String>::new());
        assert_eq!(wrong(false), ["5 of 10 accepted events are nowhere: LOST"]);
    }
}
