//! Mercado Pago: a signature over an id in the query, a request id and a time. The body is not signed and
//! says neither amount nor status, so every event is a hint to look the payment up.

mod translate;
mod verify;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::members;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::{Algorithm, KeyedHash, Tolerance};
use verify::Verifier;

struct MercadoPago {
    verifier: Verifier,
}

/// The Mercado Pago source of these settings.
///
/// # Errors
/// There is no secret, or a blank one, or an option: it has none.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<MercadoPago, SetupError> {
    settings.read_options::<NoOptions>()?;
    let keys =
        settings.keys("the secret signature of the application", |text| Ok(text.as_bytes().to_vec()))?;
    let keyed = KeyedHash::new(Algorithm::Sha256, &keys)?;
    Ok(MercadoPago { verifier: Verifier::new(keyed, Tolerance::new(settings.tolerance)) })
}

impl Pack for MercadoPago {
    fn name(&self) -> &'static str {
        "mercado-pago"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: verify::HEADERS.map(str::to_owned).to_vec(),
            scheme:
                "HMAC-SHA256 of data.id in the query, the request's id and the time; the body is not signed"
                    .to_owned(),
            event_id: "id in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Confirm
    }

    fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.verifier.verify(request, now).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        members::event_id(request.body, &["id"]).map(|id| vec![id])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        self.verifier.sign(body, now)
    }
}

#[cfg(test)]
mod tests;
