//! Configuration: built-in defaults < file < environment, checked as a whole before anything starts.
//!
//! The commented default file is the schema: a key that is not in it is unknown, and a value must have its
//! default's type. An empty table in it takes any keys: they are a provider pack's to judge. Every problem is
//! reported at once.

mod alerts;
mod dead_letters;
mod layers;
mod outbox;
mod sections;
mod source;
mod validate;

use std::path::{Path, PathBuf};

pub use alerts::{AlertTarget, AlertsConfig};
pub use dead_letters::DeadLettersConfig;
pub use outbox::{DestinationConfig, DestinationKind, DestinationStart, OutboxConfig};
pub use sections::{
    BrokerConfig, CacheConfig, Config, Environment, HttpConfig, LogConfig, LogFormat, OpsConfig,
    QuarantineConfig, StoreConfig, TelemetryConfig, WorkerConfig, file_of, ms, scheme,
};
pub use source::{SourceConfig, SourceOptions};

/// The commented default file: every setting, its default and what it is for.
pub const DEFAULT_FILE: &str = include_str!("../../config/default.toml");

/// The file that is read when none is named, if it is there.
pub const STANDARD_FILE: &str = "payonce.toml";

/// Everything that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration has {} problem{}:\n{}", .0.len(), if .0.len() == 1 { "" } else { "s" }, listed(.0))]
pub struct ConfigProblems(pub Vec<String>);

fn listed(problems: &[String]) -> String {
    problems.iter().map(|problem| format!("  - {problem}")).collect::<Vec<_>>().join("\n")
}

impl Config {
    /// Reads `file` (or `payonce.toml`, if there is one) and the environment of this process.
    ///
    /// # Errors
    /// Every problem there is, each naming its setting and where it came from.
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigProblems> {
        let named = file.map(Path::to_path_buf);
        let path = named.clone().or_else(|| {
            let standard = PathBuf::from(STANDARD_FILE);
            standard.exists().then_some(standard)
        });
        let text = match &path {
            None => None,
            Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
                ConfigProblems(vec![format!("{} cannot be read: {error}", path.display())])
            })?),
        };
        let origin = path.map(|path| path.display().to_string()).unwrap_or_default();
        Self::from_layers(text.as_deref().map(|text| (origin.as_str(), text)), std::env::vars())
    }

    /// From the text of a file with its name, and an environment.
    ///
    /// # Errors
    /// Every problem there is.
    pub fn from_layers(
        file: Option<(&str, &str)>,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigProblems> {
        let mut problems = Vec::new();
        let table = layers::merge(file, environment, &mut problems);
        if !problems.is_empty() {
            return Err(ConfigProblems(problems));
        }
        let mut config: Self = toml::Value::Table(table)
            .try_into()
            .map_err(|error: toml::de::Error| ConfigProblems(vec![error.message().to_owned()]))?;
        config.read_secret_files(&mut problems);
        validate::validate(&config, &mut problems);
        if problems.is_empty() { Ok(config) } else { Err(ConfigProblems(problems)) }
    }
}

#[cfg(test)]
mod tests;
