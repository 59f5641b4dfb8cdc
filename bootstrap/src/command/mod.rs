//! `payonce` on the command line.

mod answer;
mod audit;
mod check;
mod dead_letters;
mod health;
mod loadtest;
mod migrate;
mod quarantine;
mod send;
mod sources;
mod table;
mod token;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{Config, DEFAULT_FILE};
use crate::loadtest::LoadtestArgs;
use crate::run::{Parts, ServiceArgs, exit_code, service};

/// Takes payment providers' webhooks and applies each event exactly once.
///
/// Without a command: receiver and worker in one process, until it is stopped.
#[derive(Debug, Parser)]
#[command(name = "payonce", version)]
pub struct Cli {
    /// The configuration file; payonce.toml is read if there is one and none is named
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Apply the store's pending migrations; many may do so at once
    Migrate,
    /// Check the configuration and that store, broker and cache can be reached; report every problem
    Check,
    /// Check the invariants on the live store; exit 1 and list the rows when one is broken
    Audit(audit::AuditArgs),
    /// Send events, wait until they are applied, report figures and run the audit
    Loadtest(Box<LoadtestArgs>),
    /// Look at dead letters, replay or discard them
    #[command(subcommand)]
    DeadLetters(dead_letters::DeadLettersCommand),
    /// Look at requests whose signature did not hold, and take genuine ones in
    #[command(subcommand)]
    Quarantine(quarantine::QuarantineCommand),
    /// Ask a running process for its health; exit 1 unless it answers 200 (for container health checks)
    Health(health::HealthArgs),
    /// Show the configured sources and what each expects of its provider
    Sources(sources::SourcesArgs),
    /// Sign a body as a source's provider would, and send it; exit 1 unless it is answered 2xx
    Send(send::SendArgs),
    /// Make a token for an operator, and the line that lets it in; the token is shown once and kept nowhere
    Token(token::TokenArgs),
    /// Print the commented default configuration file
    DefaultConfig,
}

/// Runs the command.
pub fn run(cli: Cli) -> ExitCode {
    let file = cli.config.as_deref();
    match cli.command {
        None => service(&ServiceArgs { config: cli.config }, Parts::Both),
        Some(Command::Migrate) => exit_code(with_config(file, migrate::run)),
        Some(Command::Check) => exit_code(with_config(file, check::run)),
        Some(Command::Audit(args)) => {
            exit_code(with_config(file, async |config| audit::run(config, &args).await))
        }
        Some(Command::Loadtest(args)) => exit_code(loadtest::run(file, *args)),
        Some(Command::DeadLetters(command)) => {
            exit_code(with_config(file, async |config| dead_letters::run(config, command).await))
        }
        Some(Command::Quarantine(command)) => {
            exit_code(with_config(file, async |config| quarantine::run(config, command).await))
        }
        Some(Command::Health(args)) => exit_code(health::run(&args)),
        Some(Command::Sources(args)) if args.wants_providers() => exit_code(sources::providers(&args)),
        Some(Command::Sources(args)) => {
            exit_code(with_config(file, async |config| sources::run(config, &args)))
        }
        Some(Command::Send(args)) => {
            exit_code(with_config(file, async |config| send::run(config, &args).await))
        }
        Some(Command::Token(args)) => {
            print!("{}", token::text(&args));
            ExitCode::SUCCESS
        }
        Some(Command::DefaultConfig) => {
            print!("{DEFAULT_FILE}");
            ExitCode::SUCCESS
        }
    }
}

/// Loads the configuration and runs `body` on a runtime, without telemetry.
fn with_config<F>(file: Option<&std::path::Path>, body: F) -> anyhow::Result<ExitCode>
where
    F: AsyncFnOnce(&Config) -> anyhow::Result<ExitCode>,
{
    let config = Config::load(file)?;
    block_on(body(&config))
}

fn block_on(body: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    crate::wiring::install_crypto_provider();
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(body)
}
