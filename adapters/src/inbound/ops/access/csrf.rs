//! The token that every form of the page carries. Another site can make a browser send a form here, but cannot
//! read this token, which is bound to the visitor's cookie.

use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::token::{SECRET_BYTES, random_bytes};

/// The name of the form field that holds the token.
pub const CSRF_FIELD: &str = "csrf";

/// The token of one visitor.
#[derive(Clone, PartialEq, Eq)]
pub struct CsrfToken(String);

impl fmt::Display for CsrfToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CsrfToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CsrfToken")
    }
}

impl CsrfToken {
    /// Whether `text` is this token. Takes the same time whatever it is.
    pub fn is(&self, text: &str) -> bool {
        verify_slices_are_equal(self.0.as_bytes(), text.as_bytes()).is_ok()
    }
}

/// Makes the tokens of this process.
pub(super) struct CsrfKey([u8; SECRET_BYTES]);

impl CsrfKey {
    /// A new key.
    pub fn random() -> Self {
        Self(random_bytes())
    }

    /// The token of the visitor with that cookie.
    ///
    /// # Panics
    /// Never: any key is one of HMAC.
    pub fn token(&self, visitor: &str) -> CsrfToken {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(visitor.as_bytes());
        CsrfToken(URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_of_one_visitor_and_one_process() {
        let (key, other) = (CsrfKey::random(), CsrfKey::random());
        let token = key.token("ann");
        assert!(token.is(&key.token("ann").to_string()));
        assert!(!token.is(&key.token("bob").to_string()));
        assert!(!token.is(&other.token("ann").to_string()));
        assert!(!token.is(""));
    }
}
