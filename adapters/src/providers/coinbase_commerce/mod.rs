//! Coinbase Commerce: HMAC-SHA-256 of the body in `X-CC-Webhook-Signature`, one event a request. What wraps the
//! event changes with each attempt; the event does not.

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{Effect, EventId, Fact, FactId, NoEffect, PaymentId, Progress, Timestamp};

use super::facts::{captured_once, change};
use super::members::{self, Members, event_kind};
use super::moment::rfc3339;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::BodySignature;

const SIGNATURE_HEADER: &str = "x-cc-webhook-signature";

struct CoinbaseCommerce {
    signature: BodySignature,
}

/// The Coinbase Commerce source of these settings.
///
/// # Errors
/// There is no secret, or a blank one, or an option: it has none.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<CoinbaseCommerce, SetupError> {
    settings.read_options::<NoOptions>()?;
    let keys = settings.keys("the webhook shared secret", |text| Ok(text.as_bytes().to_vec()))?;
    Ok(CoinbaseCommerce { signature: BodySignature::new(SIGNATURE_HEADER, "", &keys)? })
}

impl Pack for CoinbaseCommerce {
    fn name(&self) -> &'static str {
        "coinbase-commerce"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE_HEADER.to_owned()],
            scheme: "HMAC-SHA256 of the body, in hexadecimal".to_owned(),
            event_id: "event.id in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.signature.verify(request).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        members::event_id(request.body, &["event", "id"]).map(|id| vec![id])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        let event = Members::of_body(&envelope.payload)?.child("event")?;
        let kind = event.object().text("type");
        let effect = match kind.as_deref() {
            Some(kind) => effect(kind, &event)?,
            None => Effect::Nothing(NoEffect::Kind),
        };
        let occurred_at = event.object().get("created_at").and_then(rfc3339);
        Ok(Translation { kind: event_kind(kind.as_deref())?, live: None, occurred_at, effect })
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        Ok(SignedRequest {
            body: body.to_vec(),
            headers: vec![self.signature.sign(body)],
            query: String::new(),
        })
    }
}

fn effect(kind: &str, event: &Members<'_>) -> Result<Effect, Untranslatable> {
    let charge = || event.child("data");
    let fact = match kind {
        "charge:created" => Fact::Progressed { progress: Progress::Created },
        // Seen on the chain, late or in time, and not final yet.
        "charge:pending" | "charge:delayed" => Fact::Progressed { progress: Progress::Processing },
        "charge:confirmed" => match confirmed(&charge()?)? {
            Some(fact) => fact,
            None => return Ok(Effect::Nothing(NoEffect::Unconfirmed)),
        },
        "charge:failed" => Fact::Failed { attempt: charge()?.id("code", FactId::parse)? },
        // The merchant has settled by hand what was paid late, short or over; how much is not said.
        "charge:resolved" => return Ok(Effect::Nothing(NoEffect::Unconfirmed)),
        _ => return Ok(Effect::Nothing(NoEffect::Kind)),
    };
    let payment = charge()?.id("code", PaymentId::parse)?;
    Ok(change(payment, None, vec![fact]))
}

/// The capture, at the charge's price; `None` for a charge without one, whose payer chose the amount.
fn confirmed(charge: &Members<'_>) -> Result<Option<Fact>, Untranslatable> {
    if charge.object().text("pricing_type").as_deref() == Some("no_price") {
        return Ok(None);
    }
    let amount = charge.child("pricing")?.child("local")?.major("amount", "currency", &[])?;
    captured_once(amount).map(Some)
}

#[cfg(test)]
mod tests;
