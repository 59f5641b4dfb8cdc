//! What GoCardless's events mean. None of them names an amount: one that moves money is a hint to look at the
//! payment, refund or payout, and only what needs no amount counts by itself.

use application::ports::provider::Untranslatable;
use domain::{Effect, EventId, Fact, FactId, MerchantId, NoEffect, PaymentId, Progress};

use crate::providers::facts::change;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment::rfc3339;
use crate::providers::pack::Translation;

/// The event of that id in a body.
pub fn translate(body: &[u8], id: &EventId) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(body)?;
    let events = root.object().array("events").ok_or_else(|| root.wrong("events", "is not an array"))?;
    let event = events
        .into_iter()
        .enumerate()
        .filter_map(|(index, event)| Members::of_value(event, format!("/events/{index}")))
        .find(|event| event.object().text_or_number("id").as_deref() == Some(id.as_str()))
        .ok_or_else(|| root.wrong("events", "has no event of this id"))?;
    let object = event.object();
    let (resource, action) = (object.text("resource_type"), object.text("action"));
    let (kind, effect) = match (resource.as_deref(), action.as_deref()) {
        (Some(resource), Some(action)) => {
            (Some(format!("{resource}.{action}")), effect(resource, action, &event, id)?)
        }
        _ => (None, Effect::Nothing(NoEffect::Kind)),
    };
    let occurred_at = object.get("created_at").and_then(rfc3339);
    Ok(Translation { kind: event_kind(kind.as_deref())?, live: None, occurred_at, effect })
}

fn effect(resource: &str, action: &str, event: &Members<'_>, id: &EventId) -> Result<Effect, Untranslatable> {
    let fact = match (resource, action) {
        ("payments", "created") => Fact::Progressed { progress: Progress::Created },
        ("payments", "submitted" | "customer_approval_granted" | "resubmission_requested") => {
            Fact::Progressed { progress: Progress::Processing }
        }
        // A payment is tried again after a failure and can fail again; only the event tells the two apart.
        ("payments", "failed") => Fact::Failed { attempt: same_id(id)? },
        ("payments", "cancelled" | "customer_approval_denied") => Fact::Canceled,
        _ if moves_money(resource, action) => return Ok(Effect::Nothing(NoEffect::Unconfirmed)),
        _ => return Ok(Effect::Nothing(NoEffect::Kind)),
    };
    let links = event.child("links")?;
    let payment = links.id("payment", PaymentId::parse)?;
    // Only what is sent to a partner, for whom one endpoint carries many organisations, names one.
    let merchant = match links.object().get("organisation") {
        Some(_) => Some(links.id("organisation", MerchantId::parse)?),
        None => None,
    };
    Ok(change(payment, merchant, vec![fact]))
}

/// What the missing amount keeps from counting. The `…_settled` actions are not here: they tell which payout
/// holds what had moved before.
fn moves_money(resource: &str, action: &str) -> bool {
    matches!(
        (resource, action),
        (
            "payments",
            "confirmed" | "paid_out" | "charged_back" | "chargeback_cancelled" | "surcharge_fee_debited"
        ) | ("refunds", "created" | "paid" | "failed" | "bounced" | "funds_returned")
            | ("payouts", "paid")
    )
}

fn same_id(id: &EventId) -> Result<FactId, Untranslatable> {
    FactId::parse(id.as_str()).map_err(|error| Untranslatable(format!("the event id {error}")))
}
