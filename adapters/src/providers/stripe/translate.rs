//! What a Stripe event means. Its type says what happened, the object how it stood at that moment.

use application::Envelope;
use application::ports::provider::{Problem, Untranslatable};
use domain::{Effect, Fact, MerchantId, NoEffect, PaymentId, Progress};

use super::event::Event;
use super::object::{StripeObject, wrong};
use super::{charge, dispute, payment, payout, refund};
use crate::providers::facts;
use crate::providers::joined_id::joined_text;
use crate::providers::members::event_kind;
use crate::providers::pack::Translation;

/// What an event does, before it is known whose payment it is: the payment's own id and the facts. `None` where
/// it says nothing about money that we act on.
pub type Meaning = Option<(String, Vec<Fact>)>;

/// The event of the envelope.
///
/// # Errors
/// The payload is not what was accepted, or it says of money what cannot be read.
pub fn translate(envelope: &Envelope) -> Result<Translation, Untranslatable> {
    let event = Event::parse(&envelope.payload).map_err(|problem| unreadable(&problem))?;
    if event.head.id().map_err(|problem| unreadable(&problem))? != envelope.key.event_id {
        return Err(Untranslatable("/id is not the id that it was accepted under".to_owned()));
    }
    let kind = event_kind(event.head.kind().as_deref())?;
    let meaning = meaning(kind.as_str(), &event, envelope)?;
    let effect = match meaning {
        Some((payment, facts)) => change(&event, &payment, facts)?,
        None => Effect::Nothing(NoEffect::Kind),
    };
    Ok(Translation { kind, live: event.head.live(), occurred_at: event.head.occurred_at(), effect })
}

fn meaning(kind: &str, event: &Event<'_>, envelope: &Envelope) -> Result<Meaning, Untranslatable> {
    let object = &event.object;
    match kind {
        "payment_intent.created" => payment::progressed(object, Progress::Created),
        "payment_intent.requires_action" => payment::progressed(object, Progress::RequiresAction),
        "payment_intent.processing" => payment::progressed(object, Progress::Processing),
        "payment_intent.payment_failed" => payment::failed(object, &envelope.key.event_id),
        "payment_intent.canceled" => payment::canceled(object),
        "payment_intent.amount_capturable_updated" => payment::authorised(object, event.before),
        "payment_intent.succeeded" => payment::succeeded(object),
        "checkout.session.completed" | "checkout.session.async_payment_succeeded" => {
            payment::checked_out(object)
        }
        "charge.pending" => charge::pending(object),
        "charge.succeeded" => charge::succeeded(object),
        "charge.captured" => charge::captured(object),
        "charge.failed" => charge::failed(object),
        "charge.expired" => charge::expired(object),
        "charge.refunded" => charge::refunded(object),
        "refund.created" | "refund.updated" | "charge.refund.updated" => refund::by_status(object),
        "refund.failed" => refund::failed(object),
        "charge.dispute.created" => dispute::opened(object),
        "charge.dispute.funds_withdrawn" => dispute::withdrawn(object),
        "charge.dispute.closed" => dispute::closed(object),
        "payout.created" => payout::started(object),
        "payout.updated" => payout::by_status(object),
        "payout.paid" => payout::paid(object),
        "payout.failed" => payout::failed(object),
        "payout.canceled" => payout::canceled(object),
        _ => Ok(None),
    }
}

fn unreadable(problem: &Problem) -> Untranslatable {
    let place = if problem.pointer.is_empty() { "the body" } else { &problem.pointer };
    Untranslatable(format!("{place} {}", problem.message))
}

/// The facts as a change of a payment. Ids are unique only within an account, so a connected account is part of
/// the payment's.
fn change(event: &Event<'_>, payment: &str, said: Vec<Fact>) -> Result<Effect, Untranslatable> {
    let unusable = |error: domain::IdError| wrong("id", &error.to_string());
    let (payment, merchant) = match event.head.account() {
        Some(account) => (
            PaymentId::parse(&joined_text(&[&account, payment])).map_err(unusable)?,
            Some(MerchantId::parse(&account).map_err(|error| Untranslatable(format!("/account {error}")))?),
        ),
        None => (PaymentId::parse(payment).map_err(unusable)?, None),
    };
    Ok(facts::change(payment, merchant, said))
}

/// The payment that a charge, a refund or a dispute belongs to: its payment intent, or the charge itself where
/// there is none, as before 2019. `charge` is the member that names the charge.
///
/// # Errors
/// It names neither.
pub fn payment_of(object: &StripeObject<'_>, charge: &str) -> Result<String, Untranslatable> {
    match object.text("payment_intent") {
        Some(intent) => Ok(intent.into_owned()),
        None => object.wanted_text(charge).map(std::borrow::Cow::into_owned),
    }
}
