//! A keyed hash over what the sender's template says.

use application::ports::provider::{CannotSign, WebhookRequest};
use domain::Timestamp;

use super::carrier::Carrier;
use super::options::{Options, bad};
use super::signed_time::SignedTime;
use super::template::Template;
use crate::providers::settings::{SetupError, SourceSettings};
use crate::providers::signing::{Algorithm, Encoding, KeyedHash};

/// What is signed unless it is set otherwise.
const WHOLE_BODY: &str = "{body}";

const ENCODINGS: &[(&str, Encoding)] = &[("hex", Encoding::Hex), ("base64", Encoding::Base64)];

const SECRET_ENCODINGS: &[(&str, Option<Encoding>)] =
    &[("text", None), ("hex", Some(Encoding::Hex)), ("base64", Some(Encoding::Base64))];

/// A keyed hash.
pub struct HashScheme {
    carrier: Carrier,
    encoding: Encoding,
    template: Template,
    time: Option<SignedTime>,
    keyed: KeyedHash,
    description: String,
}

impl HashScheme {
    /// The scheme that the options say, whose signature `carrier` holds.
    pub fn read(
        options: &mut Options,
        settings: &SourceSettings,
        algorithm: Algorithm,
        carrier: Carrier,
        id_header: Option<&str>,
    ) -> Result<Self, SetupError> {
        let encoding = options.choice("encoding", ENCODINGS)?.unwrap_or(Encoding::Hex);
        let signed = options.filled("signed")?.unwrap_or_else(|| WHOLE_BODY.to_owned());
        let url = options.filled("url")?;
        if url.is_some() && !signed.contains("{url}") {
            return Err(bad("url", "is set, and signed has no {url}"));
        }
        let template = Template::parse(&signed, id_header, url.as_deref())?;
        let time = SignedTime::read(options, settings, &carrier, &template)?;
        let written = options.choice("secret_encoding", SECRET_ENCODINGS)?.flatten();
        let keys = settings.keys("the secret that the sender signs with", |text| match written {
            None => Ok(text.as_bytes().to_vec()),
            Some(encoding) => encoding
                .decode(text.as_bytes())
                .ok_or(SetupError::BadSecret("it is not written as options.secret_encoding says")),
        })?;
        let keyed = KeyedHash::new(algorithm, &keys)?;
        let description = format!("HMAC ({algorithm:?}, {encoding:?}) over {signed}");
        Ok(Self { carrier, encoding, template, time, keyed, description })
    }

    /// The place of the secret, or why the request is refused.
    pub fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<usize, &'static str> {
        let claimed = self.carrier.values(request)?;
        let claimed: Vec<Vec<u8>> =
            claimed.into_iter().filter_map(|text| self.encoding.decode(text)).collect();
        if claimed.is_empty() {
            return Err("malformed_signature");
        }
        let timestamp = match &self.time {
            Some(time) => time.text(request)?,
            None => b"",
        };
        let parts = self.template.parts(request, timestamp).ok_or("missing_signature")?;
        let slot = self.keyed.matching(&parts, &claimed).ok_or("wrong_signature")?;
        if let Some(time) = &self.time {
            time.judge(timestamp, now)?;
        }
        Ok(slot)
    }

    /// Whether the signature binds the whole body and all of these headers.
    pub fn binds<'a>(&self, headers: impl IntoIterator<Item = &'a str>) -> bool {
        let signed = |name: &str| self.template.headers().any(|header| header == name);
        self.template.has_body() && headers.into_iter().all(signed)
    }

    /// The headers that a request must have, by lower-case name.
    pub fn headers(&self) -> Vec<&str> {
        let time = self.time.iter().map(SignedTime::header);
        std::iter::once(self.carrier.header.as_str()).chain(time).chain(self.template.headers()).collect()
    }

    /// How it is signed, in words.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The headers that `body` with `headers` lacks, as the sender would sign it.
    pub fn sign(
        &self,
        body: &[u8],
        headers: &[(String, String)],
        now: Timestamp,
    ) -> Result<Vec<(String, String)>, CannotSign> {
        let timestamp = self.time.as_ref().map(|time| time.write(now)).unwrap_or_default();
        let raw: Vec<(String, Vec<u8>)> =
            headers.iter().map(|(name, value)| (name.clone(), value.as_bytes().to_vec())).collect();
        let request = WebhookRequest { body, headers: &raw, query: "" };
        let parts = self.template.parts(&request, timestamp.as_bytes()).ok_or_else(|| {
            CannotSign("only the sender knows what is in the other headers that it signs".to_owned())
        })?;
        let signature = self.encoding.encode(&self.keyed.sign(&parts));
        let signature = format!("{}{signature}", self.carrier.prefix);
        let own = self.carrier.header.clone();
        Ok(match &self.time {
            None => vec![(own, signature)],
            Some(time) => match time.separator_beside(&self.carrier) {
                Some(separator) => {
                    vec![(own, format!("{}{timestamp}{separator}{signature}", time.prefix()))]
                }
                None => vec![
                    (time.header().to_owned(), format!("{}{timestamp}", time.prefix())),
                    (own, signature),
                ],
            },
        })
    }
}
