//! Braintree: a form with a signature and a payload, which is XML in base64. HMAC-SHA-1 of the payload as it
//! stands, under the SHA-1 of the private key: Braintree knows no other.

mod keys;
mod notification;
mod translate;
pub(crate) mod xml;

use std::borrow::Cow;
use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    Answer, CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::{EventId, Timestamp};
use url::form_urlencoded;

use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{SetupError, SourceSettings};
use keys::Keys;
use notification::{Form, Notification};

/// How many characters a line of a payload has.
const PAYLOAD_LINE: usize = 60;

struct Braintree {
    keys: Keys,
}

/// The Braintree source of these settings.
///
/// # Errors
/// There is no private key, or a blank one; there is not one `public_key` for each; there is another option.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Braintree, SetupError> {
    Ok(Braintree { keys: Keys::of(settings)? })
}

impl Pack for Braintree {
    fn name(&self) -> &'static str {
        "braintree"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: Vec::new(),
            scheme: "HMAC-SHA1 of bt_payload in bt_signature, both in the form that is the body".to_owned(),
            event_id: "kind, id of the subject and timestamp in bt_payload".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        let form = Form::read(request.body)?;
        self.keys.verify(&form.signature, &form.payload).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        Notification::of_body(request.body).and_then(|notification| notification.id()).map(|id| vec![id])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        let notification = Notification::of_body(&envelope.payload).map_err(|problems| {
            let told = problems.into_iter().map(|problem| format!("{} {}", problem.pointer, problem.message));
            Untranslatable(told.collect::<Vec<_>>().join("; "))
        })?;
        translate::translate(&notification)
    }

    /// Braintree asks once, when the webhook is set up, whether who listens has the private key. What is
    /// signed so is no notification: its letters and digits are not the base64 of any XML.
    fn challenge(&self, query: &str) -> Option<Answer> {
        let (_, challenge) =
            form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "bt_challenge")?;
        let shaped = (20..=32).contains(&challenge.len())
            && challenge.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let body = Cow::Owned(self.keys.sign(challenge.as_bytes()));
        shaped.then_some(Answer { status: 200, content_type: "text/plain", body })
    }

    /// `body` is the XML of a notification.
    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let payload = lines(&STANDARD.encode(body));
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("bt_signature", &self.keys.sign(payload.as_bytes()))
            .append_pair("bt_payload", &payload)
            .finish();
        let content_type = ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned());
        Ok(SignedRequest { body: form.into_bytes(), headers: vec![content_type], query: String::new() })
    }
}

/// The text in lines, each with its end.
fn lines(text: &str) -> String {
    let mut broken = String::with_capacity(text.len() + text.len() / PAYLOAD_LINE + 1);
    for (index, character) in text.chars().enumerate() {
        if index > 0 && index % PAYLOAD_LINE == 0 {
            broken.push('\n');
        }
        broken.push(character);
    }
    broken.push('\n');
    broken
}

#[cfg(test)]
mod tests;
