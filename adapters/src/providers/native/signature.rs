//! Standard Webhooks signatures: `webhook-signature: v1,<base64 of HMAC-SHA-256>`, over
//! `{webhook-id}.{webhook-timestamp}.{body}`.

use std::time::Duration;

use application::ports::provider::WebhookRequest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// How many signatures of a header are tried: more than any sender has secrets, few enough to cost nothing.
const SIGNATURES_MAX: usize = 32;

/// The length of a timestamp, in digits: enough for every moment that a clock can say.
const TIMESTAMP_DIGITS_MAX: usize = 18;

/// Why a secret cannot be used. Never holds the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// There is no secret at all.
    #[error("there is no secret")]
    None,
    /// Nothing but white space.
    #[error("a secret is blank")]
    Blank,
    /// What follows `whsec_` is not base64.
    #[error("a secret starts with \"whsec_\" and the rest is not base64")]
    NotBase64,
}

/// Verifies requests.
pub struct Verifier {
    /// Keyed once, cloned for each request.
    keyed: Vec<Hmac<Sha256>>,
    tolerance: Duration,
}

impl Verifier {
    pub fn new(secrets: Vec<SecretString>, tolerance: Duration) -> Result<Self, SecretError> {
        if secrets.is_empty() {
            return Err(SecretError::None);
        }
        let keyed = secrets
            .into_iter()
            .map(|secret| keyed(secret.expose_secret().trim()))
            .collect::<Result<_, _>>()?;
        Ok(Self { keyed, tolerance })
    }

    /// `Err` is the reason, from a closed set.
    pub fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<(), &'static str> {
        let header = |name| request.header(name).ok_or("missing_signature");
        let (id, timestamp, signatures) =
            (header("webhook-id")?, header("webhook-timestamp")?, header("webhook-signature")?);
        let signed_at = seconds(timestamp).ok_or("malformed_signature")?;
        let claimed = signatures_of(signatures)?;
        let signed = |mac: &Hmac<Sha256>| {
            let mut mac = mac.clone();
            for part in [id, b".", timestamp, b".", request.body] {
                mac.update(part);
            }
            claimed.iter().any(|signature| mac.clone().verify_slice(signature).is_ok())
        };
        if !self.keyed.iter().any(signed) {
            return Err("wrong_signature");
        }
        self.judge_age(signed_at, now.as_secs())
    }

    fn judge_age(&self, signed_at: i64, now: i64) -> Result<(), &'static str> {
        if now.abs_diff(signed_at) <= self.tolerance.as_secs() {
            return Ok(());
        }
        Err(if signed_at < now { "signature_too_old" } else { "signature_too_new" })
    }
}

fn keyed(secret: &str) -> Result<Hmac<Sha256>, SecretError> {
    let key = match secret.strip_prefix("whsec_") {
        Some(base64) => STANDARD.decode(base64).map_err(|_| SecretError::NotBase64)?,
        None => secret.as_bytes().to_vec(),
    };
    if key.is_empty() {
        return Err(SecretError::Blank);
    }
    // HMAC takes a key of any length, so this never fails.
    Hmac::new_from_slice(&key).map_err(|_| SecretError::Blank)
}

fn seconds(timestamp: &[u8]) -> Option<i64> {
    let digits = std::str::from_utf8(timestamp).ok()?;
    let shaped =
        (1..=TIMESTAMP_DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    shaped.then(|| digits.parse().ok())?
}

/// The `v1` signatures of the header, decoded. Versions that we do not know, or do not trust, are passed over.
fn signatures_of(header: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let header = std::str::from_utf8(header).map_err(|_| "malformed_signature")?;
    let first = header
        .split_ascii_whitespace()
        .filter_map(|signature| signature.strip_prefix("v1,"))
        .take(SIGNATURES_MAX);
    let (mut decoded, mut found) = (Vec::new(), false);
    for base64 in first {
        found = true;
        decoded.extend(STANDARD.decode(base64));
    }
    match (found, decoded.is_empty()) {
        (false, _) => Err("no_known_signature"),
        (true, true) => Err("malformed_signature"),
        (true, false) => Ok(decoded),
    }
}
