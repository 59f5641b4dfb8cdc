//! `payonce dead-letters`: what was given up, and what operators do about it.
//!
//! Every command works on the store itself, beside whatever runs; replay jobs are carried out by the workers.

mod confirm;
mod discard;
mod edit;
mod filter;
mod groups;
mod jobs;
mod list;
mod order;
mod progress;
mod replay;
mod show;
mod text;

use std::process::ExitCode;

use application::replay::JobCommand;
use clap::Subcommand;

use crate::config::Config;
use crate::wiring;

/// What is done about dead letters.
#[derive(Debug, Subcommand)]
pub(super) enum DeadLettersCommand {
    /// List dead letters, the newest first
    List(list::ListArgs),
    /// List them by what they failed of, with the money that is in them
    Groups(groups::GroupsArgs),
    /// Show one, with every attempt and its payload
    Show(show::ShowArgs),
    /// Send some to the main queue again: shows how many and how much money first, then asks
    Replay(replay::ReplayArgs),
    /// Replay a copy of one with another payload
    Edit(edit::EditArgs),
    /// Decide that some shall have no effect; their bytes are kept
    Discard(discard::DiscardArgs),
    /// List replay jobs, the newest first
    Jobs(jobs::JobsArgs),
    /// Show how far a replay job has come
    Job(jobs::JobArgs),
    /// Halt a replay job
    Pause(jobs::CommandArgs),
    /// Let a halted replay job go on
    Resume(jobs::CommandArgs),
    /// End a replay job; what was not published is open again
    Cancel(jobs::CommandArgs),
}

/// Runs the command.
pub(super) async fn run(config: &Config, command: DeadLettersCommand) -> anyhow::Result<ExitCode> {
    let store = wiring::store(config)?;
    match command {
        DeadLettersCommand::List(args) => list::run(&store, &args).await,
        DeadLettersCommand::Groups(args) => groups::run(&store, &args).await,
        DeadLettersCommand::Show(args) => show::run(config, &store, &args).await,
        DeadLettersCommand::Replay(args) => replay::run(config, &store, &args).await,
        DeadLettersCommand::Edit(args) => edit::run(config, &store, &args).await,
        DeadLettersCommand::Discard(args) => discard::run(&store, &args).await,
        DeadLettersCommand::Jobs(args) => jobs::list(&store, &args).await,
        DeadLettersCommand::Job(args) => jobs::show(&store, &args).await,
        DeadLettersCommand::Pause(args) => jobs::command(config, &store, JobCommand::Pause, &args).await,
        DeadLettersCommand::Resume(args) => jobs::command(config, &store, JobCommand::Resume, &args).await,
        DeadLettersCommand::Cancel(args) => jobs::command(config, &store, JobCommand::Cancel, &args).await,
    }
}
