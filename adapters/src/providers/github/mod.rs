//! GitHub: sponsorships and whatever else is subscribed. Authentic, kept and recorded; nothing here is a payment
//! of ours.
//!
//! <https://docs.github.com/en/webhooks>, `docs/providers/github.md`

use std::borrow::Cow;
use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{Effect, EventId, NoEffect, Timestamp};

use super::identity::{missing_header, only};
use super::json::Object;
use super::members::event_kind;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::BodySignature;

/// The header that carries the signature. `X-Hub-Signature`, by SHA-1, is passed over.
const SIGNATURE: &str = "x-hub-signature-256";

/// What stands before the signature.
const PREFIX: &str = "sha256=";

/// The header that carries the delivery's id, which a redelivery keeps.
const DELIVERY: &str = "x-github-delivery";

/// The header that says what happened.
const EVENT: &str = "x-github-event";

/// The form field of a webhook whose content type is `application/x-www-form-urlencoded`.
const FORM_FIELD: &str = "payload";

/// A GitHub webhook.
struct GitHub {
    signature: BodySignature,
}

/// The GitHub source of these settings.
///
/// # Errors
/// There is no secret, one is blank, or there is an option.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(GitHub::of(settings)?, settings)))
}

impl GitHub {
    fn of(settings: &SourceSettings) -> Result<Self, SetupError> {
        settings.read_options::<NoOptions>()?;
        let keys = settings.keys("the webhook's secret", |text| Ok(text.as_bytes().to_vec()))?;
        Ok(Self { signature: BodySignature::new(SIGNATURE, PREFIX, &keys)? })
    }
}

impl Pack for GitHub {
    fn name(&self) -> &'static str {
        "github"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE.to_owned()],
            scheme: "HMAC-SHA256 of the body, hexadecimal, after sha256=".to_owned(),
            event_id: "the header x-github-delivery".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.signature.verify(request).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let id = request.header(DELIVERY).and_then(|id| std::str::from_utf8(id).ok());
        only(EventId::parse(id.ok_or_else(|| missing_header(DELIVERY))?), "")
    }

    fn keeps_header(&self, name: &str) -> bool {
        name == EVENT
    }

    /// What happened, `sponsorship.created`, of the header and of the body's `action` where it has one.
    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        let event = envelope.headers.iter().find(|(name, _)| name == EVENT).map(|(_, value)| value.as_str());
        let json = json_of(&envelope.payload);
        let action = Object::parse(&json).and_then(|body| body.text("action").map(Cow::into_owned));
        let kind = match (event, action) {
            (Some(event), Some(action)) => Some(format!("{event}.{action}")),
            (event, _) => event.map(str::to_owned),
        };
        Ok(Translation {
            kind: event_kind(kind.as_deref())?,
            live: None,
            occurred_at: None,
            effect: Effect::Nothing(NoEffect::Kind),
        })
    }

    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let header = |name: &str, value: String| (name.to_owned(), value);
        let headers = vec![
            self.signature.sign(body),
            header(DELIVERY, now.as_micros().to_string()),
            header(EVENT, "ping".to_owned()),
        ];
        Ok(SignedRequest { body: body.to_vec(), headers, query: String::new() })
    }
}

/// The JSON of a body, which is a form where the webhook is set up so.
fn json_of(body: &[u8]) -> Cow<'_, [u8]> {
    if body.trim_ascii_start().starts_with(b"{") {
        return Cow::Borrowed(body);
    }
    let field = url::form_urlencoded::parse(body).find(|(name, _)| name == FORM_FIELD);
    field.map_or(Cow::Borrowed(body), |(_, json)| Cow::Owned(json.into_owned().into_bytes()))
}

#[cfg(test)]
mod tests;
