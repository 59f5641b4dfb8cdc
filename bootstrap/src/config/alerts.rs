//! `[alerts]`.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::Url;

use super::sections::{Config, Environment, scheme};
use super::validate::out_of_range;
use crate::wiring::webhook_problems;

/// `[alerts]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct AlertsConfig {
    pub webhook_url: SecretString,
    pub secrets: Vec<SecretString>,
    pub secrets_file: String,
    pub command: CommandLine,
    pub window_s: u64,
    pub link_base: String,
    pub timeout_ms: u64,
    pub poll_ms: u64,
    pub attempts_max: u32,
    pub retry_delay_ms: u64,
}

/// A program and its arguments; empty for none.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct CommandLine(pub Vec<String>);

impl fmt::Debug for CommandLine {
    /// The program alone: an argument may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.first()).finish()
    }
}

/// Where alerts go.
#[derive(Clone, PartialEq, Eq)]
pub enum AlertTarget<'a> {
    /// Nowhere.
    Nobody,
    /// To the endpoint of `webhook_url`.
    Webhook,
    /// To a program with these arguments.
    Command(&'a str, &'a [String]),
}

impl AlertsConfig {
    /// Where alerts go. The configuration refuses both at once.
    pub fn target(&self) -> AlertTarget<'_> {
        match self.command.0.split_first() {
            Some((program, arguments)) => AlertTarget::Command(program, arguments),
            None if self.webhook_url.expose_secret().is_empty() => AlertTarget::Nobody,
            None => AlertTarget::Webhook,
        }
    }
}

/// Adds every problem of this section.
pub(super) fn validate(config: &Config, problems: &mut Vec<String>) {
    let alerts = &config.alerts;
    for (setting, value, low, high) in [
        ("alerts.window_s", alerts.window_s, 1, 604_800),
        ("alerts.timeout_ms", alerts.timeout_ms, 1, 300_000),
        ("alerts.poll_ms", alerts.poll_ms, 100, 600_000),
        ("alerts.attempts_max", u64::from(alerts.attempts_max), 1, 1000),
        ("alerts.retry_delay_ms", alerts.retry_delay_ms, 1, 600_000),
    ] {
        problems.extend(out_of_range(setting, value, low, high));
    }
    let has_webhook = !alerts.webhook_url.expose_secret().is_empty();
    if alerts.command.0.iter().any(|part| part.contains('\0')) {
        problems.push("alerts.command has a NUL character, which no argument can have".to_owned());
    }
    match alerts.target() {
        AlertTarget::Command(..) if has_webhook => problems.push(
            "alerts.command is set beside alerts.webhook_url; alerts go to one of them: empty the other"
                .to_owned(),
        ),
        AlertTarget::Command(program, _) if program.trim().is_empty() => {
            problems.push("alerts.command has no program; set a path, or a name that is in PATH".to_owned());
        }
        AlertTarget::Webhook => webhook(config, problems),
        AlertTarget::Command(..) | AlertTarget::Nobody => {}
    }
    if !alerts.link_base.is_empty() && !is_plain_link(&alerts.link_base) {
        problems.push(
            "alerts.link_base must be an http:// or https:// URL without user, query and fragment".to_owned(),
        );
    }
}

/// What is wrong with the endpoint, without repeating its URL: it may hold a token.
fn webhook(config: &Config, problems: &mut Vec<String>) {
    let alerts = &config.alerts;
    problems.extend(webhook_problems(alerts).iter().map(|problem| format!("alerts.webhook_url: {problem}")));
    if config.environment != Environment::Production {
        return;
    }
    if scheme(alerts.webhook_url.expose_secret()) == "http" {
        problems
            .push("alerts.webhook_url is http:, and environment is \"production\": use https:".to_owned());
    }
    if alerts.secrets.is_empty() {
        problems.push(
            "alerts.secrets is empty, and environment is \"production\": set a secret to sign with"
                .to_owned(),
        );
    }
}

fn is_plain_link(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}
