//! A batch of envelopes becomes one transaction, and a disposition for each.
//!
//! The batch is the unit: one transaction carries it. A permanent failure, a transient one that stays, and
//! an event that is impossible make the batch run again in smaller units, so that only the culprit pays.

mod unit;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use domain::{EventKey, Fingerprint, PaymentEvent};

use crate::disposition::{DeadLetterReason, Disposition, DuplicateLayer, RetryClass};
use crate::envelope::Envelope;
use crate::error_chain::describe;
use crate::ports::provider::Sources;
use crate::ports::seen_events::{Seen, SeenEvents};
use crate::ports::unit_of_work::{StoreError, UnitOfWork};
use unit::{Unapplied, UnitOutcome};

/// How often a unit that failed transiently is run again at once, before it counts as an attempt.
const QUICK_RERUNS_MAX: usize = 3;
/// The wait before the first of these reruns; it doubles, with jitter.
const QUICK_RERUN_WAIT: Duration = Duration::from_millis(5);

/// Processes batches for one consumer.
#[derive(Clone)]
pub struct ProcessEvents {
    sources: Sources,
    store: Arc<dyn UnitOfWork>,
    seen: Arc<dyn SeenEvents>,
}

/// An event of the batch that needs the store, with its place in the batch.
#[derive(Debug, Clone)]
struct Candidate {
    position: usize,
    event: PaymentEvent,
    meaning: Fingerprint,
    payload: bytes::Bytes,
}

impl ProcessEvents {
    /// Translates by `sources`, applies in `store`, remembers in `seen`.
    pub fn new(sources: Sources, store: Arc<dyn UnitOfWork>, seen: Arc<dyn SeenEvents>) -> Self {
        Self { sources, store, seen }
    }

