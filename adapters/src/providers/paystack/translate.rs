//! What Paystack's events mean.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, Money, NoEffect, PaymentId};
use serde_json::value::RawValue;

use crate::providers::amount;
use crate::providers::facts::{captured_once, change, charged_once, failed_refund};
use crate::providers::json::Object;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

/// When it happened, by what the kinds call it.
const TIMES: [&str; 7] =
    ["paid_at", "paidAt", "resolvedAt", "transferred_at", "updated_at", "updatedAt", "created_at"];

pub fn translate(payload: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(payload)?;
    let name = root.object().text("event");
    let data = root.optional_child("data");
    let object = data.as_ref().map(Members::object);
    Ok(Translation {
        kind: event_kind(name.as_deref())?,
        live: object.and_then(live),
        occurred_at: object.and_then(|data| times(data).find_map(moment::rfc3339)),
        effect: effect(&root, name.as_deref().unwrap_or_default())?,
    })
}

fn live(data: &Object<'_>) -> Option<bool> {
    match data.text("domain")?.as_ref() {
        "live" => Some(true),
        "test" => Some(false),
        _ => None,
    }
}

fn times<'a>(data: &Object<'a>) -> impl Iterator<Item = &'a RawValue> {
    TIMES.iter().filter_map(|name| data.get(name))
}

fn effect(root: &Members<'_>, name: &str) -> Result<Effect, Untranslatable> {
    let data = || root.child("data");
    let (payment, facts) = match name {
        "charge.success" => captured(&data()?)?,
        "charge.failed" => {
            let data = data()?;
            let attempt = data.id("reference", FactId::parse)?;
            (data.id("reference", PaymentId::parse)?, vec![Fact::Failed { attempt }])
        }
        "refund.pending" | "refund.processing" | "refund.failed" if !is_named(&data()?) => {
            return Ok(Effect::Nothing(NoEffect::Kind));
        }
        "refund.pending" | "refund.processing" | "refund.processed" => {
            refund(&data()?, |refund, amount| vec![Fact::Refunded { refund, amount }])?
        }
        "refund.failed" => refund(&data()?, failed_refund)?,
        "charge.dispute.create" => {
            dispute(&data()?, |dispute, amount| Fact::DisputeOpened { dispute, amount })?
        }
        "charge.dispute.resolve" => resolved(&data()?)?,
        "transfer.success" => transfer(&data()?, |amount| Fact::PayoutPaid { amount })?,
        "transfer.failed" | "transfer.reversed" => {
            transfer(&data()?, |amount| Fact::PayoutFailed { amount })?
        }
        _ => return Ok(Effect::Nothing(NoEffect::Kind)),
    };
    Ok(change(payment, None, facts))
}

/// The payment is the merchant's reference of the transaction, which Paystack takes once only: it is what
/// refunds and disputes name it by.
fn captured(data: &Members<'_>) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    if data.object().text("status").is_some_and(|status| status != "success") {
        return Err(data.wrong("status", "contradicts the event, which says success"));
    }
    let mut facts = vec![captured_once(data.minor("amount", "currency")?)?];
    if data.object().get("fees").is_some() {
        facts.extend(charged_once(data.minor("fees", "currency")?)?);
    }
    Ok((data.id("reference", PaymentId::parse)?, facts))
}

/// A refund gets its reference late. Without one, what is told of it cannot be matched with what is told
/// later, and would count twice.
fn is_named(data: &Members<'_>) -> bool {
    data.object().text_or_number("refund_reference").is_some()
}

fn refund(
    data: &Members<'_>,
    facts: impl FnOnce(FactId, Money) -> Vec<Fact>,
) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let payment = data.id("transaction_reference", PaymentId::parse)?;
    let refund = data.id("refund_reference", FactId::parse)?;
    Ok((payment, facts(refund, data.minor("amount", "currency")?)))
}

fn dispute(
    data: &Members<'_>,
    fact: impl FnOnce(FactId, Money) -> Fact,
) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let transaction = data.child("transaction")?;
    // A dispute of the whole transaction may leave its own amount and currency open.
    let amount = match data.object().get("refund_amount") {
        Some(value) => {
            let named = if data.object().get("currency").is_some() { data } else { &transaction };
            amount::minor(value, &named.text("currency")?)
                .map_err(|what| data.wrong("refund_amount", &what))?
        }
        None => transaction.minor("amount", "currency")?,
    };
    let payment = transaction.id("reference", PaymentId::parse)?;
    Ok((payment, vec![fact(data.id("id", FactId::parse)?, amount)]))
}

fn resolved(data: &Members<'_>) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let resolution = data.text("resolution")?;
    match resolution.as_ref() {
        // The merchant declined the claim, and that stood.
        "declined" => dispute(data, |dispute, amount| Fact::DisputeWon { dispute, amount }),
        "merchant-accepted" | "auto-accepted" => {
            dispute(data, |dispute, amount| Fact::DisputeLost { dispute, amount })
        }
        _ => Err(data.wrong("resolution", "does not say in a known way who won")),
    }
}

fn transfer(
    data: &Members<'_>,
    fact: impl FnOnce(Money) -> Fact,
) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let payout = data.id("transfer_code", PaymentId::parse)?;
    Ok((payout, vec![fact(data.minor("amount", "currency")?)]))
}
