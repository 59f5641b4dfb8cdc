//! Razorpay: HMAC-SHA-256 of the body in `X-Razorpay-Signature`, the event's id in a header of its own.

mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::identity;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::BodySignature;

const SIGNATURE_HEADER: &str = "x-razorpay-signature";

/// Unique for an event, and the same on every redelivery of it. It is not signed.
const EVENT_ID_HEADER: &str = "x-razorpay-event-id";

/// How long an id of ours is that stands in for Razorpay's, in characters; theirs have 14.
const MADE_ID_CHARACTERS: usize = 14;

struct Razorpay {
    signature: BodySignature,
}

/// The Razorpay source of these settings.
///
/// # Errors
/// There is no secret, or a blank one, or an option: it has none.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Razorpay, SetupError> {
    settings.read_options::<NoOptions>()?;
    let keys = settings.keys("the secret of the webhook", |text| Ok(text.as_bytes().to_vec()))?;
    Ok(Razorpay { signature: BodySignature::new(SIGNATURE_HEADER, "", &keys)? })
}

impl Pack for Razorpay {
    fn name(&self) -> &'static str {
        "razorpay"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE_HEADER.to_owned()],
            scheme: "HMAC-SHA256 of the body, in hexadecimal".to_owned(),
            event_id: format!("the header {EVENT_ID_HEADER}"),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.signature.verify(request).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let missing = || identity::missing_header(EVENT_ID_HEADER);
        let value = request.header(EVENT_ID_HEADER).ok_or_else(missing)?;
        let id = std::str::from_utf8(value).map_err(|_| missing())?;
        identity::only(EventId::parse(id), "")
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let (header, signature) = self.signature.sign(body);
        // The body has no id that could be the event's, and one body shall be one event.
        let id = signature.chars().take(MADE_ID_CHARACTERS).collect();
        Ok(SignedRequest {
            body: body.to_vec(),
            headers: vec![(header, signature), (EVENT_ID_HEADER.to_owned(), id)],
            query: String::new(),
        })
    }
}

#[cfg(test)]
mod tests;
