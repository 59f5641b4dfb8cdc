//! `payonce`: receiver and worker in one process, and the operators' commands.

use std::process::ExitCode;

use clap::Parser;
use payonce::command::Cli;

fn main() -> ExitCode {
    payonce::command::run(Cli::parse())
}
