//! Tokens: 256 random bits each, of which only the digest is kept.

use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::rand;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

use super::principal::Scope;
use super::token_file::TokenName;

/// What every token begins with, so that a scanner for secrets can find a lost one.
pub const TOKEN_PREFIX: &str = "payonce_";

/// How many random bytes a token, a session or a key has.
pub(super) const SECRET_BYTES: usize = 32;

/// Bytes that nobody can guess.
///
/// # Panics
/// The operating system has no random numbers: there is nothing to go on with.
pub(super) fn random_bytes() -> [u8; SECRET_BYTES] {
    let mut bytes = [0; SECRET_BYTES];
    rand::fill(&mut bytes).expect("the operating system has random numbers");
    bytes
}

/// The digest of a token. One round of SHA-256 is enough: a token is random, so there is nothing to guess it
/// from, as there is for a password.
#[derive(Clone, Copy)]
pub struct TokenDigest([u8; SECRET_BYTES]);

impl TokenDigest {
    /// The digest of that text.
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// From `sha256:` and 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?;
        if digits.len() != 2 * SECRET_BYTES || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; SECRET_BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).ok()?;
            *byte = u8::from_str_radix(pair, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// Takes the same time whatever the two are.
impl PartialEq for TokenDigest {
    fn eq(&self, other: &Self) -> bool {
        verify_slices_are_equal(&self.0, &other.0).is_ok()
    }
}

impl Eq for TokenDigest {}

impl fmt::Display for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest")
    }
}

/// A token that has just been made.
#[derive(Debug)]
pub struct NewToken {
    /// The token. It is told once, and kept nowhere.
    pub token: SecretString,
    /// The line of the file of tokens that lets it in.
    pub line: String,
}

impl NewToken {
    /// A token for `name`.
    pub fn generate(name: &TokenName, scope: Scope) -> Self {
        let token = format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(random_bytes()));
        let line = format!("{name} {} {}", scope.as_str(), TokenDigest::of(&token));
        Self { token: token.into(), line }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_digest_that_was_shown_can_be_read_again() {
        let digest = TokenDigest::of("abc");
        assert_eq!(
            digest.to_string(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(TokenDigest::parse(&digest.to_string()), Some(digest));
        assert_ne!(digest, TokenDigest::of("abd"));
    }

    #[test]
    fn what_is_no_digest_is_refused() {
        for text in ["", "sha256:", "sha256:12", "md5:00", &format!("sha256:{}", "g".repeat(64))] {
            assert!(TokenDigest::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn every_token_is_another_one_and_its_line_lets_it_in() {
        let name = TokenName::parse("ann").unwrap();
        let (one, two) = (NewToken::generate(&name, Scope::Read), NewToken::generate(&name, Scope::Operate));
        assert_ne!(one.token.expose_secret(), two.token.expose_secret());
        assert_eq!(one.token.expose_secret().len(), TOKEN_PREFIX.len() + 43);
        assert_eq!(one.line, format!("ann read {}", TokenDigest::of(one.token.expose_secret())));
        assert!(!one.line.contains(one.token.expose_secret()));
    }
}
