//! The settings as types, one struct a section of the default file, which documents each.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

/// Which rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// A source without a secret is taken.
    Development,
    /// Every source must have a secret.
    Production,
}

/// All settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct Config {
    pub environment: Environment,
    pub http: HttpConfig,
    pub ops: OpsConfig,
    pub store: StoreConfig,
    pub broker: BrokerConfig,
    pub cache: CacheConfig,
    pub worker: WorkerConfig,
    pub log: LogConfig,
    pub telemetry: TelemetryConfig,
    pub sources: BTreeMap<String, SourceConfig>,
}

/// `[http]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct HttpConfig {
    pub bind: String,
    pub body_bytes_max: usize,
    pub body_deadline_ms: u64,
    pub header_timeout_ms: u64,
    pub keep_alive_ms: u64,
    pub workers: usize,
    pub connections_max: usize,
    pub retry_after_s: u64,
    pub drain_delay_ms: u64,
    pub shutdown_grace_ms: u64,
}

/// `[ops]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct OpsConfig {
    pub bind: String,
}

/// `[store]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct StoreConfig {
    pub url: SecretString,
    pub url_file: String,
    pub pool_max: usize,
    pub acquire_timeout_ms: u64,
    pub connect_timeout_ms: u64,
    pub statement_timeout_ms: u64,
    pub lock_timeout_ms: u64,
    pub idle_in_transaction_timeout_ms: u64,
    pub migrate_on_start: bool,
}

/// `[broker]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct BrokerConfig {
    pub url: SecretString,
    pub url_file: String,
    pub connect_timeout_ms: u64,
    pub confirm_timeout_ms: u64,
    pub publish_waiting_max: usize,
    pub publish_group_max: usize,
    pub publish_channels: usize,
}

/// `[cache]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct CacheConfig {
    pub url: SecretString,
    pub url_file: String,
    pub timeout_ms: u64,
    pub pool_max: usize,
    pub lease_s: u64,
    pub mark_ttl_s: u64,
    pub breaker_open_ms: u64,
    pub memory_entries_max: usize,
}

/// `[worker]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct WorkerConfig {
    pub consumer: String,
    pub concurrency: usize,
    pub prefetch: u64,
    pub batch_max: usize,
    pub batch_linger_ms: u64,
    pub attempts_max: u32,
    pub retry_delay_ms: u64,
    pub backoff_max_ms: u64,
    pub hold_max_ms: u64,
    pub shutdown_grace_ms: u64,
    pub queue_depth_interval_ms: u64,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people at a terminal.
    Human,
    /// One JSON object a line.
    Json,
}

/// `[log]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct LogConfig {
    pub format: LogFormat,
    pub filter: String,
}

/// `[telemetry]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct TelemetryConfig {
    pub otlp_endpoint: String,
}

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
}

impl Config {
    /// Reads the `…_file` settings, and trims what comes from files and environment: a line break at the end
    /// of a secret is never part of it.
    pub(super) fn read_secret_files(&mut self, problems: &mut Vec<String>) {
        for (section, url, file) in [
            ("store", &mut self.store.url, &self.store.url_file),
            ("broker", &mut self.broker.url, &self.broker.url_file),
            ("cache", &mut self.cache.url, &self.cache.url_file),
        ] {
            if !file.is_empty()
                && let Some(text) = read(&format!("{section}.url_file"), file, problems)
            {
                *url = SecretString::from(text);
            }
            *url = trimmed(url.expose_secret());
        }
        for (name, source) in &mut self.sources {
            let setting = format!("sources.{name}.secrets_file");
            if !source.secrets_file.is_empty()
                && let Some(text) = read(&setting, &source.secrets_file, problems)
            {
                // A line break at the end of the file does not make another secret; a blank line inside does.
                source.secrets.extend(text.trim_end().split('\n').map(SecretString::from));
            }
            for secret in &mut source.secrets {
                *secret = trimmed(secret.expose_secret());
            }
        }
    }
}

fn trimmed(text: &str) -> SecretString {
    SecretString::from(text.trim().to_owned())
}

fn read(setting: &str, file: &str, problems: &mut Vec<String>) -> Option<String> {
    match std::fs::read_to_string(Path::new(file)) {
        Ok(text) => Some(text),
        Err(error) => {
            problems.push(format!("{setting}: {file} cannot be read: {error}"));
            None
        }
    }
}

/// A setting in milliseconds as a duration.
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The scheme of a URL, `sqlite` of `sqlite:data/payonce.db`; empty where there is none.
pub fn scheme(url: &str) -> &str {
    url.split_once(':').map_or("", |(scheme, _)| scheme)
}

/// The file that a `sqlite:` or `embedded:` URL names, as it stands: relative to the working directory, or
/// absolute, also when it is written with the two slashes of other URLs.
pub fn file_of(url: &str) -> &str {
    let path = url.split_once(':').map_or("", |(_, path)| path);
    path.strip_prefix("//").unwrap_or(path)
}
