//! PayPal: an RSA signature over the transmission, the webhook's id and a checksum of the body, by a
//! certificate that the request names. There is no shared secret.

pub(crate) mod certificate;
pub(crate) mod certificate_url;
mod fetch;
mod money;
mod resource;
mod reuse;
mod store;
mod translate;
mod transmission;

use std::sync::Arc;
use std::time::Duration;

use application::Envelope;
use application::ports::provider::{
    CannotSign, IntakeRefusal, Problem, Provider, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use async_trait::async_trait;
use domain::{EventId, Timestamp};
use serde::Deserialize;

use super::members;
use super::pack::{Pack, PackDescription, PackProvider, Translation};
use super::settings::{Mode, SetupError, SourceSettings};
use super::signing::Tolerance;
use certificate::TrustedIssuers;
use fetch::{CertificateSource, OverHttps};
use reuse::Transmissions;
use store::{CertificateStore, NoKey};
use transmission::Transmission;

/// The webhook id under which PayPal signs what its public simulator sends: a source with this id takes
/// whatever anybody lets the simulator send.
const SIMULATOR: &str = "WEBHOOK_ID";

/// How old a transmission may be, in seconds, unless it is set otherwise. PayPal tries for three days, and it
/// is not documented whether a later attempt has a time of its own; one day more is for slow ends.
const TOLERANCE_S: u64 = 4 * 24 * 60 * 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    webhook_id: String,
    #[serde(default)]
    allow_simulator: bool,
    #[serde(default = "tolerance_s")]
    tolerance_s: u64,
    #[serde(default)]
    intermediates: String,
}

const fn tolerance_s() -> u64 {
    TOLERANCE_S
}

struct PayPal {
    webhook_id: String,
    /// For what comes from the past.
    past: Tolerance,
    /// For what comes from the future, which only two clocks can disagree about.
    future: Tolerance,
    certificates: CertificateStore,
    transmissions: Transmissions,
}

/// The PayPal source of these settings.
///
/// # Errors
/// There is a secret; `webhook_id` is missing or no id, or the simulator's where that is not allowed;
/// `intermediates` are no certificates; an option is unknown.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    Ok(Arc::new(PackProvider::new(pack(settings, Arc::new(OverHttps::new()?))?, settings)))
}

fn pack(settings: &SourceSettings, source: Arc<dyn CertificateSource>) -> Result<PayPal, SetupError> {
    if !settings.secrets.is_empty() {
        return Err(SetupError::BadSecret("PayPal signs with certificates, so secrets must be empty"));
    }
    let Options { webhook_id, allow_simulator, tolerance_s, intermediates } = settings.read_options()?;
    check_webhook_id(&webhook_id, allow_simulator, settings.production)?;
    let issuers = TrustedIssuers::public(&intermediates)?;
    let name = match settings.mode {
        Mode::Live => "messageverificationcerts.paypal.com",
        Mode::Test => "messageverificationcerts.sandbox.paypal.com",
    };
    Ok(PayPal {
        webhook_id,
        past: Tolerance::new(settings.tolerance.max(Duration::from_secs(tolerance_s))),
        future: Tolerance::new(settings.tolerance),
        certificates: CertificateStore::new(source, issuers, name),
        transmissions: Transmissions::default(),
    })
}

fn check_webhook_id(id: &str, allow_simulator: bool, production: bool) -> Result<(), SetupError> {
    let wrong = |what: &str| Err(SetupError::BadOption(what.to_owned()));
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return wrong("webhook_id is not the id of a webhook, as PayPal's dashboard shows it");
    }
    if production && (allow_simulator || id == SIMULATOR) {
        return wrong(
            "events of PayPal's public simulator, which anybody can send, are for development only",
        );
    }
    if id == SIMULATOR && !allow_simulator {
        return wrong(
            "webhook_id is the simulator's: with it, anybody can send events; say allow_simulator = true",
        );
    }
    Ok(())
}

#[async_trait]
impl Pack for PayPal {
    fn name(&self) -> &'static str {
        "paypal"
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: transmission::HEADERS.map(str::to_owned).to_vec(),
            scheme: "RSA-SHA256 of transmission id, time, webhook id and CRC-32 of the body".to_owned(),
            event_id: "id in the body".to_owned(),
        }
    }

    /// By decision: the signature binds a CRC-32 of the body, which can be forged by whoever has a genuine
    /// transmission; that a transmission comes again with another body is refused.
    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    async fn prepare(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<(), IntakeRefusal> {
        // What is refused anyway costs no fetch; the reason is told by `verify`.
        let Ok(transmission) = Transmission::read(request) else { return Ok(()) };
        if self.judge_time(&transmission, now).is_err() {
            return Ok(());
        }
        match self.certificates.fetch_key(&transmission.certificate, now).await {
            Ok(_) => Ok(()),
            Err(NoKey::Untrusted) => Err(IntakeRefusal::Unauthentic(transmission::UNTRUSTED)),
            Err(NoKey::Unavailable(why)) => {
                Err(IntakeRefusal::Undecided(format!("PayPal's certificate cannot be had: {why}")))
            }
        }
    }

    fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<Option<usize>, &'static str> {
        let transmission = Transmission::read(request)?;
        self.judge_time(&transmission, now)?;
        let key = match self.certificates.known_key(&transmission.certificate, now) {
            Some(Ok(key)) => key,
            Some(Err(NoKey::Untrusted)) => return Err(transmission::UNTRUSTED),
            Some(Err(NoKey::Unavailable(_))) | None => return Err("unknown_certificate"),
        };
        if !key.signs(&transmission.message(&self.webhook_id, request.body), &transmission.signature) {
            return Err("wrong_signature");
        }
        if self.transmissions.admit(transmission.id, request.body) {
            Ok(None)
        } else {
            Err("transmission_id_reused")
        }
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        members::event_id(request.body, &["id"]).map(|id| vec![id])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate::translate(&envelope.payload)
    }

    fn sign(&self, _body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        Err(CannotSign("only PayPal can sign: it has the private key of its certificate".to_owned()))
    }
}

impl PayPal {
    fn judge_time(&self, transmission: &Transmission<'_>, now: Timestamp) -> Result<(), &'static str> {
        let at = transmission.at.as_secs();
        if at > now.as_secs() { self.future.judge(at, now) } else { self.past.judge(at, now) }
    }
}

#[cfg(test)]
mod tests;
