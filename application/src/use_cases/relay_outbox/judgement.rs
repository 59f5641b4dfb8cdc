//! What becomes of a batch, by what became of its messages.

use std::time::Duration;

use super::route::{RETRY_DELAY_MAX, Route};
use crate::backoff::waits;
use crate::ports::destination::DeliveryOutcome;
use crate::ports::outbox::{OutboxEntry, Settled, Standing, Verdict};

/// What becomes of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// The destination takes nothing. That is nobody's attempt, so nothing is settled.
    Away { error: String, retry_after: Option<Duration> },
    /// Every entry has its verdict.
    Settle { settled: Vec<Settled>, delivered: usize, refused_all: bool },
}

/// Judges the entries by their outcomes; an entry without one was not to be sent.
///
/// Whether a destination is away is told by the whole batch: one message that it cannot answer looks the same
/// as an absence, until another one is delivered or at least refused.
pub(super) fn judge(told: Vec<(OutboxEntry, Option<DeliveryOutcome>)>, route: &Route) -> Judgement {
    let answered = told.iter().any(|(_, outcome)| {
        matches!(outcome, Some(DeliveryOutcome::Delivered | DeliveryOutcome::Refused { .. }))
    });
    if !answered && let Some(away) = away(&told) {
        return away;
    }
    let delivered = told.iter().filter(|(_, outcome)| *outcome == Some(DeliveryOutcome::Delivered)).count();
    let sent = told.iter().filter(|(_, outcome)| outcome.is_some()).count();
    let settled = told
        .into_iter()
        .map(|(entry, outcome)| {
            let verdict = verdict(&entry, outcome, route);
            Settled { entry, verdict }
        })
        .collect();
    Judgement::Settle { settled, delivered, refused_all: sent > 0 && delivered == 0 }
}

/// The first error and the longest wait that is asked for, where there is an error.
fn away(told: &[(OutboxEntry, Option<DeliveryOutcome>)]) -> Option<Judgement> {
    let unavailable = || {
        told.iter().filter_map(|(_, outcome)| match outcome {
            Some(DeliveryOutcome::Unavailable { error, retry_after }) => Some((error, *retry_after)),
            _ => None,
        })
    };
    let (error, _) = unavailable().next()?;
    let retry_after = unavailable().filter_map(|(_, retry_after)| retry_after).max();
    Some(Judgement::Away { error: error.clone(), retry_after })
}

fn verdict(entry: &OutboxEntry, outcome: Option<DeliveryOutcome>, route: &Route) -> Verdict {
    match outcome {
        None if entry.standing == Standing::Behind && route.kinds.wants(&entry.kind) => Verdict::Behind,
        None | Some(DeliveryOutcome::Delivered) => Verdict::Done,
        Some(DeliveryOutcome::NotTried) => Verdict::Behind,
        Some(
            DeliveryOutcome::Refused { error } | DeliveryOutcome::Unavailable { error, retry_after: None },
        ) => {
            let attempts = attempts(entry).saturating_add(1);
            after_failure(entry, attempts, backoff(route.retry_delay, attempts), error, route)
        }
        // It was told to come later: that is not held against the message.
        Some(DeliveryOutcome::Unavailable { error, retry_after: Some(after) }) => {
            after_failure(entry, attempts(entry), after, error, route)
        }
    }
}

fn after_failure(
    entry: &OutboxEntry,
    attempts: u32,
    after: Duration,
    error: String,
    route: &Route,
) -> Verdict {
    let tried_for = match entry.standing {
        Standing::Waiting { tried_for, .. } => tried_for,
        Standing::New | Standing::Behind => Duration::ZERO,
    };
    if attempts >= route.attempts_max || tried_for >= route.max_age {
        Verdict::Failed { attempts, error }
    } else {
        Verdict::TryAgain { after, attempts, error }
    }
}

const fn attempts(entry: &OutboxEntry) -> u32 {
    match entry.standing {
        Standing::Waiting { attempts, .. } => attempts,
        Standing::New | Standing::Behind => 0,
    }
}

/// How long a message waits after `attempts` failures, at least 1.
fn backoff(first: Duration, attempts: u32) -> Duration {
    let place = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    waits(first, RETRY_DELAY_MAX).nth(place).unwrap_or(RETRY_DELAY_MAX)
}

#[cfg(test)]
mod tests;
