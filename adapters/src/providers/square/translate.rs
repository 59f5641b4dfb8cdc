//! What Square's events mean. The status of the object decides, not the name of the event: `payment.updated`
//! is sent for every change of a payment, and each tells the whole payment again.

use std::collections::HashSet;

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, MerchantId, Money, NoEffect, PaymentId, Progress};

use crate::providers::facts::{captured_once, change, failed_refund};
use crate::providers::joined_id::joined_text;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment::rfc3339;
use crate::providers::pack::Translation;

/// How many fees of a payment are read; Square charges one, and adjusts it once or twice.
const FEES_MAX: usize = 32;

/// What an event says of one payment or payout.
type Told = Option<(PaymentId, Vec<Fact>)>;

/// The event that a body is.
pub fn translate(body: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(body)?;
    let kind = root.object().text("type").unwrap_or_default();
    let effect = match told(&kind, &root)? {
        Some((payment, facts)) => change(payment, merchant(&root)?, facts),
        None => Effect::Nothing(NoEffect::Kind),
    };
    let occurred_at = root.object().get("created_at").and_then(rfc3339);
    Ok(Translation { kind: event_kind(Some(&kind))?, live: None, occurred_at, effect })
}

fn told(kind: &str, root: &Members<'_>) -> Result<Told, Untranslatable> {
    let object = |name| root.child("data")?.child("object")?.child(name);
    match kind {
        "payment.created" | "payment.updated" => payment(&object("payment")?),
        "refund.created" | "refund.updated" => refund(&object("refund")?),
        "dispute.created" | "dispute.state.updated" | "dispute.state.changed" => dispute(&object("dispute")?),
        "payout.sent" | "payout.paid" | "payout.failed" => payout(&object("payout")?),
        _ => Ok(None),
    }
}

/// One application receives the events of every seller that has allowed it.
fn merchant(root: &Members<'_>) -> Result<Option<MerchantId>, Untranslatable> {
    match root.object().get("merchant_id") {
        Some(_) => root.id("merchant_id", MerchantId::parse).map(Some),
        None => Ok(None),
    }
}

fn payment(payment: &Members<'_>) -> Result<Told, Untranslatable> {
    let facts = match payment.text("status")?.as_ref() {
        "PENDING" => vec![Fact::Progressed { progress: Progress::Processing }],
        // The initial amount: a tip that is added later changes what is captured, not what was approved.
        "APPROVED" => vec![Fact::Authorised { amount: either(payment, "approved_money", "amount_money")? }],
        "COMPLETED" => completed(payment)?,
        "CANCELED" => vec![Fact::Canceled],
        "FAILED" => vec![Fact::Failed { attempt: payment.id("id", FactId::parse)? }],
        _ => return Ok(None),
    };
    Ok(Some((payment.id("id", PaymentId::parse)?, facts)))
}

fn completed(payment: &Members<'_>) -> Result<Vec<Fact>, Untranslatable> {
    // The total is the amount and the tip.
    let amount = either(payment, "total_money", "amount_money")?;
    let mut facts = vec![captured_once(amount)?];
    facts.extend(fees(payment, amount)?);
    Ok(facts)
}

/// What Square has kept. A fee that is given back is negative, and is not told here: it comes with a refund.
fn fees(payment: &Members<'_>, captured: Money) -> Result<Vec<Fact>, Untranslatable> {
    let (mut facts, mut told) = (Vec::new(), HashSet::new());
    let fees = payment.object().array("processing_fee").unwrap_or_default();
    for (index, fee) in fees.into_iter().take(FEES_MAX).enumerate() {
        let name = format!("processing_fee/{index}");
        let fee = Members::of_value(fee, format!("/data/object/payment/{name}"))
            .ok_or_else(|| payment.wrong(&name, "is not an object"))?;
        let amount = money(&fee, "amount_money")?;
        let id = joined_text(&[&fee.text("type")?, &fee.text("effective_at")?]);
        let ours = amount.minor_units() > 0 && amount.currency() == captured.currency();
        if ours && told.insert(id.clone()) {
            let id = FactId::parse(&id).map_err(|_| payment.wrong(&name, "has no usable type and time"))?;
            facts.push(Fact::Charged { fee: id, amount });
        }
    }
    Ok(facts)
}

fn refund(refund: &Members<'_>) -> Result<Told, Untranslatable> {
    // One without a payment of Square's behind it.
    if refund.object().boolean("unlinked") == Some(true) {
        return Ok(None);
    }
    let failed = match refund.text("status")?.as_ref() {
        "PENDING" | "APPROVED" | "COMPLETED" => false,
        "REJECTED" | "FAILED" => true,
        _ => return Ok(None),
    };
    let (id, amount) = (refund.id("id", FactId::parse)?, money(refund, "amount_money")?);
    let facts = if failed { failed_refund(id, amount) } else { vec![Fact::Refunded { refund: id, amount }] };
    Ok(Some((refund.id("payment_id", PaymentId::parse)?, facts)))
}

/// An inquiry takes no money, so it is no dispute yet.
fn dispute(dispute: &Members<'_>) -> Result<Told, Untranslatable> {
    let fact: fn(FactId, Money) -> Fact = match dispute.text("state")?.as_ref() {
        "EVIDENCE_REQUIRED" | "PROCESSING" => |dispute, amount| Fact::DisputeOpened { dispute, amount },
        "WON" => |dispute, amount| Fact::DisputeWon { dispute, amount },
        "LOST" | "ACCEPTED" => |dispute, amount| Fact::DisputeLost { dispute, amount },
        _ => return Ok(None),
    };
    // The older `dispute.state.changed` has no `id`.
    let id = if dispute.object().get("id").is_some() { "id" } else { "dispute_id" };
    let fact = fact(dispute.id(id, FactId::parse)?, money(dispute, "amount_money")?);
    let payment = dispute.child("disputed_payment")?.id("payment_id", PaymentId::parse)?;
    Ok(Some((payment, vec![fact])))
}

fn payout(payout: &Members<'_>) -> Result<Told, Untranslatable> {
    let fact: fn(Money) -> Fact = match payout.text("status")?.as_ref() {
        "SENT" => |amount| Fact::PayoutStarted { amount },
        "PAID" => |amount| Fact::PayoutPaid { amount },
        "FAILED" => |amount| Fact::PayoutFailed { amount },
        _ => return Ok(None),
    };
    let fact = fact(money(payout, "amount_money")?);
    Ok(Some((payout.id("id", PaymentId::parse)?, vec![fact])))
}

fn either(object: &Members<'_>, name: &str, otherwise: &str) -> Result<Money, Untranslatable> {
    money(object, if object.object().get(name).is_some() { name } else { otherwise })
}

/// `{amount, currency}` in minor units; in payouts the currency is called `currency_code`.
fn money(object: &Members<'_>, name: &str) -> Result<Money, Untranslatable> {
    let money = object.child(name)?;
    let currency = if money.object().get("currency").is_some() { "currency" } else { "currency_code" };
    money.minor("amount", currency)
}
