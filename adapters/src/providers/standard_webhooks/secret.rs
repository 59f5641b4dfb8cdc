//! Secrets as Standard Webhooks writes them: `whsec_` and base64 for a shared key, `whpk_` and base64 for the
//! sender's public key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::providers::settings::SetupError;

/// The length of an Ed25519 public key, in bytes.
const PUBLIC_KEY_BYTES: usize = 32;

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
    /// What follows `whpk_` is not a public key.
    #[error("a secret starts with \"whpk_\" and the rest is not 32 bytes in base64")]
    NotAPublicKey,
    /// The sender's private key, which nobody else should have.
    #[error(
        "a secret starts with \"whsk_\", which is the sender's private key; set the public one, \"whpk_\""
    )]
    PrivateKey,
}

impl From<SecretError> for SetupError {
    fn from(error: SecretError) -> Self {
        match error {
            SecretError::None => Self::NoSecret("the secret that the sender gives out, whsec_… or whpk_…"),
            SecretError::Blank => Self::BlankSecret,
            SecretError::NotBase64 => Self::BadSecret("what follows \"whsec_\" is not base64"),
            SecretError::NotAPublicKey => Self::BadSecret("what follows \"whpk_\" is not 32 bytes in base64"),
            SecretError::PrivateKey => {
                Self::BadSecret("\"whsk_\" is the sender's private key; set the public one, \"whpk_\"")
            }
        }
    }
}

/// What a secret without a prefix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bare {
    /// The key itself.
    Text,
    /// Base64 of the key, as the standard allows; or the key itself, as some senders have it. Which one cannot
    /// be told from a text that is base64 by chance, so both are tried.
    Base64OrText,
}

/// A secret, read.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// Shared keys for `v1`: what the secret may stand for, at least one, the likeliest first.
    Shared(Vec<Vec<u8>>),
    /// The sender's public key for `v1a`.
    Public([u8; PUBLIC_KEY_BYTES]),
}

/// Reads a secret, trimmed. The version before its prefix, `v1,whsec_…`, as some senders show it, is not part
/// of it.
pub fn read(secret: &str, bare: Bare) -> Result<Secret, SecretError> {
    let secret = match secret.split_once(',') {
        Some(("v1", rest)) if rest.starts_with("whsec_") => rest,
        Some(("v1a", rest)) if rest.starts_with("whpk_") => rest,
        _ => secret,
    };
    if let Some(key) = secret.strip_prefix("whsec_") {
        return shared(vec![STANDARD.decode(key).map_err(|_| SecretError::NotBase64)?]);
    }
    if let Some(key) = secret.strip_prefix("whpk_") {
        let key = STANDARD.decode(key).ok().and_then(|key| key.try_into().ok());
        return key.map(Secret::Public).ok_or(SecretError::NotAPublicKey);
    }
    if secret.starts_with("whsk_") {
        return Err(SecretError::PrivateKey);
    }
    let text = secret.as_bytes().to_vec();
    match (bare, STANDARD.decode(secret)) {
        (Bare::Base64OrText, Ok(key)) => shared(vec![key, text]),
        _ => shared(vec![text]),
    }
}

fn shared(keys: Vec<Vec<u8>>) -> Result<Secret, SecretError> {
    if keys.iter().any(Vec::is_empty) { Err(SecretError::Blank) } else { Ok(Secret::Shared(keys)) }
}
