//! What Mollie's next-gen events mean: what the snapshot of the object says. An event without a snapshot says
//! only that something has happened, so it is a hint.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, Money, NoEffect, PaymentId, Progress};

use crate::providers::facts::{captured_once, change, failed_refund};
use crate::providers::json::Kind;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment::rfc3339;
use crate::providers::pack::Translation;

/// Which of the two names of one payment counts: a payment by a link comes as `payment-link.paid` of the link
/// and as `payment.paid` of the payment, and nothing in either names the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Links. All that is about payments is a hint.
    PaymentLinks,
    /// Payments, with their captures, refunds and chargebacks. What is about links is a hint.
    Payments,
}

const HINT: Effect = Effect::Nothing(NoEffect::Unconfirmed);

/// The event that a body is.
pub fn translate(body: &[u8], counted: Counted) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(body)?;
    let kind = root.object().text("type");
    let entity = root.optional_child("_embedded").and_then(|embedded| embedded.optional_child("entity"));
    let mode = entity.as_ref().and_then(|entity| entity.object().text("mode"));
    let live = match mode.or_else(|| root.object().text("mode")).as_deref() {
        Some("live") => Some(true),
        Some("test") => Some(false),
        _ => None,
    };
    let effect = match kind.as_deref().and_then(About::of) {
        None => Effect::Nothing(NoEffect::Kind),
        Some(about) => match (about.counts(counted), &entity) {
            (true, Some(entity)) => about.effect(&root, entity)?,
            _ => HINT,
        },
    };
    let occurred_at = root.object().get("createdAt").and_then(rfc3339);
    Ok(Translation { kind: event_kind(kind.as_deref())?, live, occurred_at, effect })
}

/// What the snapshot of an event is, and what has happened to it, where that says something about money.
#[derive(Debug, Clone, Copy)]
enum About {
    LinkPaid,
    Payment(PaymentEvent),
    /// A capture, a refund or a chargeback, each with an id of its own.
    Part(PartEvent),
    Payout(fn(Money) -> Fact),
}

#[derive(Debug, Clone, Copy)]
enum PaymentEvent {
    Pending,
    Authorised,
    Paid,
    Failed,
    Over,
}

#[derive(Debug, Clone, Copy)]
enum PartEvent {
    Captured,
    Refunded,
    RefundFailed,
    ChargedBack,
    ChargebackReversed,
}

impl About {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "payment-link.paid" => Self::LinkPaid,
            "payment.pending" => Self::Payment(PaymentEvent::Pending),
            "payment.authorized" => Self::Payment(PaymentEvent::Authorised),
            "payment.paid" => Self::Payment(PaymentEvent::Paid),
            "payment.failed" => Self::Payment(PaymentEvent::Failed),
            "payment.canceled" | "payment.expired" => Self::Payment(PaymentEvent::Over),
            "capture.succeeded" => Self::Part(PartEvent::Captured),
            "refund.queued" | "refund.pending" | "refund.processing" | "refund.refunded" => {
                Self::Part(PartEvent::Refunded)
            }
            "refund.failed" | "refund.canceled" => Self::Part(PartEvent::RefundFailed),
            "chargeback.received" => Self::Part(PartEvent::ChargedBack),
            "chargeback.reversed" => Self::Part(PartEvent::ChargebackReversed),
            "payout.initiated" | "payout.processing-at-bank" => {
                Self::Payout(|amount| Fact::PayoutStarted { amount })
            }
            "payout.completed" => Self::Payout(|amount| Fact::PayoutPaid { amount }),
            "payout.failed" => Self::Payout(|amount| Fact::PayoutFailed { amount }),
            "payout.canceled" => Self::Payout(|amount| Fact::PayoutCanceled { amount }),
            _ => return None,
        })
    }

    fn counts(self, counted: Counted) -> bool {
        match self {
            Self::LinkPaid => counted == Counted::PaymentLinks,
            Self::Payment(_) | Self::Part(_) => counted == Counted::Payments,
            Self::Payout(_) => true,
        }
    }

    fn effect(self, root: &Members<'_>, entity: &Members<'_>) -> Result<Effect, Untranslatable> {
        let own = || entity.id("id", PaymentId::parse);
        let fact = match self {
            Self::Part(event) => {
                let payment = entity.id("paymentId", PaymentId::parse)?;
                return Ok(change(payment, None, part_facts(event, entity)?));
            }
            Self::LinkPaid => link_paid(root, entity)?,
            Self::Payment(event) => payment_fact(event, entity)?,
            Self::Payout(fact) => Some(fact(amount(entity)?)),
        };
        Ok(match fact {
            Some(fact) => change(own()?, None, vec![fact]),
            None => HINT,
        })
    }
}

/// `None` where the payer chose the amount, which the link does not repeat.
fn link_paid(root: &Members<'_>, link: &Members<'_>) -> Result<Option<Fact>, Untranslatable> {
    if link.object().text("status").is_some_and(|status| status != "paid") {
        return Err(link.wrong("status", "contradicts the type: it is not \"paid\""));
    }
    if link.object().find("amount").1.is_some_and(|amount| Kind::of(amount) == Kind::Null) {
        return Ok(None);
    }
    if link.object().boolean("reusable") == Some(true) {
        // It is paid several times, and only the event tells one from another.
        let capture = root.id("id", FactId::parse)?;
        return Ok(Some(Fact::Captured { capture, amount: amount(link)?, last: false }));
    }
    captured_once(amount(link)?).map(Some)
}

/// `None` where other events tell of the money.
fn payment_fact(event: PaymentEvent, payment: &Members<'_>) -> Result<Option<Fact>, Untranslatable> {
    Ok(Some(match event {
        PaymentEvent::Pending => Fact::Progressed { progress: Progress::Processing },
        PaymentEvent::Authorised => Fact::Authorised { amount: amount(payment)? },
        PaymentEvent::Paid if captured_apart(payment) => return Ok(None),
        PaymentEvent::Paid => captured_once(amount(payment)?)?,
        PaymentEvent::Failed => Fact::Failed { attempt: payment.id("id", FactId::parse)? },
        PaymentEvent::Over => Fact::Canceled,
    }))
}

/// Whether the payment was authorised first, so that each `capture.succeeded` tells what was taken. To count
/// `payment.paid` too would count it twice.
fn captured_apart(payment: &Members<'_>) -> bool {
    let object = payment.object();
    object.text("captureMode").as_deref() == Some("manual")
        || object.get("captureDelay").is_some()
        || object.get("amountCaptured").is_some()
}

fn part_facts(event: PartEvent, part: &Members<'_>) -> Result<Vec<Fact>, Untranslatable> {
    let (id, amount) = (part.id("id", FactId::parse)?, amount(part)?);
    Ok(match event {
        PartEvent::Captured => vec![Fact::Captured { capture: id, amount, last: false }],
        PartEvent::Refunded => vec![Fact::Refunded { refund: id, amount }],
        PartEvent::RefundFailed => failed_refund(id, amount),
        PartEvent::ChargedBack => vec![Fact::DisputeOpened { dispute: id, amount }],
        // That it was received is said with it: this may be the first that we hear of it.
        PartEvent::ChargebackReversed => vec![
            Fact::DisputeOpened { dispute: id.clone(), amount },
            Fact::DisputeWon { dispute: id, amount },
        ],
    })
}

fn amount(object: &Members<'_>) -> Result<Money, Untranslatable> {
    object.child("amount")?.major("value", "currency", &[])
}
