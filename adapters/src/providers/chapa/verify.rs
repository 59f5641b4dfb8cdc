//! Chapa's two signatures, of which only one is worth anything.

use application::ports::provider::WebhookRequest;

use crate::providers::settings::SetupError;
use crate::providers::signing::{Algorithm, Encoding, KeyedHash, claimed, hex_text, same_token};

/// The HMAC of the body.
const BODY_HEADER: &str = "x-chapa-signature";

/// The HMAC of the secret itself: the same in every request, so that whoever has seen one could put it on any
/// body. Only a custom webhook carries the HMAC of the body here.
const CONSTANT_HEADER: &str = "chapa-signature";

pub struct Verifier {
    keyed: KeyedHash,
    /// What each secret signs itself with.
    constants: Vec<Vec<u8>>,
    custom_webhook: bool,
}

impl Verifier {
    pub fn new(keys: &[Vec<u8>], custom_webhook: bool) -> Result<Self, SetupError> {
        let hash = |keys: &[Vec<u8>]| KeyedHash::new(Algorithm::Sha256, keys);
        let constants = keys
            .iter()
            .map(|key| Ok(hash(std::slice::from_ref(key))?.sign(&[key])))
            .collect::<Result<_, SetupError>>()?;
        Ok(Self { keyed: hash(keys)?, constants, custom_webhook })
    }

    /// The headers in which a signature of the body may be.
    pub const fn headers(&self) -> &'static [&'static str] {
        if self.custom_webhook { &[BODY_HEADER, CONSTANT_HEADER] } else { &[BODY_HEADER] }
    }

    /// `Ok` is the place of the secret; `Err` is the reason, from a closed set. `unbound_signature`: all that
    /// came is the constant.
    pub fn verify(&self, request: &WebhookRequest<'_>) -> Result<usize, &'static str> {
        let claims = self.claims(request)?;
        let bound: Vec<Vec<u8>> = claims.into_iter().filter(|claim| !self.is_constant(claim)).collect();
        if bound.is_empty() {
            return Err("unbound_signature");
        }
        self.keyed.matching(&[request.body], &bound).ok_or("wrong_signature")
    }

    fn claims(&self, request: &WebhookRequest<'_>) -> Result<Vec<Vec<u8>>, &'static str> {
        let (mut claims, mut reason) = (Vec::new(), "missing_signature");
        for header in self.headers() {
            match claimed(request, header, "", Encoding::Hex) {
                Ok(found) => claims.extend(found),
                Err("missing_signature") => {}
                Err(other) => reason = other,
            }
        }
        if !claims.is_empty() {
            return Ok(claims);
        }
        let constant_only = reason == "missing_signature" && request.header(CONSTANT_HEADER).is_some();
        Err(if constant_only { "unbound_signature" } else { reason })
    }

    fn is_constant(&self, claim: &[u8]) -> bool {
        self.constants.iter().any(|constant| same_token(constant, claim))
    }

    /// The headers for a body, by the first secret.
    pub fn sign(&self, body: &[u8]) -> Vec<(String, String)> {
        let signature = hex_text(&self.keyed.sign(&[body]));
        if self.custom_webhook {
            return vec![(CONSTANT_HEADER.to_owned(), signature)];
        }
        let constant = self.constants.first().map(|constant| hex_text(constant)).unwrap_or_default();
        vec![(BODY_HEADER.to_owned(), signature), (CONSTANT_HEADER.to_owned(), constant)]
    }
}
