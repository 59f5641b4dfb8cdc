//! `[dead_letters]`

use serde::Deserialize;

use super::sections::Config;
use super::validate::out_of_range;

/// `[dead_letters]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents every key")]
pub struct DeadLettersConfig {
    pub archive: bool,
    pub replay: bool,
    pub poll_ms: u64,
    pub lease_s: u64,
}

/// Adds every problem of this section.
pub(super) fn validate(config: &Config, problems: &mut Vec<String>) {
    let settings = &config.dead_letters;
    for (setting, value, low, high) in [
        ("dead_letters.poll_ms", settings.poll_ms, 10, 60_000),
        ("dead_letters.lease_s", settings.lease_s, 1, 3600),
    ] {
        problems.extend(out_of_range(setting, value, low, high));
    }
    let (lease_ms, confirm_ms) = (settings.lease_s.saturating_mul(1000), config.broker.confirm_timeout_ms);
    if lease_ms <= confirm_ms.saturating_mul(2) {
        problems.push(format!(
            "dead_letters.lease_s ({}) must be more than twice broker.confirm_timeout_ms ({confirm_ms}), or \
             letters that are being published would be given to another worker",
            settings.lease_s
        ));
    }
}
