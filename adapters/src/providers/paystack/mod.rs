//! Paystack: HMAC-SHA-512 of the body in `X-Paystack-Signature`, and no event id.

mod identify;
mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::{Algorithm, BodySignature, Encoding, KeyedHash};

const SIGNATURE_HEADER: &str = "x-paystack-signature";

struct Paystack {
    signature: BodySignature,
}

/// The Paystack source of these settings.
///
/// # Errors
/// There is no secret, or a blank one, or an option: it has none.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Paystack, SetupError> {
    settings.read_options::<NoOptions>()?;
    let keys = settings.keys("the API secret key, sk_live_…", |text| Ok(text.as_bytes().to_vec()))?;
    let keyed = KeyedHash::new(Algorithm::Sha512, &keys)?;
    Ok(Paystack { signature: BodySignature::with(SIGNATURE_HEADER, Encoding::Hex, keyed) })
}

impl Pack for Paystack {
    fn name(&self) -> &'static str {
        "paystack"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE_HEADER.to_owned()],
            scheme: "HMAC-SHA512 of the body, in hexadecimal".to_owned(),
            event_id: "event and data.id in the body, or what else identifies its data".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.signature.verify(request).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        identify::identify(request.body)
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
