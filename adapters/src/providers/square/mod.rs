//! Square: HMAC-SHA-256 of the notification URL and the body in `x-square-hmacsha256-signature`, one event a
//! request, amounts in minor units. The older SHA-1 signature beside it is not read.

mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};
use serde::Deserialize;
use url::Url;

use super::identity::{missing, only_joined};
use super::members::body_object;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{SetupError, SourceSettings};
use super::signing::{Algorithm, Encoding, KeyedHash, base64_text, claimed};

const SIGNATURE_HEADER: &str = "x-square-hmacsha256-signature";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    notification_url: String,
}

struct Square {
    keyed: KeyedHash,
    notification_url: String,
}

/// The Square source of these settings.
///
/// # Errors
/// There is no secret, or a blank one; `notification_url` is missing or no URL; there is another option.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Square, SetupError> {
    let Options { notification_url } = settings.read_options()?;
    if !is_url(&notification_url) {
        let what =
            "notification_url is not the http or https URL of the subscription, character for character";
        return Err(SetupError::BadOption(what.to_owned()));
    }
    let keys = settings.keys("the signature key of the subscription", |text| Ok(text.as_bytes().to_vec()))?;
    Ok(Square { keyed: KeyedHash::new(Algorithm::Sha256, &keys)?, notification_url })
}

/// The URL is signed as it stands, so it is judged here and never written anew.
fn is_url(text: &str) -> bool {
    let spelled_out = text.bytes().all(|byte| byte.is_ascii_graphic());
    spelled_out && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

impl Pack for Square {
    fn name(&self) -> &'static str {
        "square"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE_HEADER.to_owned()],
            scheme: "HMAC-SHA256 of the notification URL and the body, in base64".to_owned(),
            event_id: "event_id and type in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        let claimed = claimed(request, SIGNATURE_HEADER, "", Encoding::Base64)?;
        let parts = [self.notification_url.as_bytes(), request.body];
        self.keyed.matching(&parts, &claimed).map(Some).ok_or("wrong_signature")
    }

    /// Several kinds of one change share an `event_id`, so the kind is part of the id.
    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let members = body_object(request.body)?;
        let id = members.text("event_id").ok_or_else(|| missing("/event_id"))?;
        only_joined(&[&id, &members.text("type").unwrap_or_default()])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let signature = base64_text(&self.keyed.sign(&[self.notification_url.as_bytes(), body]));
        Ok(SignedRequest {
            body: body.to_vec(),
            headers: vec![(SIGNATURE_HEADER.to_owned(), signature)],
            query: String::new(),
        })
    }
}

#[cfg(test)]
mod tests;
