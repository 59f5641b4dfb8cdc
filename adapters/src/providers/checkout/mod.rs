//! Checkout.com: HMAC-SHA-256 of the body in `Cko-Signature`, one event a request, amounts in minor units.

mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::members;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::BodySignature;

const SIGNATURE_HEADER: &str = "cko-signature";

struct Checkout {
    signature: BodySignature,
}

/// The Checkout.com source of these settings.
///
/// # Errors
/// There is no secret, or a blank one, or an option: it has none.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Checkout, SetupError> {
    settings.read_options::<NoOptions>()?;
    let keys = settings.keys("the signature key of the webhook", |text| Ok(text.as_bytes().to_vec()))?;
    Ok(Checkout { signature: BodySignature::new(SIGNATURE_HEADER, "", &keys)? })
}

impl Pack for Checkout {
    fn name(&self) -> &'static str {
        "checkout"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE_HEADER.to_owned()],
            scheme: "HMAC-SHA256 of the body, in hexadecimal".to_owned(),
            event_id: "id in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.signature.verify(request).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        members::event_id(request.body, &["id"]).map(|id| vec![id])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        Ok(SignedRequest {
            body: body.to_vec(),
            headers: vec![self.signature.sign(body)],
            query: String::new(),
        })
    }
}

#[cfg(test)]
mod tests;
