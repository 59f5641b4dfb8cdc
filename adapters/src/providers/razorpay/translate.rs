//! What Razorpay's events mean.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, MerchantId, Money, NoEffect, PaymentId};

use crate::providers::amount;
use crate::providers::facts::{captured_once, change, charged_once, failed_refund};
use crate::providers::members::{Members, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

/// What a settlement is in, which does not say it.
const SETTLEMENT_CURRENCY: &str = "INR";

pub fn translate(payload: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(payload)?;
    let name = root.object().text("event");
    Ok(Translation {
        kind: event_kind(name.as_deref())?,
        live: None,
        occurred_at: root.object().get("created_at").and_then(moment::unix_seconds),
        effect: effect(&root, name.as_deref().unwrap_or_default())?,
    })
}

fn effect(root: &Members<'_>, name: &str) -> Result<Effect, Untranslatable> {
    let (payment, facts) = match name {
        "payment.authorized" => {
            let payment = entity(root, "payment")?;
            (id_of(&payment)?, vec![Fact::Authorised { amount: amount_of(&payment)? }])
        }
        // Both are sent for one change, each with the payment.
        "payment.captured" | "order.paid" => captured(&entity(root, "payment")?)?,
        "payment.failed" => {
            let payment = entity(root, "payment")?;
            (id_of(&payment)?, vec![Fact::Failed { attempt: payment.id("id", FactId::parse)? }])
        }
        // A refund may be processed when it is created; each of the two tells of the same refund.
        "refund.created" | "refund.processed" => {
            refund(&entity(root, "refund")?, |refund, amount| vec![Fact::Refunded { refund, amount }])?
        }
        "refund.failed" => refund(&entity(root, "refund")?, failed_refund)?,
        "payment.dispute.created" => dispute(&entity(root, "dispute")?, Outcome::Open)?,
        "payment.dispute.won" => dispute(&entity(root, "dispute")?, Outcome::Won)?,
        "payment.dispute.lost" => dispute(&entity(root, "dispute")?, Outcome::Lost)?,
        "payment.dispute.closed" => {
            let entity = entity(root, "dispute")?;
            let outcome = closed(&entity);
            dispute(&entity, outcome)?
        }
        "settlement.processed" => {
            let settlement = entity(root, "settlement")?;
            (id_of(&settlement)?, vec![Fact::PayoutPaid { amount: settled(&settlement)? }])
        }
        _ => return Ok(Effect::Nothing(NoEffect::Kind)),
    };
    Ok(change(payment, merchant(root)?, facts))
}

fn entity<'a>(root: &Members<'a>, name: &str) -> Result<Members<'a>, Untranslatable> {
    root.child("payload")?.child(name)?.child("entity")
}

fn id_of(entity: &Members<'_>) -> Result<PaymentId, Untranslatable> {
    entity.id("id", PaymentId::parse)
}

fn amount_of(entity: &Members<'_>) -> Result<Money, Untranslatable> {
    entity.minor("amount", "currency")
}

/// One URL can serve the accounts of several merchants.
fn merchant(root: &Members<'_>) -> Result<Option<MerchantId>, Untranslatable> {
    match root.object().get("account_id") {
        Some(_) => root.id("account_id", MerchantId::parse).map(Some),
        None => Ok(None),
    }
}

fn captured(payment: &Members<'_>) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let mut facts = vec![captured_once(amount_of(payment)?)?];
    if payment.object().get("fee").is_some() && fee_is_in_the_payments_currency(payment) {
        facts.extend(charged_once(payment.minor("fee", "currency")?)?);
    }
    Ok((id_of(payment)?, facts))
}

/// The fee of an international payment is in the merchant's currency, in which `base_amount` is too.
fn fee_is_in_the_payments_currency(payment: &Members<'_>) -> bool {
    let object = payment.object();
    let differs = |ours: &str, base: &str| match (object.get(ours), object.get(base)) {
        (Some(ours), Some(base)) => !ours.get().eq_ignore_ascii_case(base.get()),
        _ => false,
    };
    !differs("currency", "base_currency") && !differs("amount", "base_amount")
}

fn refund(
    refund: &Members<'_>,
    facts: impl FnOnce(FactId, Money) -> Vec<Fact>,
) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let payment = refund.id("payment_id", PaymentId::parse)?;
    Ok((payment, facts(refund.id("id", FactId::parse)?, amount_of(refund)?)))
}

#[derive(Clone, Copy)]
enum Outcome {
    Open,
    Won,
    Lost,
}

fn dispute(entity: &Members<'_>, outcome: Outcome) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let payment = entity.id("payment_id", PaymentId::parse)?;
    let (dispute, amount) = (entity.id("id", FactId::parse)?, amount_of(entity)?);
    let fact = match outcome {
        Outcome::Open => Fact::DisputeOpened { dispute, amount },
        Outcome::Won => Fact::DisputeWon { dispute, amount },
        Outcome::Lost => Fact::DisputeLost { dispute, amount },
    };
    Ok((payment, vec![fact]))
}

/// A dispute that is closed without a verdict, as inquiries are, took nothing, unless it says that it did.
fn closed(dispute: &Members<'_>) -> Outcome {
    let object = dispute.object();
    let deducted = object.get("amount_deducted").and_then(|value| amount::minor_units(value).ok());
    let lost = object.text("status").is_some_and(|status| status == "lost");
    if lost || deducted.is_some_and(|deducted| deducted > 0) { Outcome::Lost } else { Outcome::Won }
}

fn settled(settlement: &Members<'_>) -> Result<Money, Untranslatable> {
    if settlement.object().get("currency").is_some() {
        return amount_of(settlement);
    }
    let value = settlement.object().get("amount").ok_or_else(|| settlement.wrong("amount", "is missing"))?;
    amount::minor(value, SETTLEMENT_CURRENCY).map_err(|what| settlement.wrong("amount", &what))
}
