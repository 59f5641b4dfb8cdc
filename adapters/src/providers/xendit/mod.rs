//! Xendit: the account's token in `x-callback-token`, which proves nothing about the body.

mod identify;
mod invoice;
mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::Tokens;

const TOKEN_HEADER: &str = "x-callback-token";

struct Xendit {
    tokens: Tokens,
}

/// The Xendit source of these settings.
///
/// # Errors
/// There is no token, or a blank one, or an option: it has none.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Xendit, SetupError> {
    settings.read_options::<NoOptions>()?;
    let tokens = settings.secret_texts("the webhook verification token from the dashboard")?;
    Ok(Xendit { tokens: Tokens::new(&tokens) })
}

impl Pack for Xendit {
    fn name(&self) -> &'static str {
        "xendit"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![TOKEN_HEADER.to_owned()],
            scheme: "the webhook token itself; the body is not signed".to_owned(),
            event_id: "event, the object's id and its status in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Confirm
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        self.tokens.verify(request, TOKEN_HEADER).map(Some)
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        identify::identify(request.body)
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let token = (TOKEN_HEADER.to_owned(), self.tokens.first().to_owned());
        Ok(SignedRequest { body: body.to_vec(), headers: vec![token], query: String::new() })
    }
}

#[cfg(test)]
mod tests;
