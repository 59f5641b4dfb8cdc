//! Platform webhooks: accounts, cards, transfers. None of them tells a payment of ours, so each is kept and has
//! no effect.

use std::borrow::Cow;

use application::Envelope;
use application::ports::provider::{
    Answer, CannotSign, Problem, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{Effect, EventId, NoEffect, Timestamp};

use super::accepted;
use crate::providers::identity::{missing, only_joined};
use crate::providers::json::Object;
use crate::providers::members::{Members, body_object, event_kind};
use crate::providers::moment::rfc3339;
use crate::providers::pack::{Pack, PackDescription, Translation};
use crate::providers::signing::{BodySignature, Encoding, KeyedHash};

const SIGNATURE_HEADER: &str = "hmacsignature";

/// A source of platform webhooks.
pub struct Platform {
    signature: BodySignature,
}

impl Platform {
    /// Under these HMAC keys.
    pub const fn new(keyed: KeyedHash) -> Self {
        Self { signature: BodySignature::with(SIGNATURE_HEADER, Encoding::Base64, keyed) }
    }
}

impl Pack for Platform {
    fn name(&self) -> &'static str {
        "adyen"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE_HEADER.to_owned()],
            scheme: "HMAC-SHA256 of the body, in base64".to_owned(),
            event_id:
                "type and eventId, or type, the object's id, the moment and sequenceNumber, in the body"
                    .to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.signature.verify(request).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let root = body_object(request.body)?;
        let kind = root.text("type").ok_or_else(|| missing("/type"))?;
        if let Some(id) = root.text("eventId") {
            return only_joined(&[&kind, &id]);
        }
        let data = root.object("data").ok_or_else(|| missing("/data"))?;
        let id = object_id(&kind, &data).unwrap_or_default();
        let moment = root.text("timestamp").or_else(|| root.text("createdAt")).unwrap_or_default();
        // A transfer counts its own events.
        let number = data.text_or_number("sequenceNumber").unwrap_or_default();
        if [&id, &moment, &number].iter().all(|part| part.is_empty()) {
            return Err(missing("/timestamp"));
        }
        only_joined(&[&kind, &id, &moment, &number])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        let root = Members::of_body(&envelope.payload)?;
        let root = root.object();
        let live = match root.text("environment").as_deref() {
            Some("live") => Some(true),
            Some("test") => Some(false),
            _ => None,
        };
        Ok(Translation {
            kind: event_kind(root.text("type").as_deref())?,
            live,
            occurred_at: root.get("timestamp").or_else(|| root.get("createdAt")).and_then(rfc3339),
            effect: Effect::Nothing(NoEffect::Kind),
        })
    }

    fn answer(&self) -> Option<Answer> {
        Some(accepted())
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        Ok(SignedRequest {
            body: body.to_vec(),
            headers: vec![self.signature.sign(body)],
            query: String::new(),
        })
    }
}

/// The id of what a webhook is about: in `data`, or in the member that the type names, whole or by its last
/// words: `balancePlatform.balanceAccountSweep.updated` is about a `sweep`.
fn object_id<'a>(kind: &str, data: &Object<'a>) -> Option<Cow<'a, str>> {
    let name = kind.rsplit('.').nth(1).unwrap_or_default();
    let words = name.match_indices(|c: char| c.is_ascii_uppercase()).map(|(place, _)| name.split_at(place).1);
    let mut names = std::iter::once(name).chain(words);
    data.text("id").or_else(|| {
        names.find_map(|name| {
            let (first, rest) = name.split_at_checked(1)?;
            data.object(&format!("{}{rest}", first.to_ascii_lowercase()))?.text("id")
        })
    })
}
