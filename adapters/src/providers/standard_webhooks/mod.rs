//! Standard Webhooks: the way in which many senders sign, Svix among them. What is in the body is the sender's
//! affair, so an event is authentic, kept and recorded, and changes nothing by itself.
//!
//! <https://www.standardwebhooks.com>, `docs/providers/standard-webhooks.md`

mod secret;
mod verifier;

use std::borrow::Cow;
use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{Effect, EventId, NoEffect, Timestamp};

use super::json::Object;
use super::members::event_kind;
use super::moment;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
pub use secret::{Bare, SecretError};
pub use verifier::{HEADERS, Verifier, id_of};

/// A sender by the standard.
struct StandardWebhooks {
    verifier: Verifier,
}

/// The Standard Webhooks source of these settings.
///
/// # Errors
/// There is no secret, one is not usable, or there is an option.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    settings.read_options::<NoOptions>()?;
    let verifier = Verifier::new(&settings.secrets, Bare::Base64OrText, settings.tolerance)?;
    Ok(Arc::new(PackProvider::new(StandardWebhooks { verifier }, settings)))
}

impl Pack for StandardWebhooks {
    fn name(&self) -> &'static str {
        "standard-webhooks"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: HEADERS.map(str::to_owned).to_vec(),
            scheme: "Standard Webhooks, HMAC-SHA256 (v1) or Ed25519 (v1a)".to_owned(),
            event_id: "the header webhook-id or svix-id".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.verifier.verify(request, now).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let id = id_of(request).and_then(|id| std::str::from_utf8(id).ok());
        let problem = |message: String| vec![Problem { pointer: String::new(), code: "invalid", message }];
        let id = id.ok_or_else(|| problem("has no readable webhook-id header".to_owned()))?;
        let id = EventId::parse(id);
        id.map(|id| vec![id]).map_err(|error| problem(format!("has a webhook-id header that {error}")))
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        let body = Object::parse(&envelope.payload);
        let kind = body.as_ref().and_then(|body| body.text("type"));
        Ok(Translation {
            kind: event_kind(kind.as_deref())?,
            live: None,
            occurred_at: body.as_ref().and_then(|body| body.get("timestamp")).and_then(moment::rfc3339),
            effect: Effect::Nothing(NoEffect::Kind),
        })
    }

    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        // The body's own id where it has one, so that the same body is the same event.
        let id = Object::parse(body).and_then(|body| body.text("id").map(Cow::into_owned));
        let id =
            id.filter(|id| EventId::parse(id).is_ok()).unwrap_or_else(|| format!("msg_{}", now.as_micros()));
        let headers = self.verifier.sign(&id, body, now)?;
        Ok(SignedRequest { body: body.to_vec(), headers, query: String::new() })
    }
}

#[cfg(test)]
mod tests;
