//! How a sender proves that it is the sender.

use application::ports::provider::{CannotSign, SignedRequest, WebhookRequest};
use domain::Timestamp;

use super::carrier::Carrier;
use super::field::header_name;
use super::hash_scheme::HashScheme;
use super::options::{Options, bad};
use crate::providers::settings::{SetupError, SourceSettings};
use crate::providers::signing::{Algorithm, Tokens};

const ALGORITHMS: &[(&str, Option<Algorithm>)] = &[
    ("hmac-sha1", Some(Algorithm::Sha1)),
    ("hmac-sha256", Some(Algorithm::Sha256)),
    ("hmac-sha512", Some(Algorithm::Sha512)),
    ("token", None),
];

/// The options that only a keyed hash has.
const OF_HASHES: [&str; 7] = [
    "encoding",
    "signed",
    "url",
    "secret_encoding",
    "timestamp_header",
    "timestamp_prefix",
    "timestamp_format",
];

/// How requests are verified.
pub enum Scheme {
    /// A keyed hash over what the template says.
    Hash(Box<HashScheme>),
    /// The secret itself stands in a header.
    Token {
        /// Where.
        carrier: Carrier,
        /// Which.
        tokens: Tokens,
    },
}

impl Scheme {
    /// The scheme that the options say. `id_header` is the header that is the event id, where one is.
    pub fn read(
        options: &mut Options,
        settings: &SourceSettings,
        id_header: Option<&str>,
    ) -> Result<Self, SetupError> {
        let algorithm = options.choice("algorithm", ALGORITHMS)?;
        let algorithm = algorithm.ok_or_else(|| bad("algorithm", "is missing"))?;
        let carrier = Carrier {
            header: header_name("signature_header", &options.required("signature_header")?)?,
            prefix: options.filled("signature_prefix")?.unwrap_or_default(),
            separator: options.filled("signature_separator")?,
        };
        match algorithm {
            Some(algorithm) => {
                let scheme = HashScheme::read(options, settings, algorithm, carrier, id_header)?;
                Ok(Self::Hash(Box::new(scheme)))
            }
            None => Self::read_token(options, settings, carrier),
        }
    }

    fn read_token(
        options: &mut Options,
        settings: &SourceSettings,
        carrier: Carrier,
    ) -> Result<Self, SetupError> {
        for name in OF_HASHES {
            if options.text(name)?.is_some() {
                return Err(bad(name, "has no use with algorithm = \"token\""));
            }
        }
        let tokens = Tokens::new(&settings.secret_texts("the token that the sender sends")?);
        Ok(Self::Token { carrier, tokens })
    }

    /// The place of the secret, or why the request is refused.
    pub fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<usize, &'static str> {
        match self {
            Self::Hash(scheme) => scheme.verify(request, now),
            Self::Token { carrier, tokens } => {
                tokens.matching(carrier.values(request)?).ok_or("wrong_signature")
            }
        }
    }

    /// Whether a signature binds the whole body and all of these headers.
    pub fn binds<'a>(&self, headers: impl IntoIterator<Item = &'a str>) -> bool {
        match self {
            Self::Hash(scheme) => scheme.binds(headers),
            Self::Token { .. } => false,
        }
    }

    /// The headers that a request must have, by lower-case name, each once.
    pub fn headers(&self) -> Vec<String> {
        let names = match self {
            Self::Hash(scheme) => scheme.headers(),
            Self::Token { carrier, .. } => vec![carrier.header.as_str()],
        };
        let mut unique: Vec<String> = Vec::new();
        for name in names {
            if !unique.iter().any(|known| known == name) {
                unique.push(name.to_owned());
            }
        }
        unique
    }

    /// How it is signed, in words.
    pub fn description(&self) -> String {
        match self {
            Self::Hash(scheme) => scheme.description().to_owned(),
            Self::Token { .. } => "a static token, which binds nothing".to_owned(),
        }
    }

    /// `body` with `headers`, as the sender would sign it.
    pub fn sign(
        &self,
        body: &[u8],
        mut headers: Vec<(String, String)>,
        now: Timestamp,
    ) -> Result<SignedRequest, CannotSign> {
        match self {
            Self::Hash(scheme) => headers.extend(scheme.sign(body, &headers, now)?),
            Self::Token { carrier, tokens } => {
                headers.push((carrier.header.clone(), format!("{}{}", carrier.prefix, tokens.first())));
            }
        }
        Ok(SignedRequest { body: body.to_vec(), headers, query: String::new() })
    }
}
