//! Standard Webhooks signatures, over `{webhook-id}.{webhook-timestamp}.{body}`:
//! `webhook-signature: v1,BASE64 v1a,BASE64`, where `v1` is HMAC-SHA-256 and `v1a` is Ed25519.
//!
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>

use std::time::Duration;

use application::ports::provider::{CannotSign, WebhookRequest};
use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use domain::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use super::secret::{Bare, Secret, SecretError, read};
use crate::providers::signing::{Algorithm, KeyedHash, Tolerance, base64, base64_text, unix_seconds};

/// The headers that carry a signature: id, time, signatures.
pub const HEADERS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/// The same, as Svix, where the standard comes from, names them.
pub const SVIX_HEADERS: [&str; 3] = ["svix-id", "svix-timestamp", "svix-signature"];

/// How many `v1` signatures of a request are read: more than any sender has secrets, few enough to cost nothing.
const SHARED_MAX: usize = 32;

/// How many `v1a` signatures of a request are read: each costs some fifty microseconds to judge.
const PUBLIC_MAX: usize = 8;

/// Verifies requests.
pub struct Verifier {
    keys: Vec<Key>,
    tolerance: Tolerance,
}

/// One secret, ready for use.
enum Key {
    /// The keys that the secret may stand for.
    Shared(KeyedHash),
    /// The sender's public key.
    Public(UnparsedPublicKey<[u8; 32]>),
}

/// What a request says of its signature.
struct Claim<'a> {
    id: &'a [u8],
    timestamp: &'a [u8],
    shared: Vec<Vec<u8>>,
    public: Vec<Vec<u8>>,
}

impl Verifier {
    /// By `secrets`, in any order, so that a secret can be replaced while both are in use, and of a time at most
    /// `tolerance` from ours. `bare` says what a secret without a prefix is.
    ///
    /// # Errors
    /// There is no secret, or one is blank or not what its prefix promises.
    pub fn new(secrets: &[SecretString], bare: Bare, tolerance: Duration) -> Result<Self, SecretError> {
        if secrets.is_empty() {
            return Err(SecretError::None);
        }
        let keys = secrets.iter().map(|secret| Key::new(secret.expose_secret().trim(), bare));
        Ok(Self { keys: keys.collect::<Result<_, _>>()?, tolerance: Tolerance::new(tolerance) })
    }

    /// How many secrets there are.
    pub const fn secrets(&self) -> usize {
        self.keys.len()
    }

    /// `Ok` is the place of the secret; `Err` is the reason, from a closed set.
    pub fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<usize, &'static str> {
        let names = names_in(request).ok_or("missing_signature")?;
        let claim = self.claim(request, &names)?;
        let signed_at = unix_seconds(claim.timestamp).ok_or("malformed_signature")?;
        let slot =
            self.keys.iter().position(|key| key.signs(&claim, request.body)).ok_or("wrong_signature")?;
        self.tolerance.judge(signed_at, now)?;
        Ok(slot)
    }

    /// The headers of a request by the first secret with which one can sign.
    ///
    /// # Errors
    /// There are public keys only.
    pub fn sign(&self, id: &str, body: &[u8], now: Timestamp) -> Result<Vec<(String, String)>, CannotSign> {
        let shared = self.keys.iter().find_map(|key| match key {
            Key::Shared(keyed) => Some(keyed),
            Key::Public(_) => None,
        });
        let keyed = shared.ok_or_else(|| CannotSign("only the sender has the private key".to_owned()))?;
        let timestamp = now.as_secs().to_string();
        let signature = keyed.sign(&[id.as_bytes(), b".", timestamp.as_bytes(), b".", body]);
        let values = [id.to_owned(), timestamp, format!("v1,{}", base64_text(&signature))];
        Ok(HEADERS.iter().map(|name| (*name).to_owned()).zip(values).collect())
    }

    /// The signatures of versions that there is a key for. Others are passed over.
    fn claim<'a>(&self, request: &WebhookRequest<'a>, names: &[&str; 3]) -> Result<Claim<'a>, &'static str> {
        let header = |name| request.header(name).ok_or("missing_signature");
        let (id, timestamp) = (header(names[0])?, header(names[1])?);
        let mut claim = Claim { id, timestamp, shared: Vec::new(), public: Vec::new() };
        let takes_shared = self.keys.iter().any(|key| matches!(key, Key::Shared(_)));
        let takes_public = self.keys.iter().any(|key| matches!(key, Key::Public(_)));
        let mut known = false;
        for header in request.headers_named(names[2]) {
            let header = std::str::from_utf8(header).map_err(|_| "malformed_signature")?;
            for signature in header.split_ascii_whitespace() {
                let (list, max, text) = match signature.split_once(',') {
                    Some(("v1", text)) if takes_shared => (&mut claim.shared, SHARED_MAX, text),
                    Some(("v1a", text)) if takes_public => (&mut claim.public, PUBLIC_MAX, text),
                    _ => continue,
                };
                known = true;
                if list.len() < max {
                    list.extend(base64(text.as_bytes()));
                }
            }
        }
        match (known, claim.shared.is_empty() && claim.public.is_empty()) {
            (false, _) => Err("no_known_signature"),
            (true, true) => Err("malformed_signature"),
            (true, false) => Ok(claim),
        }
    }
}

/// The id of a request that was verified.
pub fn id_of<'a>(request: &WebhookRequest<'a>) -> Option<&'a [u8]> {
    names_in(request).and_then(|[id, ..]| request.header(id))
}

/// The header names of the request, of the two sets that there are: the one that is complete, the standard's
/// own first.
fn names_in(request: &WebhookRequest<'_>) -> Option<[&'static str; 3]> {
    [HEADERS, SVIX_HEADERS].into_iter().find(|names| names.iter().all(|name| request.header(name).is_some()))
}

impl Key {
    fn new(secret: &str, bare: Bare) -> Result<Self, SecretError> {
        Ok(match read(secret, bare)? {
            Secret::Shared(keys) => {
                Self::Shared(KeyedHash::new(Algorithm::Sha256, &keys).map_err(|_| SecretError::Blank)?)
            }
            Secret::Public(key) => Self::Public(UnparsedPublicKey::new(&ED25519, key)),
        })
    }

    fn signs(&self, claim: &Claim<'_>, body: &[u8]) -> bool {
        let parts = [claim.id, b".", claim.timestamp, b".", body];
        match self {
            Self::Shared(keyed) => keyed.matching(&parts, &claim.shared).is_some(),
            Self::Public(_) if claim.public.is_empty() => false,
            Self::Public(key) => {
                let message = parts.concat();
                claim.public.iter().any(|signature| key.verify(&message, signature).is_ok())
            }
        }
    }
}
