//! What Chapa's events mean.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, Money, NoEffect, PaymentId};

use crate::providers::facts::{captured_once, change, charged_once};
use crate::providers::identity::first_id;
use crate::providers::json::Object;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

/// The payment: the merchant's reference, which Chapa takes once only, or else Chapa's own.
const PAYMENT_IDS: [&str; 2] = ["tx_ref", "reference"];

/// The payout: Chapa's reference, or else the merchant's.
const PAYOUT_IDS: [&str; 2] = ["chapa_reference", "reference"];

pub fn translate(payload: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(payload)?;
    let object = root.object();
    let name = object.text("event");
    Ok(Translation {
        kind: event_kind(name.as_deref())?,
        live: live(object),
        occurred_at: ["updated_at", "created_at"].iter().find_map(|name| moment::rfc3339(object.get(name)?)),
        effect: effect(&root, name.as_deref().unwrap_or_default())?,
    })
}

fn live(root: &Object<'_>) -> Option<bool> {
    match root.text("mode")?.as_ref() {
        "live" => Some(true),
        "test" => Some(false),
        _ => None,
    }
}

fn effect(root: &Members<'_>, name: &str) -> Result<Effect, Untranslatable> {
    let payment = || first_id(root, &PAYMENT_IDS, PaymentId::parse);
    let payout = || first_id(root, &PAYOUT_IDS, PaymentId::parse);
    let (id, facts) = match name {
        "charge.success" => (payment()?, captured(root)?),
        "charge.failed/cancelled" | "charge.failed" | "charge.cancelled" => {
            (payment()?, vec![Fact::Failed { attempt: root.id("reference", FactId::parse)? }])
        }
        // Which refund it was is not told, only what the payment's refunds come to.
        "charge.refunded" | "charge.reversed" => {
            (payment()?, vec![Fact::RefundedInAll { total: money(root, "amount")? }])
        }
        "payout.success" => (payout()?, vec![Fact::PayoutPaid { amount: money(root, "amount")? }]),
        "payout.failed/cancelled" | "payout.failed" | "payout.cancelled" => {
            (payout()?, vec![Fact::PayoutFailed { amount: money(root, "amount")? }])
        }
        _ => return Ok(Effect::Nothing(NoEffect::Kind)),
    };
    Ok(change(id, None, facts))
}

fn captured(root: &Members<'_>) -> Result<Vec<Fact>, Untranslatable> {
    if root.object().text("status").is_some_and(|status| status != "success") {
        return Err(root.wrong("status", "contradicts the event, which says success"));
    }
    let mut facts = vec![captured_once(money(root, "amount")?)?];
    if root.object().get("charge").is_some() {
        facts.extend(charged_once(money(root, "charge")?)?);
    }
    Ok(facts)
}

fn money(root: &Members<'_>, name: &str) -> Result<Money, Untranslatable> {
    root.major(name, "currency", &[])
}
