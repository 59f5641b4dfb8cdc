//! Standard webhooks: payments, refunds, disputes. A request may hold several items; it is taken whole or not
//! at all.

use std::collections::HashSet;

use application::Envelope;
use application::ports::provider::{
    Answer, CannotSign, Problem, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::item::{self, Item};
use super::{Capture, accepted, sign, translate};
use crate::providers::pack::{Pack, PackDescription, Translation};
use crate::providers::signing::{KeyedHash, base64};

/// A source of standard webhooks.
pub struct Standard {
    /// The HMAC keys.
    pub keyed: KeyedHash,
    /// When the account captures.
    pub capture: Capture,
}

impl Pack for Standard {
    fn name(&self) -> &'static str {
        "adyen"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: Vec::new(),
            scheme: "HMAC-SHA256 of eight members of each item, in additionalData.hmacSignature".to_owned(),
            event_id: "pspReference, eventCode and success of each item".to_owned(),
        }
    }

    /// Not all of an item is signed, but everything is that money is read from.
    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        // What holds no item is signed by nobody.
        let items = item::of_body(request.body).ok_or("missing_signature")?;
        let slots: Vec<usize> = items.iter().map(|item| self.slot(item)).collect::<Result<_, _>>()?;
        slots.first().map(|slot| Some(*slot)).ok_or("missing_signature")
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let items = item::of_body(request.body).unwrap_or_default();
        let (mut ids, mut problems, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for item in &items {
            match item.id() {
                Ok(id) if seen.insert(id.clone()) => ids.push(id),
                Ok(_) => {}
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(ids) } else { Err(problems) }
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        let wrong = |what: &str| Untranslatable(format!("/notificationItems {what}"));
        let items = item::of_body(&envelope.payload).ok_or_else(|| wrong("is not a list of items"))?;
        let item = items.iter().find(|item| item.id().is_ok_and(|id| id == envelope.key.event_id));
        let item = item.ok_or_else(|| wrong("has no item of this event's id"))?;
        translate::translate(item, self.capture)
    }

    fn answer(&self) -> Option<Answer> {
        Some(accepted())
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        Ok(SignedRequest {
            body: sign::signed(body, &self.keyed)?,
            headers: Vec::new(),
            query: String::new(),
        })
    }
}

impl Standard {
    /// The place of the key that signed the item.
    fn slot(&self, item: &Item<'_>) -> Result<usize, &'static str> {
        let claimed = item.signature()?;
        let signed = item.signed_text()?;
        let claimed = base64(claimed.as_bytes()).ok_or("malformed_signature")?;
        self.keyed.matching(&[signed.as_bytes()], &[claimed]).ok_or("wrong_signature")
    }
}
