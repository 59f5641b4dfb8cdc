//! What the types cannot say: ranges, schemes, secrets, and settings that must fit each other.

use std::collections::HashSet;
use std::net::SocketAddr;

use domain::{ConsumerName, SourceName};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::sections::{Config, file_of, scheme};
use super::{alerts, dead_letters, outbox};
use crate::wiring::source_problems;

/// The broker's default for the largest message is 16 MiB from RabbitMQ 4.0 on; a body stays well below.
const BODY_BYTES_CEILING: usize = 8 * 1024 * 1024;
/// Most deliveries that AMQP lets a consumer hold.
const PREFETCH_CEILING: u64 = 65_535;
/// The broker closes the channel of a consumer that holds a delivery for longer (30 minutes by default).
const HOLD_CEILING_MS: u64 = 25 * 60 * 1000;

/// Adds every problem of `config`.
pub(super) fn validate(config: &Config, problems: &mut Vec<String>) {
    addresses(config, problems);
    urls(config, problems);
    ranges(config, problems);
    if let Err(error) = ConsumerName::parse(&config.worker.consumer) {
        problems.push(format!("worker.consumer {error}"));
    }
    consumers(config, problems);
    dead_letters::validate(config, problems);
    outbox::validate(config, problems);
    alerts::validate(config, problems);
    if !config.sources.values().any(|source| source.enabled) {
        problems.push("sources: none is enabled, so there is nothing to take webhooks for".to_owned());
    }
    for (name, source) in &config.sources {
        if source.enabled {
            if let Err(error) = SourceName::parse(name) {
                problems.push(format!("sources.{name:?}: the name {error}"));
            }
            problems.extend(source_problems(name, source, config.environment));
        }
    }
}

fn consumers(config: &Config, problems: &mut Vec<String>) {
    let names = &config.broker.consumers;
    for name in names {
        if let Err(error) = ConsumerName::parse(name) {
            problems.push(format!("broker.consumers: {name:?} {error}"));
        }
    }
    if names.iter().collect::<HashSet<_>>().len() < names.len() {
        problems.push("broker.consumers names somebody twice".to_owned());
    }
    if !names.is_empty() && !names.contains(&config.worker.consumer) {
        problems.push(format!(
            "worker.consumer is {:?}, which broker.consumers does not name",
            config.worker.consumer
        ));
    }
    if names.len() > 1 && config.broker.url.expose_secret().starts_with("embedded:") {
        problems.push(
            "broker.consumers names several, which needs RabbitMQ: set broker.url to amqp://…".to_owned(),
        );
    }
}

fn addresses(config: &Config, problems: &mut Vec<String>) {
    for (setting, bind) in [("http.bind", &config.http.bind), ("ops.bind", &config.ops.bind)] {
        if bind.parse::<SocketAddr>().is_err() {
            problems.push(format!(
                "{setting} is {bind:?}; it must be an address and a port, such as 127.0.0.1:3000"
            ));
        }
    }
    if config.http.bind == config.ops.bind && !config.http.bind.ends_with(":0") {
        problems
            .push("http.bind and ops.bind are the same; the operators' listener needs its own".to_owned());
    }
    let endpoint = &config.telemetry.otlp_endpoint;
    if !endpoint.is_empty() && !Url::parse(endpoint).is_ok_and(|url| url.scheme() == "http") {
        problems
            .push("telemetry.otlp_endpoint must be an http:// URL, such as http://127.0.0.1:4318".to_owned());
    }
}

fn urls(config: &Config, problems: &mut Vec<String>) {
    let wanted = [
        ("store.url", &config.store.url, &["sqlite", "postgres", "postgresql"][..], "DATABASE_URL"),
        ("broker.url", &config.broker.url, &["embedded", "amqp", "amqps"][..], "AMQP_URL"),
        ("cache.url", &config.cache.url, &["redis", "rediss", "memory", "none"][..], "REDIS_URL"),
    ];
    for (setting, url, schemes, alias) in wanted {
        if let Some(problem) = url_problem(url, schemes) {
            problems.push(format!("{setting} (or {alias}) {problem}"));
        }
    }
    let quarantine = &config.quarantine.url;
    let known = ["sqlite", "memory", "none"].contains(&scheme(quarantine));
    if !quarantine.is_empty()
        && (!known || (scheme(quarantine) == "sqlite" && file_of(quarantine).is_empty()))
    {
        problems.push(format!(
            "quarantine.url is {quarantine:?}; it must be sqlite:PATH, memory: or none:, or empty"
        ));
    }
}

/// What is wrong with a URL, without repeating it: it may hold a password.
fn url_problem(url: &SecretString, schemes: &[&str]) -> Option<String> {
    let text = url.expose_secret();
    let known = schemes.iter().map(|scheme| format!("{scheme}:")).collect::<Vec<_>>().join(" or ");
    if text.is_empty() {
        return Some(format!("is not set; it must start with {known}"));
    }
    if matches!(scheme(text), "sqlite" | "embedded") && schemes.contains(&scheme(text)) {
        return file_of(text).is_empty().then(|| "names no file".to_owned());
    }
    match Url::parse(text) {
        Err(error) => Some(format!("is not a URL: {error}")),
        Ok(url) if !schemes.contains(&url.scheme()) => {
            Some(format!("has the scheme {:?}; it must start with {known}", url.scheme()))
        }
        Ok(_) => None,
    }
}

