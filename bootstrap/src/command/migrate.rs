//! `payonce migrate`

use std::process::ExitCode;

use crate::config::Config;
use crate::wiring;

pub(super) async fn run(config: &Config) -> anyhow::Result<ExitCode> {
    let applied = wiring::store(config)?.admin().migrate().await?;
    if applied.is_empty() {
        println!("the store is up to date");
    }
    for migration in applied {
        println!("applied {migration}");
    }
    Ok(ExitCode::SUCCESS)
}
