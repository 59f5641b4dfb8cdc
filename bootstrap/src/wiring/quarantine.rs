//! The quarantine that `quarantine.url` names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use application::ports::quarantine::Quarantine;
use secrecy::ExposeSecret;

use adapters::outbound::quarantine::{FileQuarantine, MemoryQuarantine, QuarantineLimits};

use crate::config::{Config, file_of, scheme};

/// The name of the quarantine's file beside an embedded queue.
const FILE_NAME: &str = "quarantine.db";

/// Where rejected requests are kept; `None` where none are.
///
/// # Errors
/// The file cannot be opened.
pub fn quarantine(config: &Config) -> anyhow::Result<Option<Arc<dyn Quarantine>>> {
    let settings = &config.quarantine;
    let limits = QuarantineLimits { entries_max: settings.entries_max, bytes_max: settings.bytes_max };
    let file = match scheme(&settings.url) {
        "none" => return Ok(None),
        "sqlite" => Some(PathBuf::from(file_of(&settings.url))),
        "memory" => None,
        _ => beside_the_queue(config),
    };
    let Some(file) = file else { return Ok(Some(Arc::new(MemoryQuarantine::new(limits)))) };
    let opened = FileQuarantine::open(file, limits).context("quarantine.url")?;
    Ok(Some(Arc::new(opened)))
}

fn beside_the_queue(config: &Config) -> Option<PathBuf> {
    let url = config.broker.url.expose_secret();
    (scheme(url) == "embedded").then(|| Path::new(file_of(url)).with_file_name(FILE_NAME))
}
