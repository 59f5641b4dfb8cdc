//! The native source: one event a request, its shape ours, signed by Standard Webhooks once a secret is set.

mod body;

use std::sync::Arc;
use std::time::Duration;

use application::Envelope;
use application::ports::provider::{
    Answer, CannotSign, Intake, IntakeRefusal, Problem, Provider, SignedRequest, SourceDescription, Trust,
    Untranslatable, WebhookRequest,
};
use async_trait::async_trait;
use domain::{Effect, NoEffect, PaymentEvent, Timestamp};
use secrecy::SecretString;

pub use super::settings::TOLERANCE;
use super::settings::{NoOptions, SetupError, SourceSettings};
pub use super::standard_webhooks::SecretError;
use super::standard_webhooks::{Bare, HEADERS, Verifier};
use body::Body;

/// The native provider.
pub struct NativeProvider {
    verifier: Option<Verifier>,
}

impl NativeProvider {
    /// Takes every request, signed or not. Not for production.
    pub const fn unsigned() -> Self {
        Self { verifier: None }
    }

    /// Takes only requests with a Standard Webhooks signature by one of `secrets`, in any order, so that a
    /// secret can be replaced while both are in use, and of a time at most `tolerance` from ours.
    ///
    /// # Errors
    /// There is no secret, or one is blank or not what its prefix promises.
    pub fn signed(secrets: &[SecretString], tolerance: Duration) -> Result<Self, SecretError> {
        Ok(Self { verifier: Some(Verifier::new(secrets, Bare::Text, tolerance)?) })
    }
}

/// The native source of these settings: unsigned while it has no secret, which production does not allow.
///
/// # Errors
/// A secret is missing where one is needed, or not usable.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    settings.read_options::<NoOptions>()?;
    if settings.secrets.is_empty() {
        if settings.production {
            return Err(SetupError::NoSecret("unsigned events are for development only"));
        }
        return Ok(Arc::new(NativeProvider::unsigned()));
    }
    Ok(Arc::new(NativeProvider::signed(&settings.secrets, settings.tolerance)?))
}

#[async_trait]
impl Provider for NativeProvider {
    async fn prepare<'a>(&self, _request: &WebhookRequest<'a>, _now: Timestamp) -> Result<(), IntakeRefusal> {
        Ok(())
    }

    fn intake<'a>(&self, request: &WebhookRequest<'a>, now: Timestamp) -> Result<Intake, IntakeRefusal> {
        let secret_slot = match &self.verifier {
            Some(verifier) => Some(verifier.verify(request, now).map_err(IntakeRefusal::Unauthentic)?),
            None => None,
        };
        let body = Body::parse(request.body).map_err(IntakeRefusal::Malformed)?;
        Ok(Intake { events: vec![body.id], secret_slot })
    }

    fn keeps_header(&self, _name: &str) -> bool {
        false
    }

    fn translate(&self, envelope: &Envelope) -> Result<PaymentEvent, Untranslatable> {
        let body = Body::parse(&envelope.payload).map_err(|problems| Untranslatable(list(&problems)))?;
        if body.id != envelope.key.event_id {
            return Err(Untranslatable(
                "the payload's id is not the id that it was accepted under".to_owned(),
            ));
        }
        Ok(PaymentEvent {
            key: envelope.key.clone(),
            kind: body.kind,
            effect: body.change.map_or(Effect::Nothing(NoEffect::Kind), Effect::Change),
            occurred_at: None,
            received_at: envelope.received_at,
        })
    }

    fn answer(&self) -> Option<Answer> {
        None
    }

    fn challenge(&self, _query: &str) -> Option<Answer> {
        None
    }

    fn describe(&self) -> SourceDescription {
        let (headers, scheme) = match &self.verifier {
            Some(_) => {
                (HEADERS.map(str::to_owned).to_vec(), "Standard Webhooks, HMAC-SHA256 (v1) or Ed25519 (v1a)")
            }
            None => (Vec::new(), "unsigned"),
        };
        SourceDescription {
            provider: "native",
            signature_headers: headers,
            scheme: scheme.to_owned(),
            event_id: "id in the body".to_owned(),
            trust: Trust::Signature,
            secrets: self.verifier.as_ref().map_or(0, Verifier::secrets),
        }
    }

    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let id = match Body::parse(body) {
            Ok(body) => body.id,
            Err(problems) => return Err(CannotSign(list(&problems))),
        };
        let headers = match &self.verifier {
            Some(verifier) => verifier.sign(id.as_str(), body, now)?,
            None => Vec::new(),
        };
        Ok(SignedRequest { body: body.to_vec(), headers, query: String::new() })
    }
}

fn list(problems: &[Problem]) -> String {
    let line = |problem: &Problem| match problem.pointer.as_str() {
        "" => format!("the body {}", problem.message),
        pointer => format!("{pointer} {}", problem.message),
    };
    problems.iter().map(line).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
