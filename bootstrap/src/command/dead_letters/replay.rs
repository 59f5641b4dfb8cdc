//! `payonce dead-letters replay`

use std::process::ExitCode;

use adapters::clock::SystemClock;
use adapters::inbound::ops::api::FrozenJobDoc;
use anyhow::{Context as _, ensure};
use application::dead_letter::{DeadLetterId, LetterState, StateTotals};
use application::ports::clock::Clock as _;
use application::replay::{FrozenJob, NewReplayJob, ReplaySchedule, Selection};
use application::use_cases::dead_letters::ReplayDeadLetters;

use super::confirm::confirmed;
use super::filter::FilterArgs;
use super::order::OrderArgs;
use super::progress::follow;
use super::text::{money, of_state};
use crate::config::Config;
use crate::wiring::{self, Store};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub(in crate::command) struct ReplayArgs {
    /// The letters' numbers
    #[arg(conflicts_with = "everything")]
    ids: Vec<i64>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Every letter that is open
    #[arg(long)]
    everything: bool,
    #[command(flatten)]
    order: OrderArgs,
    #[command(flatten)]
    pace: PaceArgs,
    /// Leave letters out whose event was replayed so often already
    #[arg(long, value_name = "N")]
    replays_max: Option<u32>,
    /// Show what would be replayed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Do not wait until it is done
    #[arg(long)]
    no_wait: bool,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

/// How fast.
#[derive(Debug, clap::Args)]
pub(super) struct PaceArgs {
    /// How many letters at a time: first few, to see what comes of them
    #[arg(long, default_value = "1,5,20,100")]
    ramp: String,
    /// How many letters in a second at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    rate: u32,
}

impl PaceArgs {
    /// The schedule.
    pub(super) fn schedule(&self) -> anyhow::Result<ReplaySchedule> {
        ReplaySchedule::parse(&self.ramp, self.rate).context("--ramp and --rate")
    }
}

pub(super) async fn run(config: &Config, store: &Store, args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let selection = args.selection()?;
    let replay = use_case(config, store)?;
    let totals = replay.preview(&selection).await?;
    let Some(open) = of_state(&totals, LetterState::Open) else {
        println!("{}", nothing_open(&totals, &selection));
        return Ok(ExitCode::FAILURE);
    };
    let what = format!("{} dead letters, {}", open.letters, money(&open.money));
    if args.dry_run {
        println!("would replay {what} ({selection})");
        return Ok(ExitCode::SUCCESS);
    }
    if !confirmed(args.yes, &format!("Replay {what} ({selection})?"))? {
        println!("nothing is replayed");
        return Ok(ExitCode::FAILURE);
    }
    let job = NewReplayJob {
        order: args.order.order(SystemClock.now())?,
        schedule: args.pace.schedule()?,
        replays_max: args.replays_max,
    };
    let frozen = replay.create(&selection, &job).await?;
    finish(store, &frozen, args.no_wait, args.json).await
}

/// Says what was frozen into the job, and follows it to its end.
pub(super) async fn finish(
    store: &Store,
    frozen: &FrozenJob,
    no_wait: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let Some(job) = frozen.job else {
        println!("nothing is left to replay{}", left_out(frozen));
        return Ok(ExitCode::FAILURE);
    };
    if no_wait {
        if json {
            println!("{}", serde_json::to_string_pretty(&FrozenJobDoc::from(frozen))?);
        } else {
            println!("replay job {job}: {} letters{}", frozen.members, left_out(frozen));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !json {
        println!("replay job {job}: {} letters{}", frozen.members, left_out(frozen));
    }
    follow(store, job, json).await
}

/// Replays as the command line does.
pub(super) fn use_case(config: &Config, store: &Store) -> anyhow::Result<ReplayDeadLetters> {
    Ok(ReplayDeadLetters::new(store.dead_letters(), store.replay_jobs(), wiring::sources(config)?))
}

impl ReplayArgs {
    fn selection(&self) -> anyhow::Result<Selection> {
        let filter = self.filter.filter(SystemClock.now())?;
        if self.everything {
            ensure!(filter.is_empty(), "--everything and a filter are two things; say one of them");
            return Ok(Selection::everything());
        }
        if self.ids.is_empty() {
            return Selection::matching(filter)
                .context("name letters by number, by a filter such as --group, or say --everything");
        }
        ensure!(filter.is_empty(), "numbers and a filter are two things; say one of them");
        Ok(Selection::of_ids(self.ids.iter().copied().map(DeadLetterId).collect())?)
    }
}

fn nothing_open(totals: &[StateTotals], selection: &Selection) -> String {
    let others: Vec<String> = totals
        .iter()
        .filter(|total| total.letters > 0)
        .map(|total| format!("{} {}", total.letters, total.state.as_str()))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!("; there are {}", others.join(", ")) };
    format!("no open dead letter is meant by {selection}{others}")
}

/// What was selected and not taken.
fn left_out(frozen: &FrozenJob) -> String {
    let skipped = frozen.skipped;
    let reasons = [
        (skipped.unknown, "do not exist"),
        (skipped.settled, "are settled"),
        (skipped.taken, "are in another job"),
        (skipped.unreadable, "cannot be read"),
        (skipped.too_often, "were replayed too often"),
        (skipped.left, "are left for another job"),
    ];
    let told: Vec<String> =
        reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
    if told.is_empty() { String::new() } else { format!("; left out: {}", told.join(", ")) }
}
