//! Signs requests by Standard Webhooks.

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Signs with one secret.
pub(super) struct Signer {
    keyed: Hmac<Sha256>,
}

impl Signer {
    /// Takes `whsec_` and base64.
    pub fn new(secret: &str) -> anyhow::Result<Self> {
        let Some(encoded) = secret.trim().strip_prefix("whsec_") else {
            bail!("the secret does not start with whsec_");
        };
        // The cause would repeat a piece of the secret.
        let Ok(key) = STANDARD.decode(encoded) else {
            bail!("what follows whsec_ in the secret is not base64");
        };
        ensure!(!key.is_empty(), "the secret is blank");
        let keyed = Hmac::new_from_slice(&key).context("the secret is no key")?;
        Ok(Self { keyed })
    }

    /// The value of `webhook-signature` for a request with this `webhook-id`, this `webhook-timestamp` (in
    /// seconds) and this body.
    pub fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
        let mut mac = self.keyed.clone();
        mac.update(format!("{id}.{}.", at.as_secs()).as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks specification.
    #[test]
    fn the_published_example_comes_out() {
        let signer = Signer::new(" whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap();
        let at = Timestamp::from_micros(1_614_265_330_000_000);
        assert_eq!(
            signer.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", at, br#"{"test": 2432232314}"#),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn a_secret_that_is_none_is_refused_and_not_repeated() {
        for secret in ["", "abc", "whsec_", "whsec_%%geheim"] {
            let error = format!("{:#}", Signer::new(secret).err().unwrap());
            assert!(!error.contains("geheim"), "{error}");
        }
    }
}
