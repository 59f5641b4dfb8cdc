//! A source's key pairs. A signature names the public key that it is by.

use serde::Deserialize;
use sha1::{Digest, Sha1};

use crate::providers::settings::{SetupError, SourceSettings};
use crate::providers::signing::{Algorithm, KeyedHash, hex, hex_text};

/// How many pairs of a `bt_signature` are read: more than anyone has keys, few enough to cost nothing.
const PAIRS_MAX: usize = 32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// One, or a list.
    public_key: Vec<String>,
}

/// The key pairs, in their order.
pub struct Keys(Vec<Pair>);

struct Pair {
    public: String,
    keyed: KeyedHash,
}

impl Keys {
    /// The private keys are the secrets; the public ones are the option `public_key`, in the same order.
    pub fn of(settings: &SourceSettings) -> Result<Self, SetupError> {
        let Options { public_key } = settings.read_options()?;
        let private =
            settings.keys("the private key of the API key pair", |text| Ok(hmac_key(text.as_bytes())))?;
        if public_key.len() != private.len() {
            let what = "public_key has not as many entries as secrets: each private key has its public key";
            return Err(SetupError::BadOption(what.to_owned()));
        }
        let pairs = public_key.into_iter().zip(private).map(|(public, private)| Pair::new(&public, private));
        pairs.collect::<Result<_, _>>().map(Self)
    }

    /// The place of the pair by which `signature`, which is `public|hex` once or several times with `&`
    /// between, signs `payload`.
    pub fn verify(&self, signature: &str, payload: &str) -> Result<usize, &'static str> {
        let claims: Vec<(&str, &str)> =
            signature.split('&').take(PAIRS_MAX).filter_map(|claim| claim.split_once('|')).collect();
        if claims.is_empty() {
            return Err("malformed_signature");
        }
        let mut reason = "no_known_signature";
        for (slot, pair) in self.0.iter().enumerate() {
            for (_, claimed) in claims.iter().filter(|(public, _)| *public == pair.public) {
                match hex(claimed.as_bytes()) {
                    Some(claimed) if pair.signs(payload, &claimed) => return Ok(slot),
                    Some(_) => reason = "wrong_signature",
                    None => reason = "malformed_signature",
                }
            }
        }
        Err(reason)
    }

    /// `public|hex` over `message`, by the first pair.
    pub fn sign(&self, message: &[u8]) -> String {
        // There is at least one, by construction.
        let signature =
            self.0.first().map(|pair| format!("{}|{}", pair.public, hex_text(&pair.keyed.sign(&[message]))));
        signature.unwrap_or_default()
    }
}

fn hmac_key(private: &[u8]) -> Vec<u8> {
    Sha1::digest(private).to_vec()
}

impl Pair {
    fn new(public: &str, private: Vec<u8>) -> Result<Self, SetupError> {
        let public = public.trim();
        if public.is_empty() || public.contains(['|', '&']) {
            return Err(SetupError::BadOption("public_key is blank, or no public key".to_owned()));
        }
        Ok(Self { public: public.to_owned(), keyed: KeyedHash::new(Algorithm::Sha1, &[private])? })
    }

    /// A form parser between may have taken the line end after the payload, which is signed.
    fn signs(&self, payload: &str, claimed: &[u8]) -> bool {
        let claimed = [claimed.to_vec()];
        let signs = |parts: &[&[u8]]| self.keyed.matching(parts, &claimed).is_some();
        signs(&[payload.as_bytes()]) || signs(&[payload.as_bytes(), b"\n"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests_are_computed() {
        // RFC 2202, cases 6 and 7: their key is longer than a block, so HMAC itself would hash it.
        let keys = Keys(vec![Pair::new("public", hmac_key(&[0xaa; 80])).unwrap()]);
        for (message, digest) in [
            (
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "aa4ae5e15272d00e95705637ce8a3b55ed402112",
            ),
            (
                "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data",
                "e8e99d0f45237d786d6bbaa7965c7808bbff1a91",
            ),
        ] {
            assert_eq!(keys.sign(message.as_bytes()), format!("public|{digest}"));
            assert_eq!(keys.verify(&format!("public|{digest}"), message), Ok(0));
        }
    }
}
