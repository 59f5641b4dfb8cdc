//! `payonce loadtest`

use std::path::Path;
use std::process::ExitCode;

use crate::config::Config;
use crate::loadtest::{self, LoadtestArgs, SystemUnderTest};
use crate::wiring;

pub(super) fn run(file: Option<&Path>, args: LoadtestArgs) -> anyhow::Result<ExitCode> {
    // Another system is driven by its URL alone; ours is also asked what it has committed.
    let system = if args.count_query.is_some() {
        None
    } else {
        let config = Config::load(file)?;
        Some(config)
    };
    super::block_on(async {
        let system = match &system {
            None => None,
            Some(config) => Some(SystemUnderTest {
                store: wiring::store(config)?.audit(),
                queue: wiring::inspector(config)?,
            }),
        };
        let json = args.json;
        let report = loadtest::run(args, system).await?;
        if json {
            println!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            println!("{report}");
        }
        Ok(if report.clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}
