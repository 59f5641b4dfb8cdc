//! GoCardless: HMAC-SHA-256 of the body in `Webhook-Signature`, up to 250 events a request, none with an
//! amount.

mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::json::Object;
use super::members;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::BodySignature;

const SIGNATURE_HEADER: &str = "webhook-signature";

struct GoCardless {
    signature: BodySignature,
}

/// The GoCardless source of these settings.
///
/// # Errors
/// There is no secret, or a blank one, or an option: it has none.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<GoCardless, SetupError> {
    settings.read_options::<NoOptions>()?;
    let keys = settings.keys("the secret of the webhook endpoint", |text| Ok(text.as_bytes().to_vec()))?;
    Ok(GoCardless { signature: BodySignature::new(SIGNATURE_HEADER, "", &keys)? })
}

impl Pack for GoCardless {
    fn name(&self) -> &'static str {
        "gocardless"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE_HEADER.to_owned()],
            scheme: "HMAC-SHA256 of the body, in hexadecimal".to_owned(),
            event_id: "events[].id in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.signature.verify(request).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        event_ids(request.body)
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload, &envelope.key.event_id)
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        Ok(SignedRequest {
            body: body.to_vec(),
            headers: vec![self.signature.sign(body)],
            query: String::new(),
        })
    }
}

/// The id of each event, once each, or everything that is wrong: a request is taken whole or not at all.
fn event_ids(body: &[u8]) -> Result<Vec<EventId>, Vec<Problem>> {
    let root = members::body_object(body)?;
    let events = root.array("events").ok_or_else(|| vec![problem("/events", "is not an array")])?;
    let (mut ids, mut problems) = (Vec::with_capacity(events.len()), Vec::new());
    for (index, event) in events.into_iter().enumerate() {
        let pointer = format!("/events/{index}");
        let id = match Object::of(event) {
            Some(event) => members::event_id_of(&event, "id", &format!("{pointer}/id")),
            None => Err(vec![problem(&pointer, "is not an object")]),
        };
        match id {
            Ok(id) => ids.push(id),
            Err(wrong) => problems.extend(wrong),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    Ok(ids)
}

fn problem(pointer: &str, message: &str) -> Problem {
    Problem { pointer: pointer.to_owned(), code: "wrong_type", message: message.to_owned() }
}

#[cfg(test)]
mod tests;
