//! `[sources.NAME]`.

use std::fmt;

use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value};

/// `[sources.NAME]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct SourceConfig {
    pub provider: String,
    pub enabled: bool,
    pub secrets: Vec<SecretString>,
    pub secrets_file: String,
    pub tolerance_s: u64,
    pub mode: String,
    pub trust: String,
    pub options: SourceOptions,
}

/// `[sources.NAME.options]`: what only this provider needs. Its keys are the provider pack's to judge.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct SourceOptions(pub Map<String, Value>);

impl fmt::Debug for SourceOptions {
    /// The keys alone: what a value is for is not known here.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
