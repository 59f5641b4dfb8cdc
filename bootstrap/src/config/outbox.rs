//! `[outbox]` and `[destinations.NAME]`.

use application::use_cases::KindFilter;
use domain::SourceName;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::sections::{Config, Environment, scheme};
use super::validate::out_of_range;
use crate::wiring::endpoint_problems;

/// `[outbox]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct OutboxConfig {
    pub relay: bool,
    pub batch_max: usize,
    pub lease_s: u64,
    pub poll_ms: u64,
    pub backoff_max_ms: u64,
    pub retention_s: u64,
}

/// Where a destination that is new begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DestinationStart {
    /// With the oldest message that is still there.
    Oldest,
    /// With what is announced from then on.
    Newest,
}

/// `[destinations.NAME]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct DestinationConfig {
    pub url: SecretString,
    pub enabled: bool,
    pub secrets: Vec<SecretString>,
    pub secrets_file: String,
    pub kinds: Vec<String>,
    pub start: DestinationStart,
    pub attempts_max: u32,
    pub max_age_s: u64,
    pub retry_delay_ms: u64,
    pub retry_after_max_s: u64,
    pub timeout_ms: u64,
    pub concurrency: u32,
}

/// What a destination's URL names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DestinationKind {
    /// The topic exchange of the broker of `broker.url`.
    Exchange,
    /// An HTTP endpoint.
    Http,
}

/// The destination that is there by default.
const DEFAULT_DESTINATION: &str = "events";

impl DestinationConfig {
    /// What the URL names, if it is one that is known.
    pub fn kind(&self) -> Option<DestinationKind> {
        let url = self.url.expose_secret();
        match scheme(url) {
            "amqp" if url == "amqp:" => Some(DestinationKind::Exchange),
            "http" | "https" => Some(DestinationKind::Http),
            _ => None,
        }
    }
}

impl Config {
    /// The destinations that are relayed to, by name. The topic exchange is one only with RabbitMQ: the queue
    /// that is embedded has no exchange.
    pub fn active_destinations(&self) -> impl Iterator<Item = (&str, &DestinationConfig)> {
        let has_exchange = scheme(self.broker.url.expose_secret()) != "embedded";
        self.destinations
            .iter()
            .filter(move |(_, destination)| {
                destination.enabled && (has_exchange || destination.kind() != Some(DestinationKind::Exchange))
            })
            .map(|(name, destination)| (name.as_str(), destination))
    }
}

/// Adds every problem of these sections.
pub(super) fn validate(config: &Config, problems: &mut Vec<String>) {
    let outbox = &config.outbox;
    let number = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
    for (setting, value, low, high) in [
        ("outbox.batch_max", number(outbox.batch_max), 1, 1000),
        ("outbox.lease_s", outbox.lease_s, 1, 3600),
        ("outbox.poll_ms", outbox.poll_ms, 10, 60_000),
        ("outbox.backoff_max_ms", outbox.backoff_max_ms, 100, 600_000),
        // Ten years; 0 keeps for ever.
        ("outbox.retention_s", outbox.retention_s, 0, 315_360_000),
    ] {
        problems.extend(out_of_range(setting, value, low, high));
    }
    if (1..3600).contains(&outbox.retention_s) {
        problems.push("outbox.retention_s must be 0, for ever, or at least 3600".to_owned());
    }
    for (name, destination) in config.destinations.iter().filter(|(_, destination)| destination.enabled) {
        check(name, destination, config, problems);
    }
}

fn check(name: &str, destination: &DestinationConfig, config: &Config, problems: &mut Vec<String>) {
    let section = format!("destinations.{name}");
    // The rule of all names.
    if let Err(error) = SourceName::parse(name) {
        problems.push(format!("destinations.{name:?}: the name {error}"));
    }
    for (setting, value, low, high) in [
        ("attempts_max", u64::from(destination.attempts_max), 1, 10_000),
        ("max_age_s", destination.max_age_s, 1, 31_536_000),
        ("retry_delay_ms", destination.retry_delay_ms, 1, 3_600_000),
        ("retry_after_max_s", destination.retry_after_max_s, 0, 86_400),
        ("timeout_ms", destination.timeout_ms, 1, 300_000),
        ("concurrency", u64::from(destination.concurrency), 1, 256),
    ] {
        problems.extend(out_of_range(&format!("{section}.{setting}"), value, low, high));
    }
    if let Err(error) = KindFilter::parse(&destination.kinds) {
        problems.push(format!("{section}.kinds: {error}"));
    }
    match destination.kind() {
        Some(DestinationKind::Exchange) => problems.extend(exchange_problem(name, config)),
        Some(DestinationKind::Http) => problems.extend(http_problems(&section, destination, config)),
        None => problems.push(format!(
            "{section}.url must be \"amqp:\", the topic exchange of the broker, or start with https:"
        )),
    }
}

/// Two destinations at one exchange would announce everything twice.
fn exchange_problem(name: &str, config: &Config) -> Option<String> {
    let is_exchange = |destination: &DestinationConfig| {
        destination.enabled && destination.kind() == Some(DestinationKind::Exchange)
    };
    if name != DEFAULT_DESTINATION && scheme(config.broker.url.expose_secret()) == "embedded" {
        return Some(format!(
            "destinations.{name}.url is \"amqp:\", which needs RabbitMQ; set it to an https:// URL"
        ));
    }
    let first = config.destinations.iter().find(|(_, destination)| is_exchange(destination))?.0;
    (first != name).then(|| {
        format!("destinations.{name}.url is \"amqp:\", as that of destinations.{first} is; set it to an https:// URL")
    })
}

/// What is wrong with an endpoint, without repeating its URL: it may hold a token.
fn http_problems(section: &str, destination: &DestinationConfig, config: &Config) -> Vec<String> {
    let mut problems: Vec<String> =
        endpoint_problems(destination).iter().map(|problem| format!("{section} {problem}")).collect();
    if config.environment == Environment::Production {
        if scheme(destination.url.expose_secret()) == "http" {
            problems.push(format!("{section}.url is http:, and environment is \"production\": use https:"));
        }
        if destination.secrets.is_empty() {
            problems.push(format!(
                "{section}.secrets is empty, and environment is \"production\": set a secret to sign with"
            ));
        }
    }
    problems
}