/// A setting's name, its value, and the range that it must be in.
type Range = (&'static str, u64, u64, u64);

const NO_LIMIT: u64 = u64::MAX;
/// The longest wait of an event before its next attempt: a day.
const RETRY_DELAY_CEILING_MS: u64 = 86_400_000;

fn ranges(config: &Config, problems: &mut Vec<String>) {
    let all = http_ranges(config).into_iter().chain(service_ranges(config)).chain(worker_ranges(config));
    for (setting, value, low, high) in all {
        problems.extend(out_of_range(setting, value, low, high));
    }
    if config.worker.prefetch < as_u64(config.worker.batch_max) {
        problems.push(format!(
            "worker.prefetch ({}) is less than worker.batch_max ({}), so no batch could ever be full",
            config.worker.prefetch, config.worker.batch_max
        ));
    }
    if (1..EVENT_RETENTION_MIN_S).contains(&config.store.retention_s) {
        problems.push(format!(
            "store.retention_s must be 0, for ever, or at least {EVENT_RETENTION_MIN_S} (30 days): providers \
             send an event again for many days"
        ));
    }
    if config.store.pool_max < config.worker.concurrency {
        problems.push(format!(
            "store.pool_max ({}) is less than worker.concurrency ({}): each needs a connection",
            config.store.pool_max, config.worker.concurrency
        ));
    }
}

/// The shortest time for which events are kept: 30 days, longer than any provider sends an event again.
const EVENT_RETENTION_MIN_S: u64 = 2_592_000;

/// What is wrong with a number that is not from `low` to `high`.
pub(super) fn out_of_range(setting: &str, value: u64, low: u64, high: u64) -> Option<String> {
    let range = if high == NO_LIMIT { format!("{low} or more") } else { format!("{low} to {high}") };
    (value < low || value > high).then(|| format!("{setting} is {value}; it must be {range}"))
}

fn as_u64(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn http_ranges(config: &Config) -> Vec<Range> {
    let http = &config.http;
    vec![
        ("http.body_bytes_max", as_u64(http.body_bytes_max), 1, as_u64(BODY_BYTES_CEILING)),
        ("http.body_deadline_ms", http.body_deadline_ms, 1, NO_LIMIT),
        ("http.header_timeout_ms", http.header_timeout_ms, 1, NO_LIMIT),
        ("http.workers", as_u64(http.workers), 1, 256),
        ("http.connections_max", as_u64(http.connections_max), 1, 1_000_000),
    ]
}

fn service_ranges(config: &Config) -> Vec<Range> {
    let (store, broker, cache) = (&config.store, &config.broker, &config.cache);
    vec![
        ("store.pool_max", as_u64(store.pool_max), 1, 1000),
        ("store.acquire_timeout_ms", store.acquire_timeout_ms, 1, NO_LIMIT),
        ("store.connect_timeout_ms", store.connect_timeout_ms, 1, NO_LIMIT),
        // Ten years; 0 keeps for ever.
        ("store.retention_s", store.retention_s, 0, 315_360_000),
        ("broker.connect_timeout_ms", broker.connect_timeout_ms, 1, NO_LIMIT),
        ("broker.confirm_timeout_ms", broker.confirm_timeout_ms, 1, NO_LIMIT),
        ("broker.publish_waiting_max", as_u64(broker.publish_waiting_max), 1, 1_000_000),
        ("broker.publish_group_max", as_u64(broker.publish_group_max), 1, 10_000),
        ("broker.publish_channels", as_u64(broker.publish_channels), 1, 64),
        ("cache.timeout_ms", cache.timeout_ms, 1, 5000),
        ("cache.pool_max", as_u64(cache.pool_max), 1, 1000),
        ("cache.mark_ttl_s", cache.mark_ttl_s, 1, NO_LIMIT),
        ("cache.memory_entries_max", as_u64(cache.memory_entries_max), 1, 100_000_000),
    ]
}

fn worker_ranges(config: &Config) -> Vec<Range> {
    let worker = &config.worker;
    vec![
        ("worker.concurrency", as_u64(worker.concurrency), 1, 64),
        ("worker.prefetch", worker.prefetch, 1, PREFETCH_CEILING),
        ("worker.batch_max", as_u64(worker.batch_max), 1, 10_000),
        ("worker.attempts_max", u64::from(worker.attempts_max), 1, 1000),
        ("worker.retry_delay_ms", worker.retry_delay_ms, 1, RETRY_DELAY_CEILING_MS),
        (
            "worker.retry_delay_max_ms",
            worker.retry_delay_max_ms,
            worker.retry_delay_ms,
            RETRY_DELAY_CEILING_MS,
        ),
        ("worker.retry_age_max_s", worker.retry_age_max_s, 1, NO_LIMIT),
        (
            "worker.not_ready_delay_max_ms",
            worker.not_ready_delay_max_ms,
            worker.retry_delay_ms,
            RETRY_DELAY_CEILING_MS,
        ),
        ("worker.not_ready_age_max_s", worker.not_ready_age_max_s, 1, NO_LIMIT),
        ("worker.backoff_max_ms", worker.backoff_max_ms, 100, 600_000),
        ("worker.hold_max_ms", worker.hold_max_ms, 0, HOLD_CEILING_MS),
        ("worker.queue_depth_interval_ms", worker.queue_depth_interval_ms, 100, NO_LIMIT),
    ]
}
