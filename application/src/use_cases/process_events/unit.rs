//! One transaction over a set of events with distinct keys.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Decision, Payment, PaymentEvent, PaymentKey, RecordReason, Refusal, decide};

use super::Candidate;
use crate::disposition::{DeadLetterReason, Disposition, DuplicateLayer};
use crate::ports::unit_of_work::{Claim, RecordedEvent, StoreError, Transaction, UnitOfWork};

/// How a unit ended.
pub(super) enum UnitOutcome {
    /// Committed; one disposition for each event, in order.
    Committed(Vec<Disposition>),
    /// Rolled back, because these events (by their place) are impossible.
    Refused(Vec<(usize, Refusal)>),
}

/// Runs one unit. An error means that nothing of it is known to be committed.
pub(super) async fn run(store: &dyn UnitOfWork, batch: &[&Candidate]) -> Result<UnitOutcome, StoreError> {
    let mut transaction = store.begin().await?;
    let events: Vec<PaymentEvent> = batch.iter().map(|candidate| candidate.event.clone()).collect();
    let claims = transaction.claim(&events).await?;
    let mut payments = lock_payments(transaction.as_mut(), &events, &claims).await?;
    let mut changed = BTreeSet::new();
    let mut recorded = Vec::new();
    let mut refused = Vec::new();
    let mut dispositions = Vec::with_capacity(events.len());
    for (index, (event, claim)) in events.iter().zip(&claims).enumerate() {
        let disposition = match claim {
            Claim::Duplicate => Disposition::Duplicate(DuplicateLayer::Database),
            Claim::Conflict { stored } => Disposition::DeadLetter(DeadLetterReason::Conflict {
                stored: Some(*stored),
                claimed: event.fingerprint(),
            }),
            Claim::Fresh => {
                let current = event.payment_key().and_then(|key| payments.get(&key));
                match decide(current, event) {
                    Ok(Decision::Apply(payment)) => {
                        changed.insert(payment.key.clone());
                        payments.insert(payment.key.clone(), payment);
                        Disposition::Applied
                    }
                    Ok(Decision::Record(reason)) => {
                        recorded.push(record(batch[index], reason));
                        Disposition::Recorded(reason)
                    }
                    Err(refusal) => {
                        refused.push((index, refusal));
                        continue;
                    }
                }
            }
        };
        dispositions.push(disposition);
    }
    if !refused.is_empty() {
        // The claim of an impossible event must not be committed: the unit is dropped, which rolls it back.
        return Ok(UnitOutcome::Refused(refused));
    }
    save(transaction.as_mut(), &payments, &changed, &recorded).await?;
    transaction.commit().await?;
    Ok(UnitOutcome::Committed(dispositions))
}

async fn lock_payments(
    transaction: &mut dyn Transaction,
    events: &[PaymentEvent],
    claims: &[Claim],
) -> Result<BTreeMap<PaymentKey, Payment>, StoreError> {
    let keys: BTreeSet<PaymentKey> = events
        .iter()
        .zip(claims)
        .filter(|(_, claim)| **claim == Claim::Fresh)
        .filter_map(|(event, _)| event.payment_key())
        .collect();
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let keys: Vec<PaymentKey> = keys.into_iter().collect();
    let payments = transaction.lock_payments(&keys).await?;
    Ok(payments.into_iter().map(|payment| (payment.key.clone(), payment)).collect())
}

async fn save(
    transaction: &mut dyn Transaction,
    payments: &BTreeMap<PaymentKey, Payment>,
    changed: &BTreeSet<PaymentKey>,
    recorded: &[RecordedEvent],
) -> Result<(), StoreError> {
    // In key order, so that units of all workers take their locks in one order.
    let changed: Vec<Payment> = changed.iter().filter_map(|key| payments.get(key).cloned()).collect();
    if !changed.is_empty() {
        transaction.save_payments(&changed).await?;
    }
    if !recorded.is_empty() {
        transaction.record(recorded).await?;
    }
    Ok(())
}

fn record(candidate: &Candidate, reason: RecordReason) -> RecordedEvent {
    RecordedEvent { event: candidate.event.clone(), reason, payload: candidate.payload.clone() }
}
