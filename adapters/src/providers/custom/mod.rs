//! Any other sender, by configuration alone: how it signs, where its values are, what its kinds mean. Every
//! option is checked when the source is set up; `docs/providers/custom.md` lists them.

mod carrier;
mod field;
mod hash_scheme;
mod mapping;
mod meaning;
mod options;
pub(crate) mod pointer;
mod price;
mod scheme;
mod signed_time;
pub(crate) mod template;
pub(crate) mod time;

use std::borrow::Cow;
use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    Answer, CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{SetupError, SourceSettings};
use super::signing::hex_text;
use field::Message;
use mapping::Mapping;
use options::Options;
use scheme::Scheme;

struct Custom {
    scheme: Scheme,
    mapping: Mapping,
    answer: Option<Answer>,
}

/// The custom source of these settings.
///
/// # Errors
/// An option is missing, unknown or does not fit the others; or a secret is missing or not usable.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(Custom::new(settings)?, settings)))
}

impl Custom {
    fn new(settings: &SourceSettings) -> Result<Self, SetupError> {
        let mut options = Options::of(settings);
        let mapping = Mapping::read(&mut options)?;
        let scheme = Scheme::read(&mut options, settings, mapping.id_header())?;
        let answer = options.text("answer_body")?.map(answer);
        options.finish()?;
        Ok(Self { scheme, mapping, answer })
    }
}

impl Pack for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: self.scheme.headers(),
            scheme: self.scheme.description(),
            event_id: self.mapping.id_description(),
        }
    }

    /// A header that says what an event means, and is not signed, could be changed by anyone on the way.
    fn default_trust(&self) -> Trust {
        if self.scheme.binds(self.mapping.headers()) { Trust::Signature } else { Trust::Confirm }
    }

    fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.scheme.verify(request, now).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        let header =
            |name: &str| request.header(name).and_then(|it| std::str::from_utf8(it).ok()).map(Cow::Borrowed);
        self.mapping.event_id(&Message::new(request.body, &header)).map(|id| vec![id])
    }

    fn keeps_header(&self, name: &str) -> bool {
        self.mapping.headers().any(|header| header == name)
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        let header = |name: &str| {
            let (_, value) = envelope.headers.iter().find(|(header, _)| header == name)?;
            Some(Cow::Borrowed(value.as_str()))
        };
        self.mapping.translate(&Message::new(&envelope.payload, &header))
    }

    fn answer(&self) -> Option<Answer> {
        self.answer.clone()
    }

    /// Headers that are the event id are made up, the same for the same body. Other headers with values of the
    /// event are left out: only the sender knows them.
    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let digest = hex_text(&Sha256::digest(body));
        let ids = self.mapping.id_headers().map(|name| (name.to_owned(), digest.clone())).collect();
        self.scheme.sign(body, ids, now)
    }
}

/// What the sender wants to hear; its media type is JSON where it is JSON.
fn answer(body: String) -> Answer {
    let is_json = serde_json::from_str::<&RawValue>(&body).is_ok();
    let content_type = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
    Answer { status: 200, content_type, body: Cow::Owned(body) }
}

#[cfg(test)]
mod tests;
