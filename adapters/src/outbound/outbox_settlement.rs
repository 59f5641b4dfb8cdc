//! What is to be stored of a settled batch, whatever the store.

use std::collections::BTreeSet;

use application::ports::outbox::{Settled, Standing, Verdict};

use super::outbox_time::millis;

/// How many messages of a destination may wait for another attempt, or behind one that does. While there are
/// that many, nothing new is handed out to it.
pub(super) const WAITING_MAX: i64 = 10_000;

/// The state of what waits.
const WAITING: &str = "waiting";
/// The state of what was given up.
const FAILED: &str = "failed";

/// A message that is kept apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept<'a> {
    pub seq: i64,
    pub source: &'a str,
    pub payment_id: &'a str,
    pub state: &'static str,
    pub attempts: i32,
    /// `None`: not by itself.
    pub wait_ms: Option<i64>,
    /// `None`: it was not tried.
    pub error: Option<&'a str>,
}

/// What there is to store besides the position.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settlement<'a> {
    /// Messages to keep, or to keep otherwise.
    pub kept: Vec<Kept<'a>>,
    /// Places of messages that waited, and are done.
    pub forgotten: Vec<i64>,
    /// The payments, by source and id, of which another message may now be the first that waits.
    pub payments: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Settlement<'a> {
    pub(super) fn of(settled: &'a [Settled]) -> Self {
        let mut settlement = Self::default();
        for Settled { entry, verdict } in settled {
            let waited = matches!(entry.standing, Standing::Waiting { .. });
            let kept = |state, attempts: u32, wait_ms, error| Kept {
                seq: entry.seq,
                source: &entry.source,
                payment_id: &entry.payment_id,
                state,
                attempts: i32::try_from(attempts).unwrap_or(i32::MAX),
                wait_ms,
                error,
            };
            match verdict {
                Verdict::Done if waited => settlement.forgotten.push(entry.seq),
                Verdict::Done => continue,
                Verdict::TryAgain { after, attempts, error } => {
                    settlement.kept.push(kept(WAITING, *attempts, Some(millis(*after)), Some(error)));
                }
                // It stays as it is.
                Verdict::Behind if waited => {}
                Verdict::Behind => settlement.kept.push(kept(WAITING, 0, None, None)),
                Verdict::Failed { attempts, error } => {
                    settlement.kept.push(kept(FAILED, *attempts, None, Some(error)));
                }
            }
            settlement.payments.insert((&entry.source, &entry.payment_id));
        }
        settlement
    }

    /// Only the position moves.
    pub(super) fn is_simple(&self) -> bool {
        self.payments.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use application::ports::outbox::OutboxEntry;
    use application::testing::outbox_entry;

    use super::*;

    fn settled(seq: i64, payment: &str, standing: Standing, verdict: Verdict) -> Settled {
        Settled { entry: OutboxEntry { standing, ..outbox_entry(seq, payment) }, verdict }
    }

    const WAITED: Standing = Standing::Waiting { attempts: 1, tried_for: Duration::ZERO };

    #[test]
    fn what_is_delivered_at_once_leaves_nothing_to_store() {
        let settled = [settled(1, "pi_1", Standing::New, Verdict::Done)];
        assert!(Settlement::of(&settled).is_simple());
    }

    #[test]
    fn what_waited_and_is_delivered_is_forgotten_and_its_payment_goes_on() {
        let settled = [settled(1, "pi_1", WAITED, Verdict::Done)];
        let settlement = Settlement::of(&settled);
        assert_eq!((settlement.forgotten, settlement.kept), (vec![1], vec![]));
        assert_eq!(settlement.payments, BTreeSet::from([("payment", "pi_1")]));
    }

    #[test]
    fn what_was_not_tried_is_kept_without_a_time_unless_it_is_kept_already() {
        let settled = [
            settled(1, "pi_1", WAITED, Verdict::Behind),
            settled(2, "pi_1", Standing::Behind, Verdict::Behind),
        ];
        let settlement = Settlement::of(&settled);
        assert_eq!(settlement.kept.len(), 1);
        let kept = &settlement.kept[0];
        assert_eq!((kept.seq, kept.state, kept.wait_ms, kept.error), (2, "waiting", None, None));
        assert_eq!(settlement.payments.len(), 1);
    }

    #[test]
    fn a_failure_is_kept_with_its_reason() {
        let again =
            Verdict::TryAgain { after: Duration::from_secs(5), attempts: 2, error: "HTTP 500".to_owned() };
        let given_up = Verdict::Failed { attempts: 3, error: "HTTP 400".to_owned() };
        let settled = [settled(1, "pi_1", WAITED, again), settled(2, "pi_2", Standing::New, given_up)];
        let settlement = Settlement::of(&settled);
        let told: Vec<_> = settlement
            .kept
            .iter()
            .map(|kept| (kept.seq, kept.state, kept.attempts, kept.wait_ms, kept.error))
            .collect();
        assert_eq!(
            told,
            [(1, "waiting", 2, Some(5000), Some("HTTP 500")), (2, "failed", 3, None, Some("HTTP 400"))]
        );
    }
}
