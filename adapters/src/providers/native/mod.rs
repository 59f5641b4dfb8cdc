//! The native source: one event a request, its shape ours, signed by Standard Webhooks once a secret is set.

mod body;
mod json;
mod signature;

use std::time::Duration;

use application::Envelope;
use application::ports::provider::{IntakeRefusal, Problem, Provider, Untranslatable, WebhookRequest};
use domain::{EventId, PaymentEvent, Timestamp};
use secrecy::SecretString;

use body::Body;
pub use signature::SecretError;
use signature::Verifier;

/// How far a signature's time may be from ours, on either side, unless it is set otherwise.
pub const TOLERANCE: Duration = Duration::from_mins(5);

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
    /// There is no secret, or one is blank or not what `whsec_` promises.
    pub fn signed(secrets: Vec<SecretString>, tolerance: Duration) -> Result<Self, SecretError> {
        Ok(Self { verifier: Some(Verifier::new(secrets, tolerance)?) })
    }
}

impl Provider for NativeProvider {
    fn intake<'a>(
        &self,
        request: &WebhookRequest<'a>,
        now: Timestamp,
    ) -> Result<Vec<EventId>, IntakeRefusal> {
        if let Some(verifier) = &self.verifier {
            verifier.verify(request, now).map_err(IntakeRefusal::Unauthentic)?;
        }
        let body = Body::parse(request.body).map_err(IntakeRefusal::Malformed)?;
        Ok(vec![body.id])
    }

    fn kept_headers(&self) -> &'static [&'static str] {
        &[]
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
            change: body.change,
            received_at: envelope.received_at,
        })
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
