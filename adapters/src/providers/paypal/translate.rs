//! What PayPal's events mean. The payment is the capture, which the older interface calls a sale.
//!
//! A dispute moves no money by itself: PayPal holds the amount while it is open, lets it go in the end, and what
//! the merchant loses is told by a refund or a reversal. Told twice, it would be lost twice.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, NoEffect, PaymentId, Progress};

use super::money::{Sign, money};
use super::resource::refunded_payment;
use crate::providers::facts::{captured_once, change, charged_once, failed_refund};
use crate::providers::members::{Members, event_kind};
use crate::providers::moment::rfc3339;
use crate::providers::pack::Translation;

/// What an event says of one payment or payout.
type Told = Option<(PaymentId, Vec<Fact>)>;

/// The event that a body is.
pub fn translate(body: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(body)?;
    let kind = root.object().text("event_type").unwrap_or_default();
    let effect = match told(&kind, &root)? {
        Some((payment, facts)) => change(payment, None, facts),
        None => Effect::Nothing(NoEffect::Kind),
    };
    let occurred_at = root.object().get("create_time").and_then(rfc3339);
    Ok(Translation { kind: event_kind(Some(&kind))?, live: None, occurred_at, effect })
}

fn told(kind: &str, root: &Members<'_>) -> Result<Told, Untranslatable> {
    let resource = || root.child("resource");
    if let Some(what) = kind.strip_prefix("PAYMENT.PAYOUTS-ITEM.") {
        return payout(what, &resource);
    }
    match kind {
        "PAYMENT.CAPTURE.COMPLETED" | "PAYMENT.SALE.COMPLETED" => completed(&resource()?),
        "PAYMENT.CAPTURE.PENDING" | "PAYMENT.SALE.PENDING" => {
            of_itself(&resource()?, Fact::Progressed { progress: Progress::Processing })
        }
        "PAYMENT.CAPTURE.DENIED" | "PAYMENT.CAPTURE.DECLINED" | "PAYMENT.SALE.DENIED" => {
            let resource = resource()?;
            of_itself(&resource, Fact::Failed { attempt: resource.id("id", FactId::parse)? })
        }
        "PAYMENT.CAPTURE.REFUNDED"
        | "PAYMENT.CAPTURE.REVERSED"
        | "PAYMENT.REFUND.PENDING"
        | "PAYMENT.SALE.REFUNDED"
        | "PAYMENT.SALE.REVERSED" => refund(&resource()?, false),
        "PAYMENT.REFUND.FAILED" => refund(&resource()?, true),
        _ => Ok(None),
    }
}

fn of_itself(resource: &Members<'_>, fact: Fact) -> Result<Told, Untranslatable> {
    Ok(Some((resource.id("id", PaymentId::parse)?, vec![fact])))
}

fn completed(resource: &Members<'_>) -> Result<Told, Untranslatable> {
    let amount = money(resource, "amount", Sign::Kept)?;
    let mut facts = vec![captured_once(amount)?];
    let breakdown = resource.optional_child("seller_receivable_breakdown");
    let fee = match &breakdown {
        Some(breakdown) if breakdown.object().get("paypal_fee").is_some() => {
            Some(money(breakdown, "paypal_fee", Sign::Kept)?)
        }
        _ if resource.object().get("transaction_fee").is_some() => {
            Some(money(resource, "transaction_fee", Sign::Kept)?)
        }
        _ => None,
    };
    // A fee in another currency is taken from what was exchanged, which is not told as this payment's money.
    if let Some(fee) = fee.filter(|fee| fee.currency() == amount.currency()) {
        facts.extend(charged_once(fee)?);
    }
    Ok(Some((resource.id("id", PaymentId::parse)?, facts)))
}

/// A reversal has the shape of a refund, and its money goes the same way.
fn refund(resource: &Members<'_>, failed: bool) -> Result<Told, Untranslatable> {
    let (refund, amount) = (resource.id("id", FactId::parse)?, money(resource, "amount", Sign::Dropped)?);
    let status = resource.object().text("status");
    let failed = failed || matches!(status.as_deref(), Some("FAILED" | "CANCELLED"));
    let facts = if failed { failed_refund(refund, amount) } else { vec![Fact::Refunded { refund, amount }] };
    Ok(Some((refunded_payment(resource)?, facts)))
}

/// One item of a batch: money of the merchant's that goes to somebody.
fn payout<'a>(
    what: &str,
    resource: &impl Fn() -> Result<Members<'a>, Untranslatable>,
) -> Result<Told, Untranslatable> {
    let fact: fn(domain::Money) -> Fact = match what {
        "UNCLAIMED" | "HELD" => |amount| Fact::PayoutStarted { amount },
        "SUCCEEDED" => |amount| Fact::PayoutPaid { amount },
        "FAILED" | "DENIED" | "BLOCKED" | "RETURNED" | "REFUNDED" => |amount| Fact::PayoutFailed { amount },
        "CANCELED" => |amount| Fact::PayoutCanceled { amount },
        _ => return Ok(None),
    };
    let resource = resource()?;
    let amount = money(&resource.child("payout_item")?, "amount", Sign::Kept)?;
    Ok(Some((resource.id("payout_item_id", PaymentId::parse)?, vec![fact(amount)])))
}
