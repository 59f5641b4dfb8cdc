//! Next-gen webhooks: HMAC-SHA-256 of the body in `X-Mollie-Signature`, one event a request. A request without
//! the header is refused: it would be a classic webhook, which proves nothing.

use application::Envelope;
use application::ports::provider::{
    CannotSign, Problem, SignedRequest, Trust, Untranslatable, WebhookRequest,
};
use domain::{EventId, Timestamp};

use super::NAME;
use super::translate::{Counted, translate};
use crate::providers::members;
use crate::providers::pack::{Pack, PackDescription, Translation};
use crate::providers::settings::{SetupError, SourceSettings};
use crate::providers::signing::{Algorithm, KeyedHash, hex, hex_text};

const SIGNATURE_HEADER: &str = "x-mollie-signature";

/// What Mollie writes before a signature. Its own library takes one without, so that is taken too.
const PREFIX: &str = "sha256=";

/// How many signatures of a request are read: more than any sender has secrets, few enough to cost nothing.
const SIGNATURES_MAX: usize = 32;

/// Next-gen webhooks.
pub struct NextGen {
    keyed: KeyedHash,
    counted: Counted,
}

impl NextGen {
    pub fn new(settings: &SourceSettings, counted: Counted) -> Result<Self, SetupError> {
        let keys = settings.keys("the webhook's signing secret", |text| Ok(text.as_bytes().to_vec()))?;
        Ok(Self { keyed: KeyedHash::new(Algorithm::Sha256, &keys)?, counted })
    }
}

impl Pack for NextGen {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> PackDescription {
        PackDescription {
            signature_headers: vec![SIGNATURE_HEADER.to_owned()],
            scheme: "next-gen, HMAC-SHA256 of the body, in hexadecimal".to_owned(),
            event_id: "id in the body".to_owned(),
        }
    }

    fn default_trust(&self) -> Trust {
        Trust::Signature
    }

    fn verify(&self, request: &WebhookRequest<'_>, _now: Timestamp) -> Result<Option<usize>, &'static str> {
        let claimed = claimed(request)?;
        self.keyed.matching(&[request.body], &claimed).map(Some).ok_or("wrong_signature")
    }

    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
        members::event_id(request.body, &["id"]).map(|id| vec![id])
    }

    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable> {
        translate(&envelope.payload, self.counted)
    }

    fn sign(&self, body: &[u8], _now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let value = format!("{PREFIX}{}", hex_text(&self.keyed.sign(&[body])));
        Ok(SignedRequest {
            body: body.to_vec(),
            headers: vec![(SIGNATURE_HEADER.to_owned(), value)],
            query: String::new(),
        })
    }
}

/// The signatures of a request. For a day after a secret was replaced there are two, in two headers, which a
/// proxy may have joined with a comma.
fn claimed(request: &WebhookRequest<'_>) -> Result<Vec<Vec<u8>>, &'static str> {
    let mut lines = request.headers_named(SIGNATURE_HEADER).peekable();
    if lines.peek().is_none() {
        return Err("missing_signature");
    }
    let texts = lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    let claimed: Vec<Vec<u8>> = texts
        .filter_map(|text| hex(text.strip_prefix(PREFIX.as_bytes()).unwrap_or(text)))
        .take(SIGNATURES_MAX)
        .collect();
    if claimed.is_empty() { Err("malformed_signature") } else { Ok(claimed) }
}
