//! The worker process.

use std::process::ExitCode;

use clap::Parser;
use payonce::run::{Parts, ServiceArgs, service};

fn main() -> ExitCode {
    service(&ServiceArgs::parse(), Parts::Worker)
}
