//! Stripe: snapshot and thin events, of one's own account or of connected ones.
//!
//! <https://docs.stripe.com/webhooks>, `docs/providers/stripe.md`

mod charge;
mod dispute;
mod event;
mod minor_units;
mod object;
mod one_pass;
mod payment;
mod payout;
mod refund;
mod signature;
mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::{Algorithm, KeyedHash, Tolerance};
use event::Head;

/// A Stripe endpoint.
struct Stripe {
    keyed: KeyedHash,
    tolerance: Tolerance,
}

/// The Stripe source of these settings.
///
/// # Errors
/// There is no secret, one is blank, or there is an option.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(Stripe::of(settings)?, settings)))
}

impl Stripe {
    fn of(settings: &SourceSettings) -> Result<Self, SetupError> {
        settings.read_options::<NoOptions>()?;
        // The whole text is the key, unlike that of Standard Webhooks, which starts alike.
        let whole = |text: &str| Ok(text.as_bytes().to_vec());
        let keys = settings.keys("the endpoint's signing secret, whsec_…", whole)?;
        let keyed = KeyedHash::new(Algorithm::Sha256, &keys)?;
        Ok(Self { keyed, tolerance: Tolerance::new(settings.tolerance) })
    }
}

impl Pack for Stripe {
    fn name(&self) -> &'static str {
        "stripe"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![signature::HEADER.to_owned()],
            scheme: "HMAC-SHA256 of time and body, hexadecimal, v1".to_owned(),
            event_id: "id in the body, with account before it where there is one".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<Option<usize>, &'static str> {
        signature::verify(request, &self.keyed, self.tolerance, now).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let id = Head::parse(request.body).and_then(|head| head.id());
        id.map(|id| vec![id]).map_err(|problem| vec![problem])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(envelope)
    }

    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let headers = vec![signature::sign(body, &self.keyed, now)];
        Ok(SignedRequest { body: body.to_vec(), headers, query: String::new() })
    }
}

#[cfg(test)]
mod tests;
