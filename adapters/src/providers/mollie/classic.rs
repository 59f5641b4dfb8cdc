//! Classic webhooks: a form with the id of the object that has changed, and nothing else. Nobody signs it, so
//! it is a hint for ever: anyone can send one, and it names no amount.

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{Effect, EventId, NoEffect, Timestamp};

use super::{NAME, bad};
use crate::providers::joined_id::joined;
use crate::providers::members::event_kind;
use crate::providers::pack::{Pack, PackDescription, Translation};
use crate::providers::settings::{SetupError, SourceSettings};

/// What a notice is called: it does not say what has happened.
const KIND: &str = "notice";

/// The longest form that is read; a real one has some thirty bytes.
const FORM_BYTES_MAX: usize = 4_096;

/// Classic webhooks.
pub struct Classic {
    request_id_header: Option<String>,
}

impl Classic {
    /// `request_id_header` names the header in which a proxy of ours numbers requests, where there is one.
    pub fn new(settings: &SourceSettings, request_id_header: Option<&str>) -> Result<Self, SetupError> {
        if !settings.secrets.is_empty() {
            return Err(bad("scheme \"classic\" takes no secrets: classic webhooks are not signed"));
        }
        if settings.trust == Some(Trust::Signature) {
            return Err(bad("scheme \"classic\" cannot have trust = \"signature\": nothing is signed"));
        }
        let named =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        match request_id_header {
            Some(name) if !named(name) => Err(bad("request_id_header is not the name of a header")),
            name => Ok(Self { request_id_header: name.map(str::to_ascii_lowercase) }),
        }
    }
}

impl Pack for Classic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> PackDescription {
        let event_id = match &self.request_id_header {
            Some(header) => format!("id in the form, and the header {header}"),
            None => "id in the form: one notice for each object".to_owned(),
        };
        PackDescription { signature_headers: Vec::new(), scheme: "classic, unsigned".to_owned(), event_id }
    }

    fn default_trust(&self) -> Trust {
        Trust::Confirm
    }

    fn verify(&self, _request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        Ok(None)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let object = object_id(request.body)?;
        let Some(header) = &self.request_id_header else {
            return joined(&[&object]).map(|id| vec![id]).map_err(|error| wrong("/id", &error.to_string()));
        };
        let number = request.header(header).and_then(|value| std::str::from_utf8(value).ok());
        let number = number.filter(|number| !number.is_empty());
        let number = number.ok_or_else(|| wrong("", "came without the header of request_id_header"))?;
        joined(&[&object, number]).map(|id| vec![id]).map_err(|error| wrong("/id", &error.to_string()))
    }

    fn translate(&self, _envelope: &Envelope) -> Result<Translation, Untranslatable> {
        Ok(Translation {
            kind: event_kind(Some(KIND))?,
            live: None,
            occurred_at: None,
            effect: Effect::Nothing(NoEffect::Unconfirmed),
        })
    }

    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        object_id(body)
            .map_err(|_| CannotSign("the body is not a form with an id, such as id=tr_1".to_owned()))?;
        let form = ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned());
        let number = self.request_id_header.iter().map(|name| (name.clone(), now.as_micros().to_string()));
        let headers = std::iter::once(form).chain(number).collect();
        Ok(SignedRequest { body: body.to_vec(), headers, query: String::new() })
    }
}

/// The id in the form.
fn object_id(form: &[u8]) -> Result<String, Vec<Problem>> {
    if form.len() > FORM_BYTES_MAX {
        return Err(wrong("", "is too long for a form with an id"));
    }
    let id = url::form_urlencoded::parse(form).find(|(name, _)| name == "id").map(|(_, id)| id.into_owned());
    id.filter(|id| !id.is_empty()).ok_or_else(|| wrong("/id", "is missing from the form"))
}

fn wrong(pointer: &str, message: &str) -> Vec<Problem> {
    vec![Problem { pointer: pointer.to_owned(), code: "invalid", message: message.to_owned() }]
}
