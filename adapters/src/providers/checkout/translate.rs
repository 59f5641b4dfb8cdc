//! What Checkout.com's events mean.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, Money, NoEffect, PaymentId, Progress};

use crate::providers::facts::change;
use crate::providers::members::{Members, event_kind, single_capture};
use crate::providers::moment::rfc3339;
use crate::providers::pack::Translation;

/// The event that a body is.
pub fn translate(body: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(body)?;
    let kind = root.object().text("type");
    // Which of the two names it has depends on the sending system, not on the event.
    let at = root.object().get("created_on").or_else(|| root.object().get("timestamp"));
    let effect = match kind.as_deref() {
        Some(kind) => effect(kind, &root)?,
        None => Effect::Nothing(NoEffect::Kind),
    };
    Ok(Translation {
        kind: event_kind(kind.as_deref())?,
        live: None,
        occurred_at: at.and_then(rfc3339),
        effect,
    })
}

/// Left out on purpose: what is pending or was declined of a capture, void or refund moves nothing (and a
/// pending refund is not known to carry the action id of the finished one); `payment_paid` and
/// `payment_returned` are payments to cards; an expired or arbitrated dispute ends by another event.
fn effect(kind: &str, root: &Members<'_>) -> Result<Effect, Untranslatable> {
    let data = || root.child("data");
    match kind {
        "payment_pending" => of_payment(&data()?, Fact::Progressed { progress: Progress::Processing }),
        "payment_approved" => {
            let data = data()?;
            of_payment(&data, Fact::Authorised { amount: amount(&data)? })
        }
        "payment_declined" => {
            let data = data()?;
            let attempt = match data.object().get("action_id") {
                Some(_) => action(&data)?,
                None => data.id("id", FactId::parse)?,
            };
            of_payment(&data, Fact::Failed { attempt })
        }
        "payment_voided" | "payment_canceled" | "payment_expired" => of_payment(&data()?, Fact::Canceled),
        "payment_captured" => {
            let data = data()?;
            let capture = match data.object().get("action_id") {
                Some(_) => action(&data)?,
                None => single_capture()?,
            };
            // A payment can be captured in parts, and no capture says that it is the last.
            of_payment(&data, Fact::Captured { capture, amount: amount(&data)?, last: false })
        }
        "payment_refunded" => {
            let data = data()?;
            of_payment(&data, Fact::Refunded { refund: action(&data)?, amount: amount(&data)? })
        }
        "dispute_received" | "dispute_evidence_required" => of_dispute(&data()?, None),
        "dispute_won" | "dispute_canceled" | "dispute_resolved" => {
            of_dispute(&data()?, Some(|dispute, amount| Fact::DisputeWon { dispute, amount }))
        }
        "dispute_lost" | "dispute_accepted" => {
            of_dispute(&data()?, Some(|dispute, amount| Fact::DisputeLost { dispute, amount }))
        }
        _ => Ok(Effect::Nothing(NoEffect::Kind)),
    }
}

fn of_payment(data: &Members<'_>, fact: Fact) -> Result<Effect, Untranslatable> {
    Ok(change(data.id("id", PaymentId::parse)?, None, vec![fact]))
}

/// How a dispute ended.
type Closing = fn(FactId, Money) -> Fact;

/// That it was opened is said with its end, too: the end may be the first that we hear of it.
fn of_dispute(data: &Members<'_>, closing: Option<Closing>) -> Result<Effect, Untranslatable> {
    let (dispute, amount) = (data.id("id", FactId::parse)?, amount(data)?);
    let mut facts = vec![Fact::DisputeOpened { dispute: dispute.clone(), amount }];
    facts.extend(closing.map(|closing| closing(dispute, amount)));
    Ok(change(data.id("payment_id", PaymentId::parse)?, None, facts))
}

fn action(data: &Members<'_>) -> Result<FactId, Untranslatable> {
    data.id("action_id", FactId::parse)
}

fn amount(data: &Members<'_>) -> Result<Money, Untranslatable> {
    data.minor("amount", "currency")
}
