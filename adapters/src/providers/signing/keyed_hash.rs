//! HMAC under several secrets at once.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use crate::providers::settings::SetupError;

/// How many signatures of a request are tried: more than any sender has secrets, few enough to cost nothing.
const SIGNATURES_MAX: usize = 32;

/// The hash under the HMAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Only where a provider knows no other.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

/// One secret, keyed once and cloned for each request.
#[derive(Clone)]
enum Keyed {
    Sha1(Box<Hmac<Sha1>>),
    Sha256(Box<Hmac<Sha256>>),
    Sha512(Box<Hmac<Sha512>>),
}

/// HMAC under each of a source's secrets, in their order.
#[derive(Clone)]
pub struct KeyedHash {
    keyed: Vec<Keyed>,
}

impl KeyedHash {
    /// Of that algorithm under `keys`, at least one, none empty.
    ///
    /// # Errors
    /// There is no key, or one is empty: an empty key protects nothing.
    pub fn new(algorithm: Algorithm, keys: &[Vec<u8>]) -> Result<Self, SetupError> {
        if keys.is_empty() {
            return Err(SetupError::NoSecret("there must be at least one"));
        }
        let keyed = keys.iter().map(|key| Keyed::new(algorithm, key)).collect::<Result<_, _>>()?;
        Ok(Self { keyed })
    }

    /// The place of a secret under which one of `claimed` signs `parts`, one after the other. Compared in
    /// constant time; signatures of any length may be claimed. At most the first 32 are tried.
    pub fn matching(&self, parts: &[&[u8]], claimed: &[Vec<u8>]) -> Option<usize> {
        let claimed = &claimed[..claimed.len().min(SIGNATURES_MAX)];
        self.keyed.iter().position(|keyed| keyed.signs(parts, claimed))
    }

    /// The signature over `parts` by the first secret.
    pub fn sign(&self, parts: &[&[u8]]) -> Vec<u8> {
        // There is at least one, by construction.
        self.keyed.first().map(|keyed| keyed.sign(parts)).unwrap_or_default()
    }
}

impl Keyed {
    fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, SetupError> {
        if key.is_empty() {
            return Err(SetupError::BlankSecret);
        }
        // HMAC takes a key of any length, so none of these fails.
        let unusable = |_| SetupError::BadSecret("no key can be made of it");
        Ok(match algorithm {
            Algorithm::Sha1 => Self::Sha1(Box::new(Hmac::new_from_slice(key).map_err(unusable)?)),
            Algorithm::Sha256 => Self::Sha256(Box::new(Hmac::new_from_slice(key).map_err(unusable)?)),
            Algorithm::Sha512 => Self::Sha512(Box::new(Hmac::new_from_slice(key).map_err(unusable)?)),
        })
    }

    fn signs(&self, parts: &[&[u8]], claimed: &[Vec<u8>]) -> bool {
        match self {
            Self::Sha1(mac) => signs(mac.as_ref(), parts, claimed),
            Self::Sha256(mac) => signs(mac.as_ref(), parts, claimed),
            Self::Sha512(mac) => signs(mac.as_ref(), parts, claimed),
        }
    }

    fn sign(&self, parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Sha1(mac) => over(mac.as_ref(), parts).finalize().into_bytes().to_vec(),
            Self::Sha256(mac) => over(mac.as_ref(), parts).finalize().into_bytes().to_vec(),
            Self::Sha512(mac) => over(mac.as_ref(), parts).finalize().into_bytes().to_vec(),
        }
    }
}

fn over<M: Mac + Clone>(mac: &M, parts: &[&[u8]]) -> M {
    let mut mac = mac.clone();
    for part in parts {
        mac.update(part);
    }
    mac
}

fn signs<M: Mac + Clone>(mac: &M, parts: &[&[u8]], claimed: &[Vec<u8>]) -> bool {
    let mac = over(mac, parts);
    claimed.iter().any(|signature| mac.clone().verify_slice(signature).is_ok())
}

/// Whether two tokens are the same, in a time that depends on neither: their HMACs under one key are compared
/// by [`Mac::verify_slice`].
pub fn same_token(ours: &[u8], theirs: &[u8]) -> bool {
    let Ok(mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(b"token") else { return false };
    let ours = over(&mac, &[ours]).finalize().into_bytes();
    over(&mac, &[theirs]).verify_slice(&ours).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(keys: &[&str]) -> KeyedHash {
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        KeyedHash::new(Algorithm::Sha256, &keys).unwrap()
    }

    #[test]
    fn the_place_of_the_matching_secret_is_told() {
        let signature = hash(&["new"]).sign(&[b"a", b"b"]);
        assert_eq!(hash(&["old", "new"]).matching(&[b"ab"], std::slice::from_ref(&signature)), Some(1));
        assert_eq!(hash(&["new", "old"]).matching(&[b"ab"], &[vec![0; 32], signature.clone()]), Some(0));
        assert_eq!(hash(&["old"]).matching(&[b"ab"], &[signature]), None);
    }

    #[test]
    fn a_signature_of_any_length_is_compared_without_a_panic() {
        for length in [0, 1, 31, 33, 64, 1_000] {
            assert_eq!(hash(&["k"]).matching(&[b"ab"], &[vec![0; length]]), None);
        }
    }

    #[test]
    fn no_key_and_an_empty_key_are_refused() {
        assert!(KeyedHash::new(Algorithm::Sha512, &[]).is_err());
        assert!(KeyedHash::new(Algorithm::Sha1, &[Vec::new()]).is_err());
    }

    #[test]
    fn tokens_are_the_same_only_when_they_are_equal() {
        assert!(same_token(b"abc", b"abc"));
        assert!(!same_token(b"abc", b"abd"));
        assert!(!same_token(b"abc", b""));
    }
}
