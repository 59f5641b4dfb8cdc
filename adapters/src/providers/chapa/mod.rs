//! Chapa: HMAC-SHA-256 of the body in `x-chapa-signature`. The other header, `chapa-signature`, is a constant
//! that says nothing about the body, and is not accepted.

mod translate;
mod verify;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};
use serde::Deserialize;

use super::identity::{missing, only_joined};
use super::members::body_object;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{SetupError, SourceSettings};
use verify::Verifier;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The webhook is one of those that sign the body in `chapa-signature`.
    #[serde(default)]
    custom_webhook: bool,
}

struct Chapa {
    verifier: Verifier,
}

/// The Chapa source of these settings.
///
/// # Errors
/// There is no secret, or a blank one, or an option other than `custom_webhook`.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Chapa, SetupError> {
    let Options { custom_webhook } = settings.read_options()?;
    let keys = settings.keys("the secret hash from the dashboard", |text| Ok(text.as_bytes().to_vec()))?;
    Ok(Chapa { verifier: Verifier::new(&keys, custom_webhook)? })
}

impl Pack for Chapa {
    fn name(&self) -> &'static str {
        "chapa"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: self.verifier.headers().iter().map(|name| (*name).to_owned()).collect(),
            scheme: "HMAC-SHA256 of the body, in hexadecimal".to_owned(),
            event_id: "event, reference and status in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.verifier.verify(request).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let root = body_object(request.body)?;
        let event = root.text("event").ok_or_else(|| missing("/event"))?;
        let reference = root.text_or_number("reference").ok_or_else(|| missing("/reference"))?;
        only_joined(&[&event, &reference, &root.text("status").unwrap_or_default()])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        Ok(SignedRequest { body: body.to_vec(), headers: self.verifier.sign(body), query: String::new() })
    }
}

#[cfg(test)]
mod tests;
