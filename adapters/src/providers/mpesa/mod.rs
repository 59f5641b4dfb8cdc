//! M-Pesa (Daraja): nothing is signed at all. Only a secret token in the callback's URL keeps strangers out,
//! so without one a source of it does not start, and no event counts before it is confirmed.

mod c2b;
mod stk;
mod translate;

use std::borrow::Cow;
use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    Answer, CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};
use url::form_urlencoded;

use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{NoOptions, SetupError, SourceSettings};
use super::signing::Tokens;

/// The parameter of the callback's URL that carries the token.
const TOKEN_PARAMETER: &str = "token";

/// How long a token is at least, in characters: it is all that there is.
const TOKEN_CHARACTERS_MIN: usize = 32;

/// How many tokens of a query are tried.
const TOKENS_MAX: usize = 8;

/// What Daraja takes for an acknowledgement.
const ACCEPTED: &str = r#"{"ResultCode":0,"ResultDesc":"Accepted"}"#;

struct Mpesa {
    tokens: Tokens,
}

/// The M-Pesa source of these settings.
///
/// # Errors
/// There is no token, or one that is blank or too short; `trust` is `"signature"`; there is an option: it has
/// none.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Mpesa, SetupError> {
    settings.read_options::<NoOptions>()?;
    if settings.trust == Some(Trust::Signature) {
        return Err(SetupError::BadOption(
            "trust cannot be \"signature\": nothing that M-Pesa sends is signed".to_owned(),
        ));
    }
    let tokens =
        settings.secret_texts("the token in the callback's URL, ?token=…, of 32 characters or more")?;
    if tokens.iter().any(|token| token.chars().count() < TOKEN_CHARACTERS_MIN) {
        return Err(SetupError::BadSecret("a token in the callback's URL has 32 characters or more"));
    }
    Ok(Mpesa { tokens: Tokens::new(&tokens) })
}

impl Pack for Mpesa {
    fn name(&self) -> &'static str {
        "mpesa"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: Vec::new(),
            scheme: "a token in the query, ?token=…; nothing is signed".to_owned(),
            event_id: "CheckoutRequestID or TransID in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Confirm
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        let shown: Vec<Cow<'_, str>> = form_urlencoded::parse(request.query.as_bytes())
            .filter(|(name, _)| name == TOKEN_PARAMETER)
            .map(|(_, value)| value)
            .take(TOKENS_MAX)
            .collect();
        if shown.is_empty() {
            return Err("missing_signature");
        }
        let slot = self.tokens.matching(shown.iter().map(|token| token.as_bytes()));
        slot.map(Some).ok_or("wrong_signature")
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        translate::identify(request.body)
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn answer(&self) -> Option<Answer> {
        Some(Answer { status: 200, content_type: "application/json", body: Cow::Borrowed(ACCEPTED) })
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair(TOKEN_PARAMETER, self.tokens.first());
        Ok(SignedRequest { body: body.to_vec(), headers: Vec::new(), query: query.finish() })
    }
}

#[cfg(test)]
mod tests;
