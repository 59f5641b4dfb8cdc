//! What a source is configured with.

use std::time::Duration;

use application::ports::provider::Trust;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::options;

/// How far a signature's time may be from ours, on either side, unless it is set otherwise.
pub const TOLERANCE: Duration = Duration::from_mins(5);

/// Which of a provider's modes a source takes effect from. An event of the other mode is accepted, recorded
/// and never applied. Providers sign the two with different secrets, so it comes only with a wrong set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Real money.
    Live,
    /// The provider's test mode or sandbox.
    Test,
}

impl Mode {
    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
        }
    }
}

/// Why a source cannot be set up. Never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// It needs a secret and has none.
    #[error("secrets is empty; {0}")]
    NoSecret(&'static str),
    /// A secret is blank.
    #[error("secrets has a blank entry; a blank secret protects nothing")]
    BlankSecret,
    /// A secret is not of the form that the provider gives out.
    #[error("secrets has one that is not usable: {0}")]
    BadSecret(&'static str),
    /// An option is missing, unknown or not usable.
    #[error("options: {0}")]
    BadOption(String),
}

/// One source's settings.
#[derive(Debug, Clone)]
pub struct SourceSettings {
    /// The secrets, trimmed; several while one is being replaced.
    pub secrets: Vec<SecretString>,
    /// How far a signature's time may be from ours, on either side.
    pub tolerance: Duration,
    /// The mode that takes effect.
    pub mode: Mode,
    /// Whether events count as they come; `None` for the pack's own default.
    pub trust: Option<Trust>,
    /// Nothing unsafe is allowed.
    pub production: bool,
    /// What only this provider needs, from `[sources.NAME.options]`.
    pub options: Map<String, Value>,
}

impl SourceSettings {
    /// The secrets as text, trimmed, at least one. `wanted` says which secret is meant.
    ///
    /// # Errors
    /// There is none, or one is blank.
    pub fn secret_texts(&self, wanted: &'static str) -> Result<Vec<&str>, SetupError> {
        if self.secrets.is_empty() {
            return Err(SetupError::NoSecret(wanted));
        }
        let texts: Vec<&str> = self.secrets.iter().map(|secret| secret.expose_secret().trim()).collect();
        if texts.iter().any(|text| text.is_empty()) { Err(SetupError::BlankSecret) } else { Ok(texts) }
    }

    /// The secrets as key bytes, each read by `key`.
    ///
    /// # Errors
    /// There is none, one is blank, or `key` cannot read one.
    pub fn keys(
        &self,
        wanted: &'static str,
        key: impl Fn(&str) -> Result<Vec<u8>, SetupError>,
    ) -> Result<Vec<Vec<u8>>, SetupError> {
        self.secret_texts(wanted)?.into_iter().map(key).collect()
    }

    /// The options, read as `T`, which denies unknown fields. See [`options`].
    ///
    /// # Errors
    /// An option is missing, unknown or of the wrong type.
    pub fn read_options<T: DeserializeOwned>(&self) -> Result<T, SetupError> {
        options::read(&self.options)
    }
}

/// For packs without options of their own.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}
