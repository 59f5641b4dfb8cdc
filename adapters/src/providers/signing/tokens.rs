//! Tokens that a sender shows: they prove who knows them, and nothing about the body.

use application::ports::provider::WebhookRequest;
use secrecy::{ExposeSecret, SecretString};

use super::same_token;

/// How many tokens of a request are tried: more than any sender has, few enough to cost nothing.
const CLAIMS_MAX: usize = 32;

/// A source's tokens, in their order.
pub struct Tokens(Vec<SecretString>);

impl Tokens {
    /// Of these texts, none of which is blank.
    pub fn new(texts: &[&str]) -> Self {
        Self(texts.iter().map(|text| SecretString::from(*text)).collect())
    }

    /// The place of the token that one of `claimed` equals. Compared in constant time.
    pub fn matching<'a>(&self, claimed: impl IntoIterator<Item = &'a [u8]>) -> Option<usize> {
        claimed.into_iter().find_map(|claimed| {
            self.0.iter().position(|token| same_token(token.expose_secret().as_bytes(), claimed))
        })
    }

    /// The place of the token that is in a header of that lower-case name.
    ///
    /// # Errors
    /// `missing_signature` where there is no such header, or `wrong_signature`.
    pub fn verify(&self, request: &WebhookRequest<'_>, header: &str) -> Result<usize, &'static str> {
        request.header(header).ok_or("missing_signature")?;
        self.matching(request.headers_named(header).take(CLAIMS_MAX)).ok_or("wrong_signature")
    }

    /// The first, which a new request shows.
    pub fn first(&self) -> &str {
        self.0.first().map(SecretString::expose_secret).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_token_is_told() {
        let tokens = Tokens::new(&["new", "old"]);
        assert_eq!(tokens.matching([&b"old"[..]]), Some(1));
        assert_eq!(tokens.matching([&b"other"[..], b"new"]), Some(0));
        assert_eq!(tokens.matching([&b""[..], b"ne", b"new "]), None);
        assert_eq!(tokens.matching([]), None);
    }
}
