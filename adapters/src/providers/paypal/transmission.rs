//! What a request says of its own transmission, in its headers.

use application::ports::provider::WebhookRequest;
use domain::Timestamp;
use url::Url;

use super::certificate_url::allowed;
use crate::providers::moment::rfc3339_text;
use crate::providers::signing::base64;

/// The headers that carry the signature.
pub const HEADERS: [&str; 5] = [
    "paypal-transmission-id",
    "paypal-transmission-time",
    "paypal-transmission-sig",
    "paypal-cert-url",
    "paypal-auth-algo",
];

/// Why a request is refused whose certificate is not to be trusted.
pub const UNTRUSTED: &str = "untrusted_certificate";

/// The one algorithm that is taken, as PayPal calls it.
const ALGORITHM: &str = "SHA256withRSA";

/// The longest value that is looked at, in bytes; a signature of 4,096 bits has 684.
const VALUE_BYTES_MAX: usize = 1_024;

/// A transmission.
#[derive(Debug)]
pub struct Transmission<'a> {
    /// Its id.
    pub id: &'a str,
    /// When it was sent.
    pub at: Timestamp,
    /// Where the certificate is.
    pub certificate: Url,
    /// The signature.
    pub signature: Vec<u8>,
    /// When it was sent, in the letters that are signed.
    time: &'a str,
}

impl<'a> Transmission<'a> {
    /// The transmission of a request; `Err` says why there is none, from a closed set.
    pub fn read(request: &WebhookRequest<'a>) -> Result<Self, &'static str> {
        let value = |name: &str| {
            let mut lines = request.headers_named(name);
            match (lines.next(), lines.next()) {
                (None, _) => Err("missing_signature"),
                // Which of two would count is not for us to guess.
                (Some(_), Some(_)) => Err("malformed_signature"),
                (Some(value), None) => text(value).ok_or("malformed_signature"),
            }
        };
        let [id, time, signature, certificate, algorithm] = HEADERS;
        let (id, time, signature) = (value(id)?, value(time)?, value(signature)?);
        let (certificate, algorithm) = (value(certificate)?, value(algorithm)?);
        if algorithm != ALGORITHM {
            return Err("no_known_signature");
        }
        Ok(Self {
            id,
            at: rfc3339_text(time).ok_or("malformed_signature")?,
            certificate: allowed(certificate).ok_or(UNTRUSTED)?,
            signature: base64(signature.as_bytes()).ok_or("malformed_signature")?,
            time,
        })
    }

    /// What is signed: id, time, webhook id and the CRC-32 of the body in decimal, with `|` between. Only the
    /// id could hold a `|` itself, so the parts cannot be shifted against each other.
    pub fn message(&self, webhook_id: &str, body: &[u8]) -> Vec<u8> {
        format!("{}|{}|{webhook_id}|{}", self.id, self.time, crc32fast::hash(body)).into_bytes()
    }
}

fn text(value: &[u8]) -> Option<&str> {
    let shaped = (1..=VALUE_BYTES_MAX).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic);
    if shaped { std::str::from_utf8(value).ok() } else { None }
}
