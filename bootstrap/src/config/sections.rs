//! The settings as types, one struct a section of the default file, which documents each.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use application::RetryPolicy;
use domain::ConsumerName;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::alerts::AlertsConfig;
use super::dead_letters::DeadLettersConfig;
use super::outbox::{DestinationConfig, OutboxConfig};
use super::source::SourceConfig;

/// Which rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// Unsigned native events are taken, and test mode takes effect unless a source says otherwise.
    Development,
    /// No unsigned native events, and live mode takes effect unless a source says otherwise.
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
    pub quarantine: QuarantineConfig,
    pub worker: WorkerConfig,
    pub dead_letters: DeadLettersConfig,
    pub log: LogConfig,
    pub telemetry: TelemetryConfig,
    pub sources: BTreeMap<String, SourceConfig>,
    pub outbox: OutboxConfig,
    pub destinations: BTreeMap<String, DestinationConfig>,
    pub alerts: AlertsConfig,
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
    pub tokens_file: String,
    pub hosts: Vec<String>,
    pub cookie_secure: bool,
    pub masked_fields: Vec<String>,
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
    pub retention_s: u64,
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
    pub consumers: Vec<String>,
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
    pub mark_ttl_s: u64,
    pub breaker_open_ms: u64,
    pub memory_entries_max: usize,
}

/// `[quarantine]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct QuarantineConfig {
    pub url: String,
    pub entries_max: u32,
    pub bytes_max: u64,
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
    pub retry_delay_max_ms: u64,
    pub retry_age_max_s: u64,
    pub not_ready_delay_max_ms: u64,
    pub not_ready_age_max_s: u64,
    pub backoff_max_ms: u64,
    pub hold_max_ms: u64,
    pub shutdown_grace_ms: u64,
    pub queue_depth_interval_ms: u64,
}

impl Config {
    /// Everybody who processes the events, at least the worker's own. Names that are not valid, which the
    /// configuration refuses, are left out.
    pub fn consumers(&self) -> Vec<ConsumerName> {
        let own = std::slice::from_ref(&self.worker.consumer);
        let names = if self.broker.consumers.is_empty() { own } else { &self.broker.consumers };
        names.iter().filter_map(|name| ConsumerName::parse(name).ok()).collect()
    }
}

impl WorkerConfig {
    /// The budgets of an event.
    pub fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy {
            attempts_max: self.attempts_max,
            delay: Duration::from_millis(self.retry_delay_ms),
            delay_max: Duration::from_millis(self.retry_delay_max_ms),
            age_max: Duration::from_secs(self.retry_age_max_s),
            not_ready_delay_max: Duration::from_millis(self.not_ready_delay_max_ms),
            not_ready_age_max: Duration::from_secs(self.not_ready_age_max_s),
        }
    }
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
        let secrets_of_sources = self
            .sources
            .iter_mut()
            .map(|(name, source)| (format!("sources.{name}"), &mut source.secrets, &source.secrets_file));
        let secrets_of_destinations = self.destinations.iter_mut().map(|(name, destination)| {
            (format!("destinations.{name}"), &mut destination.secrets, &destination.secrets_file)
        });
        let secrets_of_alerts = ("alerts".to_owned(), &mut self.alerts.secrets, &self.alerts.secrets_file);
        let all = secrets_of_sources.chain(secrets_of_destinations).chain([secrets_of_alerts]);
        for (section, secrets, file) in all {
            if !file.is_empty()
                && let Some(text) = read(&format!("{section}.secrets_file"), file, problems)
            {
                // A line break at the end of the file does not make another secret; a blank line inside does.
                secrets.extend(text.trim_end().split('\n').map(SecretString::from));
            }
            for secret in secrets {
                *secret = trimmed(secret.expose_secret());
            }
        }
        for destination in self.destinations.values_mut() {
            destination.url = trimmed(destination.url.expose_secret());
        }
        self.alerts.webhook_url = trimmed(self.alerts.webhook_url.expose_secret());
    }
}

fn trimmed(text: &str) -> SecretString {
    SecretString::from(text.trim().to_owned())
}

fn read(setting: &str, file: &str, problems: &mut Vec<String>) -> Option<String> {
    match std::fs::read_to_string(Path::new(file)) {
        // Some editors begin a file with a byte order mark, which is no part of what is in it.
        Ok(text) => Some(text.trim_start_matches('\u{feff}').to_owned()),
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
