//! Signs by Standard Webhooks, with every secret at once, so that a receiver can change over in its own time.
//!
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>

use std::fmt::Write as _;
use std::time::Duration;

use application::ports::provider::CannotSign;
use domain::Timestamp;
use secrecy::SecretString;

use super::destination::HttpSetupError;
use crate::providers::standard_webhooks::{Bare, HEADERS, Verifier};

/// Signs requests.
pub(super) struct Signer {
    /// One for each secret.
    by_secret: Vec<Verifier>,
}

impl Signer {
    /// With all of `secrets`; without any, requests are not signed.
    pub(super) fn new(secrets: &[SecretString]) -> Result<Self, HttpSetupError> {
        let by_secret = secrets.iter().map(|secret| {
            // The tolerance is for those who verify.
            let signer = Verifier::new(std::slice::from_ref(secret), Bare::Text, Duration::ZERO)?;
            // A public key verifies only.
            signer.sign("", b"", Timestamp::from_micros(0)).map_err(HttpSetupError::PublicKey)?;
            Ok(signer)
        });
        Ok(Self { by_secret: by_secret.collect::<Result<_, HttpSetupError>>()? })
    }

    /// The headers of a request with that header id.
    pub(super) fn headers(
        &self,
        id: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Vec<(&'static str, String)>, CannotSign> {
        let [id_header, timestamp_header, signature_header] = HEADERS;
        let mut headers = vec![(id_header, id.to_owned()), (timestamp_header, now.as_secs().to_string())];
        let mut signatures = Vec::with_capacity(self.by_secret.len());
        for signer in &self.by_secret {
            let signed = signer.sign(id, body, now)?;
            signatures.extend(
                signed.into_iter().filter(|(name, _)| name == signature_header).map(|(_, value)| value),
            );
        }
        if !signatures.is_empty() {
            headers.push((signature_header, signatures.join(" ")));
        }
        Ok(headers)
    }
}

/// A message's id as it stands in a header: what is not a letter, a digit or one of `-_~/:` is
/// percent-encoded. A payment's id may hold anything. A full stop would let two messages have one signed text,
/// and what is not ASCII is read by some receivers in another encoding than the one that was signed.
pub(super) fn header_id(id: &str) -> String {
    id.bytes().fold(String::with_capacity(id.len()), |mut text, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b'/' | b':' => {
                text.push(char::from(byte));
            }
            // Writing to a string does not fail.
            _ => write!(text, "%{byte:02X}").unwrap_or_default(),
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(secrets: &[&str]) -> Result<Signer, HttpSetupError> {
        Signer::new(&secrets.iter().map(|secret| SecretString::from(*secret)).collect::<Vec<_>>())
    }

    const NOW: Timestamp = Timestamp::from_micros(1_674_087_231_000_000);

    /// The specification's own example of a signed message.
    #[test]
    fn a_known_message_has_its_known_signature() {
        let signer = signer(&["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]).unwrap();
        let now = Timestamp::from_micros(1_614_265_330_000_000);
        let headers = signer.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#, now);
        assert_eq!(
            headers.unwrap(),
            [
                ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned()),
                ("webhook-timestamp", "1614265330".to_owned()),
                ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned()),
            ]
        );
    }

    #[test]
    fn it_is_signed_with_every_secret() {
        let signature = |secrets: &[&str]| {
            let headers = signer(secrets).unwrap().headers("id", b"{}", NOW).unwrap();
            headers.last().unwrap().1.clone()
        };
        let (old, new) = (signature(&["old"]), signature(&["new"]));
        assert_eq!(signature(&["new", "old"]), format!("{new} {old}"));
    }

    #[test]
    fn without_a_secret_there_is_no_signature() {
        let headers = signer(&[]).unwrap().headers("id", b"{}", NOW).unwrap();
        assert_eq!(
            headers.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            ["webhook-id", "webhook-timestamp"]
        );
    }

    #[test]
    fn what_cannot_sign_is_refused() {
        for secret in ["", "whsec_!", "whpk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] {
            assert!(signer(&["good", secret]).is_err(), "{secret}");
        }
    }

    #[test]
    fn ordinary_ids_stand_in_the_header_as_they_are() {
        for id in ["stripe/pi_1/captured:single", "shop-2/tr_7~A/refunded:re_1"] {
            assert_eq!(header_id(id), id);
        }
    }

    #[test]
    fn what_could_be_misread_is_encoded_and_no_two_ids_read_alike() {
        assert_eq!(header_id("shop/é 1.2/%2E"), "shop/%C3%A9%201%2E2/%252E");
        assert_eq!(header_id("a,b\"\\"), "a%2Cb%22%5C");
    }
}
