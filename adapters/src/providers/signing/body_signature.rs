//! A signature over the body alone, in a header of its own.

use application::ports::provider::WebhookRequest;

use super::{Algorithm, KeyedHash, base64, base64_text, hex, hex_text};
use crate::providers::settings::SetupError;

/// How many headers of the name are read: more than any sender has secrets, few enough to cost nothing.
const HEADERS_MAX: usize = 32;

/// How a signature is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Hexadecimal digits, in either case.
    Hex,
    /// Standard base64 with padding.
    Base64,
}

impl Encoding {
    /// The bytes that `text` stands for; `None` when it is not of this form, or is absurdly long.
    pub fn decode(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Hex => hex(text),
            Self::Base64 => base64(text),
        }
    }

    /// The bytes as text.
    pub fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => hex_text(bytes),
            Self::Base64 => base64_text(bytes),
        }
    }
}

/// `HEADER: prefix and HMAC of the body`.
pub struct BodySignature {
    header: &'static str,
    prefix: &'static str,
    encoding: Encoding,
    keyed: KeyedHash,
}

impl BodySignature {
    /// HMAC-SHA-256 in hexadecimal after `prefix`, in the header of that lower-case name.
    ///
    /// # Errors
    /// There is no key, or an empty one.
    pub fn new(header: &'static str, prefix: &'static str, keys: &[Vec<u8>]) -> Result<Self, SetupError> {
        let keyed = KeyedHash::new(Algorithm::Sha256, keys)?;
        Ok(Self { header, prefix, encoding: Encoding::Hex, keyed })
    }

    /// Another hash, or another encoding, without a prefix.
    pub const fn with(header: &'static str, encoding: Encoding, keyed: KeyedHash) -> Self {
        Self { header, prefix: "", encoding, keyed }
    }

    /// The place of the secret that signed the request. The header may come several times, as it does while a
    /// proxy or a sender changes secrets: one good signature is enough.
    ///
    /// # Errors
    /// `missing_signature`, `no_known_signature`, `malformed_signature` or `wrong_signature`.
    pub fn verify(&self, request: &WebhookRequest<'_>) -> Result<usize, &'static str> {
        let claimed = claimed(request, self.header, self.prefix, self.encoding)?;
        self.keyed.matching(&[request.body], &claimed).ok_or("wrong_signature")
    }

    /// The header for a body, by the first secret.
    pub fn sign(&self, body: &[u8]) -> (String, String) {
        let signature = self.encoding.encode(&self.keyed.sign(&[body]));
        (self.header.to_owned(), format!("{}{signature}", self.prefix))
    }
}

/// The signatures in the headers of that name, without their prefix, decoded.
///
/// # Errors
/// `missing_signature` where there is no such header, `no_known_signature` where none has the prefix,
/// `malformed_signature` where none can be decoded.
pub fn claimed(
    request: &WebhookRequest<'_>,
    header: &str,
    prefix: &str,
    encoding: Encoding,
) -> Result<Vec<Vec<u8>>, &'static str> {
    let values: Vec<&[u8]> = request.headers_named(header).take(HEADERS_MAX).collect();
    if values.is_empty() {
        return Err("missing_signature");
    }
    let texts: Vec<&[u8]> =
        values.into_iter().filter_map(|value| value.strip_prefix(prefix.as_bytes())).collect();
    if texts.is_empty() {
        return Err("no_known_signature");
    }
    let claimed: Vec<Vec<u8>> = texts.into_iter().filter_map(|text| encoding.decode(text)).collect();
    if claimed.is_empty() { Err("malformed_signature") } else { Ok(claimed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(key: &str, prefix: &'static str) -> BodySignature {
        BodySignature::new("x-signature", prefix, &[key.as_bytes().to_vec()]).unwrap()
    }

    fn verify(prefix: &'static str, values: &[&[u8]]) -> Result<usize, &'static str> {
        let headers: Vec<_> = values.iter().map(|value| ("x-signature".to_owned(), value.to_vec())).collect();
        signature("key", prefix).verify(&WebhookRequest { body: b"{}", headers: &headers, query: "" })
    }

    #[test]
    fn one_good_signature_of_several_headers_is_enough() {
        let (_, good) = signature("key", "").sign(b"{}");
        let (_, wrong) = signature("other", "").sign(b"{}");
        assert_eq!(verify("", &[good.as_bytes()]), Ok(0));
        assert_eq!(verify("", &[wrong.as_bytes(), b"\xff", good.as_bytes()]), Ok(0));
        assert_eq!(verify("", &[wrong.as_bytes()]), Err("wrong_signature"));
    }

    #[test]
    fn a_prefix_belongs_to_the_signature() {
        let (_, good) = signature("key", "sha256=").sign(b"{}");
        assert_eq!(verify("sha256=", &[good.as_bytes()]), Ok(0));
        assert_eq!(verify("sha256=", &[&good.as_bytes()[7..]]), Err("no_known_signature"));
        assert_eq!(verify("", &[good.as_bytes()]), Err("malformed_signature"));
    }

    #[test]
    fn the_reason_says_what_is_wrong_with_the_header() {
        assert_eq!(verify("", &[]), Err("missing_signature"));
        for odd in [&b""[..], b"zz", b"0", "é0".as_bytes(), &[b'a'; 5_000]] {
            assert_eq!(verify("", &[odd]), Err("malformed_signature"));
        }
    }
}
