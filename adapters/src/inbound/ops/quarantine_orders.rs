//! What operators order about rejected requests, and that it is written down.

use application::error_chain::describe;
use application::operator::{OperatorAction, OperatorOrder};
use application::ports::quarantine::QuarantineError;
use application::use_cases::ReviewQuarantine;
use application::use_cases::review_quarantine::ReviewError;
use domain::EventId;

use super::services::OpsServices;

/// Takes the request `id` in.
///
/// # Errors
/// It is still refused, is there no more, or its events could not be stored.
pub async fn admit(
    services: &OpsServices,
    review: &ReviewQuarantine,
    id: i64,
    order: &OperatorOrder,
) -> Result<Vec<EventId>, ReviewError> {
    let events = review.admit(id).await?;
    let names: Vec<&str> = events.iter().map(EventId::as_str).collect();
    write_down(services, order, "admit rejected request", format!("request {id}: {}", names.join(", ")))
        .await;
    Ok(events)
}

/// Lets the request `id` go. `false` when it was there no more.
///
/// # Errors
/// The quarantine did not do it.
pub async fn discard(
    services: &OpsServices,
    review: &ReviewQuarantine,
    id: i64,
    order: &OperatorOrder,
) -> Result<bool, QuarantineError> {
    let was_there = review.discard(id).await?;
    if was_there {
        write_down(services, order, "discard rejected request", format!("request {id}")).await;
    }
    Ok(was_there)
}

/// In the store where there is one, and always in the log: a receiver has no store, and what was done is done
/// even while the store is away.
async fn write_down(services: &OpsServices, order: &OperatorOrder, what: &'static str, target: String) {
    tracing::info!(
        actor = order.actor.as_str(),
        target_of_order = target,
        why = order.why.as_str(),
        "{what}"
    );
    let Ok(store) = services.store() else { return };
    let action = OperatorAction { order: order.clone(), what: what.to_owned(), target };
    if let Err(error) = store.actions.record(&action).await {
        tracing::warn!(error = describe(&error), actor = order.actor.as_str(), what, "not written down");
    }
}
