//! `Stripe-Signature: t=SECONDS,v1=HEX[,v1=HEX…][,v0=HEX]`: HMAC-SHA-256 over `SECONDS.BODY` under the whole
//! text of the secret, `whsec_` included.
//!
//! There is one `v1` for each secret that is active while it is being rolled, in no promised order. `v0` and
//! every other scheme is passed over, since it would be weaker.

use application::ports::provider::WebhookRequest;
use domain::Timestamp;

use crate::providers::signing::{KeyedHash, Tolerance, hex, hex_text, unix_seconds};

/// The header that carries the signature.
pub const HEADER: &str = "stripe-signature";

/// How many signatures of a request are read: more than Stripe has secrets for an endpoint, few enough to cost
/// nothing.
const SIGNATURES_MAX: usize = 32;

/// What a header says.
#[derive(Default)]
struct Claim<'a> {
    /// The time, as it is written, which is how it is signed.
    signed_at: Option<&'a [u8]>,
    /// There was a `v1`, readable or not.
    known: bool,
    /// The readable signatures.
    signatures: Vec<Vec<u8>>,
}

/// The place of the secret by which the request is signed; `Err` is the reason, from a closed set.
pub fn verify(
    request: &WebhookRequest<'_>,
    keyed: &KeyedHash,
    tolerance: Tolerance,
    now: Timestamp,
) -> Result<usize, &'static str> {
    let claim = Claim::of(request)?;
    let written = claim.signed_at.ok_or("malformed_signature")?;
    let signed_at = unix_seconds(written).ok_or("malformed_signature")?;
    match (claim.known, claim.signatures.is_empty()) {
        (false, _) => return Err("no_known_signature"),
        (true, true) => return Err("malformed_signature"),
        (true, false) => {}
    }
    let parts = [written, b".", request.body];
    let slot = keyed.matching(&parts, &claim.signatures).ok_or("wrong_signature")?;
    tolerance.judge(signed_at, now)?;
    Ok(slot)
}

/// The header of a request by the first secret.
pub fn sign(body: &[u8], keyed: &KeyedHash, now: Timestamp) -> (String, String) {
    let signed_at = now.as_secs().to_string();
    let signature = keyed.sign(&[signed_at.as_bytes(), b".", body]);
    (HEADER.to_owned(), format!("t={signed_at},v1={}", hex_text(&signature)))
}

impl<'a> Claim<'a> {
    /// What the request's headers say, of which several count as one, joined by commas. The first time counts.
    fn of(request: &WebhookRequest<'a>) -> Result<Self, &'static str> {
        let mut headers = request.headers_named(HEADER).peekable();
        headers.peek().ok_or("missing_signature")?;
        let mut claim = Self::default();
        for part in headers.flat_map(|header| header.split(|byte| *byte == b',')) {
            let part = part.trim_ascii();
            if let Some(time) = part.strip_prefix(b"t=") {
                claim.signed_at = claim.signed_at.or(Some(time));
            } else if let Some(signature) = part.strip_prefix(b"v1=") {
                claim.known = true;
                if claim.signatures.len() < SIGNATURES_MAX {
                    claim.signatures.extend(hex(signature));
                }
            }
        }
        Ok(claim)
    }
}
