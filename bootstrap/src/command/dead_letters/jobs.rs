//! `payonce dead-letters jobs`, `job`, `pause`, `resume`, `cancel`

use std::process::ExitCode;

use adapters::clock::SystemClock;
use adapters::inbound::ops::api::{JobDoc, JobPageDoc};
use anyhow::Context as _;
use application::ports::clock::Clock as _;
use application::ports::replay_jobs::JOBS_MAX;
use application::replay::{JobCommand, JobState, ReplayJob, ReplayJobId};

use super::order::OrderArgs;
use super::progress::follow;
use super::replay::use_case;
use super::text::{line, moment};
use crate::command::table::columns;
use crate::config::Config;
use crate::wiring::Store;

/// The most characters of a selection or an explanation in a list.
const TEXT_CHARS_MAX: usize = 60;

#[derive(Debug, clap::Args)]
pub(in crate::command) struct JobsArgs {
    /// running, paused, canceled or finished; any where it is not given
    #[arg(long)]
    state: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    limit: u32,
    /// Those of lower numbers than this
    #[arg(long, value_name = "JOB")]
    before: Option<i64>,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::command) struct JobArgs {
    /// The job's number
    id: i64,
    /// Wait until it is done
    #[arg(long)]
    follow: bool,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::command) struct CommandArgs {
    /// The job's number
    id: i64,
    #[command(flatten)]
    order: OrderArgs,
}

pub(super) async fn list(store: &Store, args: &JobsArgs) -> anyhow::Result<ExitCode> {
    let known = || JobState::ALL.map(JobState::as_str).join(", ");
    let state = args.state.as_ref().map(|name| {
        JobState::from_name(name).with_context(|| format!("--state is {name:?}; there are {}", known()))
    });
    let before = args.before.map(ReplayJobId);
    let jobs = store.replay_jobs().page(state.transpose()?, before, args.limit).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&JobPageDoc::of(&jobs, args.limit))?);
    } else if jobs.is_empty() {
        println!("no replay jobs");
    } else {
        print!("{}", as_text(&jobs));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn show(store: &Store, args: &JobArgs) -> anyhow::Result<ExitCode> {
    let id = ReplayJobId(args.id);
    if args.follow {
        return follow(store, id, args.json).await;
    }
    let job = store.replay_jobs().get(id).await?.with_context(|| format!("there is no replay job {id}"))?;
    print(&job, args.json)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn command(
    config: &Config,
    store: &Store,
    command: JobCommand,
    args: &CommandArgs,
) -> anyhow::Result<ExitCode> {
    let (id, order) = (ReplayJobId(args.id), args.order.order(SystemClock.now())?);
    let state = use_case(config, store)?.command(id, command, &order).await?;
    let state = state.with_context(|| format!("there is no replay job {id}"))?;
    println!("replay job {id} is {}", state.as_str());
    Ok(if wanted(command) == state { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const fn wanted(command: JobCommand) -> JobState {
    match command {
        JobCommand::Pause => JobState::Paused,
        JobCommand::Resume => JobState::Running,
        JobCommand::Cancel => JobState::Canceled,
    }
}

/// Says how far a job has come.
pub(super) fn print(job: &ReplayJob, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(&JobDoc::from(job))?);
    } else {
        print!("{}", as_text(std::slice::from_ref(job)));
    }
    Ok(())
}

const COLUMNS: [&str; 10] =
    ["JOB", "STATE", "LETTERS", "WAITING", "REPLAYED", "FAILED", "ORDERED", "BY", "SELECTION", "WHY"];

fn as_text(jobs: &[ReplayJob]) -> String {
    let rows: Vec<_> = std::iter::once(COLUMNS.map(str::to_owned)).chain(jobs.iter().map(cells)).collect();
    columns(&rows)
}

fn cells(job: &ReplayJob) -> [String; COLUMNS.len()] {
    let progress = job.progress;
    [
        job.id.to_string(),
        job.state.as_str().to_owned(),
        progress.members().to_string(),
        progress.waiting.to_string(),
        progress.replayed.to_string(),
        (progress.failed + progress.released).to_string(),
        moment(job.order.at),
        line(job.order.actor.as_str(), TEXT_CHARS_MAX),
        line(&job.selection, TEXT_CHARS_MAX),
        line(job.order.why.as_str(), TEXT_CHARS_MAX),
    ]
}
