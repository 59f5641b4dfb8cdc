//! Shopify: orders, their transactions and their refunds.
//!
//! <https://shopify.dev/docs/apps/build/webhooks>, `docs/providers/shopify.md`

mod headers;
mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::identity::{missing_header, only, only_joined};
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::{Algorithm, BodySignature, Encoding, KeyedHash};
use headers::{DELIVERY_ID, EVENT_ID, SHOP_DOMAIN, SIGNATURE, TOPIC, is_named};

/// A Shopify app.
struct Shopify {
    /// Of webhooks and of the newer events, which differ in the header's name.
    signatures: [BodySignature; 2],
}

/// The Shopify source of these settings.
///
/// # Errors
/// There is no secret, one is blank, or there is an option.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(Shopify::of(settings)?, settings)))
}

impl Shopify {
    fn of(settings: &SourceSettings) -> Result<Self, SetupError> {
        settings.read_options::<NoOptions>()?;
        let keys = settings.keys("the app's client secret", |text| Ok(text.as_bytes().to_vec()))?;
        let keyed = KeyedHash::new(Algorithm::Sha256, &keys)?;
        let signatures = SIGNATURE.map(|name| BodySignature::with(name, Encoding::Base64, keyed.clone()));
        Ok(Self { signatures })
    }
}

impl Pack for Shopify {
    fn name(&self) -> &'static str {
        "shopify"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: SIGNATURE.map(str::to_owned).to_vec(),
            scheme: "HMAC-SHA256 of the body, base64".to_owned(),
            event_id: "the header x-shopify-event-id, or else x-shopify-webhook-id, with the topic"
                .to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        let [webhook, event] = &self.signatures;
        let verdict = match webhook.verify(request) {
            Err("missing_signature") => event.verify(request),
            verdict => verdict,
        };
        verdict.map(Some)
    }

    /// The event's id with the topic: what one action sets off in several topics may have one id.
    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let text = |name| request.header(name).and_then(|value| std::str::from_utf8(value).ok());
        let readable = |name| text(name).filter(|value| EventId::parse(value).is_ok());
        let id = EVENT_ID.into_iter().chain(DELIVERY_ID).find_map(readable);
        let id = id.ok_or_else(|| missing_header(EVENT_ID[0]))?;
        match TOPIC.into_iter().find_map(readable) {
            Some(topic) => only_joined(&[id, topic]),
            None => only(EventId::parse(id), ""),
        }
    }

    fn keeps_header(&self, name: &str) -> bool {
        is_named(TOPIC, name) || is_named(SHOP_DOMAIN, name)
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(envelope)
    }

    /// Signed as an order that is paid, of a shop that does not exist.
    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let header = |names: [&str; 2], value: &str| (names[0].to_owned(), value.to_owned());
        let headers = vec![
            self.signatures[0].sign(body),
            header(EVENT_ID, &now.as_micros().to_string()),
            header(TOPIC, "orders/paid"),
            header(SHOP_DOMAIN, "example.myshopify.com"),
        ];
        Ok(SignedRequest { body: body.to_vec(), headers, query: String::new() })
    }
}

#[cfg(test)]
mod tests;
