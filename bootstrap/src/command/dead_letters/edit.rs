//! `payonce dead-letters edit`

use std::path::PathBuf;
use std::process::ExitCode;

use adapters::clock::SystemClock;
use anyhow::Context as _;
use application::dead_letter::DeadLetterId;
use application::ports::clock::Clock as _;
use application::replay::NewReplayJob;
use application::use_cases::dead_letters::Edit;
use bytes::Bytes;
use domain::{EventId, EventKey, SourceName};

use super::order::OrderArgs;
use super::replay::{PaceArgs, finish, use_case};
use crate::config::Config;
use crate::wiring::Store;

#[derive(Debug, clap::Args)]
pub(in crate::command) struct EditArgs {
    /// The letter's number
    id: i64,
    /// The payload of the copy
    #[arg(long, value_name = "FILE")]
    payload: PathBuf,
    /// Which event it is, for a message that could not be read
    #[arg(long, value_name = "SOURCE/ID")]
    event: Option<String>,
    #[command(flatten)]
    order: OrderArgs,
    #[command(flatten)]
    pace: PaceArgs,
    /// Do not wait until it is done
    #[arg(long)]
    no_wait: bool,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(config: &Config, store: &Store, args: &EditArgs) -> anyhow::Result<ExitCode> {
    let payload =
        std::fs::read(&args.payload).with_context(|| format!("--payload {}", args.payload.display()))?;
    let edit = Edit {
        payload: Bytes::from(payload),
        key: args.event.as_deref().map(event_key).transpose().context("--event")?,
    };
    let job = NewReplayJob {
        order: args.order.order(SystemClock.now())?,
        schedule: args.pace.schedule()?,
        replays_max: None,
    };
    let frozen = use_case(config, store)?.create_edited(DeadLetterId(args.id), edit, &job).await?;
    finish(store, &frozen, args.no_wait, args.json).await
}

fn event_key(text: &str) -> anyhow::Result<EventKey> {
    let (source, id) = text.split_once('/').context("must be SOURCE/ID")?;
    Ok(EventKey { source: SourceName::parse(source)?, event_id: EventId::parse(id)? })
}
