//! Flutterwave, in its two versions, which sign differently. Which one a source takes is never guessed.

mod identify;
mod translate;

use std::sync::Arc;

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};
use serde::Deserialize;

use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{SetupError, SourceSettings};
use super::signing::{Algorithm, BodySignature, Encoding, KeyedHash, Tokens};

/// Carries the secret hash itself, in version 3.
const TOKEN_HEADER: &str = "verif-hash";

/// Carries a signature over the body, in version 4.
const SIGNATURE_HEADER: &str = "flutterwave-signature";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    scheme: SchemeOption,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SchemeOption {
    V3,
    V4,
}

enum Scheme {
    Token(Tokens),
    Signature(BodySignature),
}

struct Flutterwave {
    scheme: Scheme,
}

/// The Flutterwave source of these settings.
///
/// # Errors
/// There is no secret, or a blank one; `scheme` is neither `"v3"` nor `"v4"`; there is another option.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings)?, settings)))
}

fn pack(settings: &SourceSettings) -> Result<Flutterwave, SetupError> {
    let Options { scheme } = settings.read_options()?;
    let secrets = settings.secret_texts("the secret hash from the dashboard")?;
    let scheme = match scheme {
        SchemeOption::V3 => Scheme::Token(Tokens::new(&secrets)),
        SchemeOption::V4 => {
            let keys: Vec<Vec<u8>> = secrets.iter().map(|secret| secret.as_bytes().to_vec()).collect();
            let keyed = KeyedHash::new(Algorithm::Sha256, &keys)?;
            Scheme::Signature(BodySignature::with(SIGNATURE_HEADER, Encoding::Base64, keyed))
        }
    };
    Ok(Flutterwave { scheme })
}

impl Pack for Flutterwave {
    fn name(&self) -> &'static str {
        "flutterwave"
    }

    fn description(&self) -> PackDescription {
        let (header, scheme, event_id) = match &self.scheme {
            Scheme::Token(_) => (
                TOKEN_HEADER,
                "the secret hash itself; the body is not signed",
                "event, data.id and data.status in the body",
            ),
            Scheme::Signature(_) => (
                SIGNATURE_HEADER,
                "HMAC-SHA256 of the body, in base64",
                "id in the body, or else type, data.id and data.status",
            ),
        };
        PackDescription {
            signature_headers: vec![header.to_owned()],
            scheme: scheme.to_owned(),
            event_id: event_id.to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        match self.scheme {
            Scheme::Token(_) => Trust::Confirm,
            Scheme::Signature(_) => Trust::Signature,
        }
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        match &self.scheme {
            Scheme::Token(tokens) => tokens.verify(request, TOKEN_HEADER).map(Some),
            Scheme::Signature(signature) => signature.verify(request).map(Some),
        }
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        identify::identify(request.body)
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let header = match &self.scheme {
            Scheme::Token(tokens) => (TOKEN_HEADER.to_owned(), tokens.first().to_owned()),
            Scheme::Signature(signature) => signature.sign(body),
        };
        Ok(SignedRequest { body: body.to_vec(), headers: vec![header], query: String::new() })
    }
}

#[cfg(test)]
mod tests;