    /// Whether the store can be written to.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.store.probe().await
    }

    /// Element `i` answers `envelopes[i]`. What is said is durable: `Applied`, `Recorded` and `Duplicate`
    /// come only after the commit has returned.
    pub async fn run(&self, envelopes: &[Envelope]) -> Vec<Disposition> {
        let mut dispositions: Vec<Option<Disposition>> = vec![None; envelopes.len()];
        let mut copies_of: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut later = Vec::new();
        let first = self.translate(envelopes, &mut dispositions);
        let first = split_copies(first, &mut copies_of, &mut later);
        self.run_distinct(first, &mut dispositions).await;
        // The same key with another meaning in one batch: judged against what the first has committed.
        for candidate in later {
            self.run_distinct(vec![candidate], &mut dispositions).await;
        }
        for (original, copies) in copies_of {
            for copy in copies {
                dispositions[copy] = dispositions[original].as_ref().map(as_copy);
            }
        }
        dispositions.into_iter().map(|disposition| disposition.unwrap_or_else(unjudged)).collect()
    }

    fn translate(&self, envelopes: &[Envelope], dispositions: &mut [Option<Disposition>]) -> Vec<Candidate> {
        let mut candidates = Vec::with_capacity(envelopes.len());
        for (position, envelope) in envelopes.iter().enumerate() {
            let Some(provider) = self.sources.get(&envelope.key.source) else {
                let reason = format!("the source {:?} is not configured", envelope.key.source.as_str());
                dispositions[position] =
                    Some(Disposition::DeadLetter(DeadLetterReason::Untranslatable(reason)));
                continue;
            };
            match provider.translate(envelope) {
                Ok(event) => {
                    let meaning = event.fingerprint();
                    candidates.push(Candidate {
                        position,
                        event,
                        meaning,
                        payload: envelope.payload.clone(),
                    });
                }
                Err(error) => dispositions[position] = Some(Disposition::DeadLetter(error.into())),
            }
        }
        candidates
    }

    /// Runs candidates whose keys are distinct.
    async fn run_distinct(&self, candidates: Vec<Candidate>, dispositions: &mut [Option<Disposition>]) {
        let fresh = self.ask_cache(candidates, dispositions).await;
        if fresh.is_empty() {
            return;
        }
        let judged = match self.run_with_reruns(&fresh).await {
            Ok(judged) => judged,
            Err(StoreError::Unavailable(error)) => {
                let down = StoreError::Unavailable(error);
                vec![Some(retry(RetryClass::DependencyDown, &down)); fresh.len()]
            }
            Err(error @ (StoreError::Transient(_) | StoreError::Permanent(_))) if fresh.len() == 1 => {
                vec![Some(alone_verdict(&error))]
            }
            Err(StoreError::Transient(_) | StoreError::Permanent(_)) => vec![None; fresh.len()],
        };
        for (candidate, verdict) in fresh.iter().zip(judged) {
            dispositions[candidate.position] = match verdict {
                Some(verdict) => Some(verdict),
                None => Some(self.run_alone(candidate).await),
            };
        }
        self.remember(&fresh, dispositions).await;
    }

    /// Answers what the cache knows for certain; gives back what only the database can tell.
    async fn ask_cache(
        &self,
        candidates: Vec<Candidate>,
        dispositions: &mut [Option<Disposition>],
    ) -> Vec<Candidate> {
        if candidates.is_empty() {
            return candidates;
        }
        let keys: Vec<EventKey> = candidates.iter().map(|candidate| candidate.event.key.clone()).collect();
        let seen = self.seen.look(&keys).await;
        let mut fresh = Vec::with_capacity(candidates.len());
        for (index, candidate) in candidates.into_iter().enumerate() {
            match seen.get(index) {
                Some(Seen::Committed(meaning)) if *meaning == candidate.meaning => {
                    dispositions[candidate.position] = Some(Disposition::Duplicate(DuplicateLayer::Cache));
                }
                // Another meaning under the same key is a conflict, which the database confirms.
                _ => fresh.push(candidate),
            }
        }
        fresh
    }

    /// One unit, rerun at once a few times while it fails transiently. `None` for an event that was left
    /// out because it is impossible among these, and must be judged alone.
    async fn run_with_reruns(
        &self,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Disposition>>, StoreError> {
        let mut waits = ExponentialBuilder::default()
            .with_min_delay(QUICK_RERUN_WAIT)
            .with_max_times(QUICK_RERUNS_MAX)
            .with_jitter()
            .build();
        let mut verdicts = vec![None; candidates.len()];
        let mut remaining: Vec<usize> = (0..candidates.len()).collect();
        loop {
            let batch: Vec<&Candidate> = remaining.iter().map(|index| &candidates[*index]).collect();
            if batch.is_empty() {
                return Ok(verdicts);
            }
            match unit::run(self.store.as_ref(), &batch).await {
                Ok(UnitOutcome::Committed(judged)) => {
                    for (index, verdict) in remaining.iter().zip(judged) {
                        verdicts[*index] = Some(verdict);
                    }
                    return Ok(verdicts);
                }
                Ok(UnitOutcome::Unapplied(unapplied)) if batch.len() == 1 => {
                    verdicts[remaining[0]] = unapplied.into_iter().next().map(|(_, why)| why.into());
                    return Ok(verdicts);
                }
                Ok(UnitOutcome::Unapplied(unapplied)) => {
                    let mut place = 0..;
                    remaining.retain(|_| {
                        let here = place.next();
                        !unapplied.iter().any(|(index, _)| Some(*index) == here)
                    });
                }
                Err(error @ StoreError::Transient(_)) => match waits.next() {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            }
        }
    }

    async fn run_alone(&self, candidate: &Candidate) -> Disposition {
        match self.run_with_reruns(std::slice::from_ref(candidate)).await {
            Ok(verdicts) => verdicts.into_iter().next().flatten().unwrap_or_else(unjudged),
            Err(error) => alone_verdict(&error),
        }
    }

    async fn remember(&self, candidates: &[Candidate], dispositions: &[Option<Disposition>]) {
        let committed: Vec<(EventKey, Fingerprint)> = candidates
            .iter()
            .filter(|candidate| {
                matches!(
                    dispositions[candidate.position],
                    Some(Disposition::Applied | Disposition::Recorded(_) | Disposition::Duplicate(_))
                )
            })
            .map(|candidate| (candidate.event.key.clone(), candidate.meaning))
            .collect();
        if !committed.is_empty() {
            self.seen.mark_committed(&committed).await;
        }
    }
}

/// Keeps the first candidate of each key. A later one of the same meaning is a copy of it; a later one of
/// another meaning runs after it.
fn split_copies(
    candidates: Vec<Candidate>,
    copies_of: &mut HashMap<usize, Vec<usize>>,
    later: &mut Vec<Candidate>,
) -> Vec<Candidate> {
    let mut first_of: HashMap<EventKey, (usize, Fingerprint)> = HashMap::with_capacity(candidates.len());
    let mut distinct = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let meaning = candidate.meaning;
        match first_of.get(&candidate.event.key) {
            None => {
                first_of.insert(candidate.event.key.clone(), (candidate.position, meaning));
                distinct.push(candidate);
            }
            Some((original, first_meaning)) if *first_meaning == meaning => {
                copies_of.entry(*original).or_default().push(candidate.position);
            }
            Some(_) => later.push(candidate),
        }
    }
    distinct
}

/// What a copy is when its original is `original`: a duplicate only of something that is committed.
fn as_copy(original: &Disposition) -> Disposition {
    match original {
        Disposition::Applied | Disposition::Recorded(_) => Disposition::Duplicate(DuplicateLayer::Batch),
        other => other.clone(),
    }
}

impl From<Unapplied> for Disposition {
    fn from(why: Unapplied) -> Self {
        match why {
            Unapplied::Refused(refusal) => Self::DeadLetter(DeadLetterReason::Refused(refusal)),
            Unapplied::NotReady(waits_for) => Self::Retry(RetryClass::NotReady, waits_for.to_string()),
        }
    }
}

fn alone_verdict(error: &StoreError) -> Disposition {
    match error {
        StoreError::Unavailable(_) => retry(RetryClass::DependencyDown, error),
        StoreError::Transient(_) => retry(RetryClass::Transient, error),
        StoreError::Permanent(_) => Disposition::DeadLetter(error.into()),
    }
}

fn retry(class: RetryClass, error: &StoreError) -> Disposition {
    Disposition::Retry(class, describe(error))
}

/// A port that answered fewer elements than it was asked leaves events unjudged. Nothing is known of them,
/// so they are run again, and end as dead letters if it stays so.
fn unjudged() -> Disposition {
    Disposition::Retry(RetryClass::Transient, "no verdict was given for this event".to_owned())
}

#[cfg(test)]
mod tests;
