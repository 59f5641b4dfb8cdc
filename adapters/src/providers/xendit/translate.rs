//! What Xendit's events mean.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, MerchantId, Money, NoEffect, PaymentId};

use super::invoice;
use crate::providers::facts::{captured_once, change, failed_refund};
use crate::providers::identity::{first_id, first_named};
use crate::providers::members::{Members, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

/// How the versions of the payments API name a payment.
const PAYMENT_IDS: [&str; 2] = ["payment_id", "id"];

/// What a refund is of.
const PAYMENT_OF_REFUND: [&str; 3] = ["payment_id", "invoice_id", "payment_request_id"];

/// How the versions of the payments API name an amount.
const AMOUNTS: [&str; 2] = ["request_amount", "amount"];

pub fn translate(payload: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(payload)?;
    let name = root.object().text("event");
    if name.is_none() && invoice::is_one(root.object()) {
        return invoice::translate(&root);
    }
    Ok(Translation {
        kind: event_kind(name.as_deref())?,
        live: None,
        occurred_at: root.object().get("created").and_then(moment::rfc3339),
        effect: effect(&root, name.as_deref().unwrap_or_default())?,
    })
}

fn effect(root: &Members<'_>, name: &str) -> Result<Effect, Untranslatable> {
    let (payment, facts) = match name {
        "payment.capture" | "payment.succeeded" => {
            let data = data(root)?;
            (payment(&data)?, captured(&data)?)
        }
        "payment.authorization" | "payment.awaiting_capture" => {
            let data = data(root)?;
            (payment(&data)?, vec![Fact::Authorised { amount: money(&data)? }])
        }
        "payment.failure" | "payment.failed" => {
            let data = data(root)?;
            (payment(&data)?, vec![Fact::Failed { attempt: first_id(&data, &PAYMENT_IDS, FactId::parse)? }])
        }
        // What was authorised was not captured in time.
        "payment.expiry" => (payment(&data(root)?)?, vec![Fact::Canceled]),
        "refund.succeeded" => refund(&data(root)?, |refund, amount| vec![Fact::Refunded { refund, amount }])?,
        "refund.failed" => refund(&data(root)?, failed_refund)?,
        _ => return Ok(Effect::Nothing(NoEffect::Kind)),
    };
    Ok(change(payment, merchant(root)?, facts))
}

/// The data; some kinds wrap it twice.
fn data<'a>(root: &Members<'a>) -> Result<Members<'a>, Untranslatable> {
    let data = root.child("data")?;
    Ok(data.optional_child("data").unwrap_or(data))
}

/// One token can serve the accounts of several businesses.
fn merchant(root: &Members<'_>) -> Result<Option<MerchantId>, Untranslatable> {
    match root.object().get("business_id") {
        Some(_) => root.id("business_id", MerchantId::parse).map(Some),
        None => Ok(None),
    }
}

fn payment(data: &Members<'_>) -> Result<PaymentId, Untranslatable> {
    first_id(data, &PAYMENT_IDS, PaymentId::parse)
}

fn money(data: &Members<'_>) -> Result<Money, Untranslatable> {
    data.major(first_named(data.object(), &AMOUNTS).unwrap_or(AMOUNTS[0]), "currency", &[])
}

/// Each capture by its id, where they are listed; else the payment was captured at once.
fn captured(data: &Members<'_>) -> Result<Vec<Fact>, Untranslatable> {
    let captures = data.object().array("captures").unwrap_or_default();
    if captures.is_empty() {
        return Ok(vec![captured_once(money(data)?)?]);
    }
    let currency = data.text("currency")?;
    let unreadable = || data.wrong("captures", "has an element without a usable id and amount");
    captures
        .into_iter()
        .map(|value| {
            let members = Members::of_value(value, String::new()).ok_or_else(unreadable)?;
            let capture = members.id("capture_id", FactId::parse).map_err(|_| unreadable())?;
            let amount = members.object().get("capture_amount").ok_or_else(unreadable)?;
            let amount = crate::providers::amount::major(amount, &currency, &[]).map_err(|_| unreadable())?;
            Ok(Fact::Captured { capture, amount, last: false })
        })
        .collect()
}

fn refund(
    data: &Members<'_>,
    facts: impl FnOnce(FactId, Money) -> Vec<Fact>,
) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let payment = first_id(data, &PAYMENT_OF_REFUND, PaymentId::parse)?;
    Ok((payment, facts(data.id("id", FactId::parse)?, data.major("amount", "currency", &[])?)))
}
