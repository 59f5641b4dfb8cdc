//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use application::ports::clock::Clock as _;

/// How long a run's name may be: an event's id is a bit longer, and bounded.
const RUN_BYTES_MAX: usize = 64;

/// Drive a running system with events, wait until they are committed, and report how it did
#[derive(Debug, Clone, clap::Args)]
pub struct LoadtestArgs {
    /// Where to send to; plain http
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:3000/webhooks/payment")]
    pub target: String,

    /// How many requests, copies included
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub events: u32,

    /// Send so many a second, at times fixed ahead, and measure from those; without it, flat out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate: Option<u32>,

    /// How many connections, and so how many requests at a time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub connections: u16,

    /// How many of a hundred requests are copies of events already sent
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=99))]
    pub duplicates: u8,

    /// Which events are copied, and how far behind: the same seed, the same copies
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Start every event's id with this; by default, something made from the time
    #[arg(long, value_name = "NAME")]
    pub run: Option<String>,

    /// Pad each event to so many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=16_777_216))]
    pub size: u32,

    /// Sign by Standard Webhooks with the secret in this file (`whsec_…`)
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,

    /// Read a worker's metrics here (its ops listener's `/metrics`), for the age at commit; repeatable
    #[arg(long, value_name = "URL")]
    pub metrics: Vec<String>,

    /// Send an event up to so many times, until it is answered 2xx
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: u32,

    /// Wait so many seconds for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: u32,

    /// Do not wait until the events are committed
    #[arg(long, conflicts_with = "drain_only")]
    pub accept_only: bool,

    /// Send nothing; wait until all that waits is committed
    #[arg(long)]
    pub drain_only: bool,

    /// With --drain-only: wait for so many events, not until nothing moves any more
    #[arg(long, value_name = "N", requires = "drain_only")]
    pub expect: Option<u64>,

    /// Give up waiting after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub drain_timeout: u32,

    /// Ask this PostgreSQL for what is committed, as to drive another system
    #[arg(long, value_name = "URL", requires = "count_query")]
    pub count_url: Option<String>,

    /// The question: a query for one bigint that grows by one an event
    #[arg(long, value_name = "SQL", requires = "count_url")]
    pub count_query: Option<String>,

    /// One JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

impl LoadtestArgs {
    /// The run's name, checked or made.
    pub(super) fn run_name(&self) -> anyhow::Result<String> {
        let Some(run) = &self.run else {
            return Ok(format!("load{:x}", adapters::clock::SystemClock.now().as_micros()));
        };
        let fits = (1..=RUN_BYTES_MAX).contains(&run.len());
        let plain = run.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        ensure!(fits && plain, "--run: 1 to {RUN_BYTES_MAX} letters, digits, dots, hyphens or underscores");
        Ok(run.clone())
    }

    /// The content of the secret file.
    pub(super) fn secret(&self) -> anyhow::Result<Option<String>> {
        let read = |path: &PathBuf| {
            std::fs::read_to_string(path).with_context(|| format!("--secret-file {}", path.display()))
        };
        self.secret_file.as_ref().map(read).transpose()
    }

    pub(super) fn answer_timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }

    pub(super) fn drain_timeout(&self) -> Duration {
        Duration::from_secs(self.drain_timeout.into())
    }
}
