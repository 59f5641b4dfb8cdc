//! The configured sources, each by the provider pack of its name.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use application::ports::provider::{Provider, Sources, Trust};
use domain::SourceName;
use secrecy::ExposeSecret;

use adapters::providers::registry;
use adapters::providers::settings::{Mode, SetupError, SourceSettings};

use crate::config::{Config, Environment, SourceConfig};

/// The sources that are switched on.
///
/// # Errors
/// A source cannot be set up; every problem of every source is told.
pub fn sources(config: &Config) -> anyhow::Result<Sources> {
    let mut providers = HashMap::new();
    let mut problems = Vec::new();
    for (name, source) in config.sources.iter().filter(|(_, source)| source.enabled) {
        match (SourceName::parse(name), source_provider(name, source, config.environment)) {
            (Ok(name), Ok(provider)) => {
                providers.insert(name, provider);
            }
            (_, Err(found)) => problems.extend(found),
            (Err(error), Ok(_)) => problems.push(format!("sources.{name:?}: the name {error}")),
        }
    }
    anyhow::ensure!(problems.is_empty(), "{}", problems.join("; "));
    Ok(Sources::new(providers))
}

/// Everything that keeps a source from being set up, each with its setting.
pub fn source_problems(name: &str, source: &SourceConfig, environment: Environment) -> Vec<String> {
    source_provider(name, source, environment).err().unwrap_or_default()
}

/// The provider of one source, whether it is switched on or not.
///
/// # Errors
/// Everything that keeps it from being set up.
pub fn source_provider(
    name: &str,
    source: &SourceConfig,
    environment: Environment,
) -> Result<Arc<dyn Provider>, Vec<String>> {
    // A pack that speaks to its provider makes its client when it is built.
    super::install_crypto_provider();
    let setting = |problem: String| format!("sources.{name}.{problem}");
    let settings = source_settings(source, environment);
    match (registry::find(&source.provider), settings) {
        (Some(build), Ok(settings)) => build(&settings).map_err(|error| vec![setting(told(name, &error))]),
        (found, settings) => {
            let unknown = found.is_none().then(|| unknown_provider(&source.provider));
            let problems = unknown.into_iter().chain(settings.err().into_iter().flatten());
            Err(problems.map(setting).collect())
        }
    }
}

/// The mode from which a source takes effect: as it is set, else live in production and test elsewhere.
///
/// # Errors
/// It is set to something else.
pub fn source_mode(source: &SourceConfig, environment: Environment) -> Result<Mode, String> {
    match (source.mode.as_str(), environment) {
        ("live", _) | ("", Environment::Production) => Ok(Mode::Live),
        ("test", _) | ("", Environment::Development) => Ok(Mode::Test),
        _ => Err(r#"mode must be "live" or "test", or empty"#.to_owned()),
    }
}

/// The names of all providers, sorted.
pub fn provider_names() -> impl Iterator<Item = &'static str> {
    registry::names()
}

fn source_settings(source: &SourceConfig, environment: Environment) -> Result<SourceSettings, Vec<String>> {
    let mut problems = Vec::new();
    let mode = source_mode(source, environment).map_err(|problem| problems.push(problem)).ok();
    let trust = source_trust(source).map_err(|problem| problems.push(problem)).ok();
    if source.secrets.iter().any(|secret| secret.expose_secret().trim().is_empty()) {
        problems.push(SetupError::BlankSecret.to_string());
    }
    if source.tolerance_s == 0 {
        problems.push("tolerance_s is 0; no clock is that exact".to_owned());
    }
    match (mode, trust) {
        (Some(mode), Some(trust)) if problems.is_empty() => Ok(SourceSettings {
            secrets: source.secrets.clone(),
            tolerance: Duration::from_secs(source.tolerance_s),
            mode,
            trust,
            production: environment == Environment::Production,
            options: source.options.0.clone(),
        }),
        _ => Err(problems),
    }
}

/// `None` for the pack's own default.
fn source_trust(source: &SourceConfig) -> Result<Option<Trust>, String> {
    match source.trust.as_str() {
        "" => Ok(None),
        "signature" => Ok(Some(Trust::Signature)),
        "confirm" => Ok(Some(Trust::Confirm)),
        _ => Err(r#"trust must be "signature" or "confirm", or empty"#.to_owned()),
    }
}

fn unknown_provider(provider: &str) -> String {
    format!("provider is {provider:?}; known are {}", registry::names().collect::<Vec<_>>().join(", "))
}

fn told(name: &str, error: &SetupError) -> String {
    match error {
        SetupError::NoSecret(_) => {
            format!("{error}; set one, or switch the source off with sources.{name}.enabled = false")
        }
        _ => error.to_string(),
    }
}
