//! One transaction over a set of events with distinct keys.

mod draft;

use domain::{NotReady, PaymentEvent, Refusal};

use super::Candidate;
use crate::disposition::Disposition;
use crate::ports::unit_of_work::{StoreError, UnitOfWork};
use draft::Draft;

/// How a unit ended.
pub(super) enum UnitOutcome {
    /// Committed; one disposition for each event, in order.
    Committed(Vec<Disposition>),
    /// Rolled back, because these events (by their place) cannot be applied among the others.
    Unapplied(Vec<(usize, Unapplied)>),
}

/// Why an event cannot be applied.
pub(super) enum Unapplied {
    /// It is impossible.
    Refused(Refusal),
    /// It waits for another event.
    NotReady(NotReady),
}

/// Runs one unit. An error means that nothing of it is known to be committed.
pub(super) async fn run(store: &dyn UnitOfWork, batch: &[&Candidate]) -> Result<UnitOutcome, StoreError> {
    let mut transaction = store.begin().await?;
    let events: Vec<PaymentEvent> = batch.iter().map(|candidate| candidate.event.clone()).collect();
    let claims = transaction.claim(&events).await?;
    let mut draft = Draft::load(transaction.as_mut(), &events, &claims).await?;
    let unapplied = draft.decide_all(batch, &claims);
    if !unapplied.is_empty() {
        // The claim of an event that is not applied must not be committed: the unit is dropped, which rolls
        // it back.
        return Ok(UnitOutcome::Unapplied(unapplied));
    }
    draft.save(transaction.as_mut()).await?;
    transaction.commit().await?;
    Ok(UnitOutcome::Committed(draft.into_dispositions()))
}
