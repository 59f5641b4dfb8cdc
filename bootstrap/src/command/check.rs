//! `payonce check`: everything that would stop a start, at once.

use std::process::ExitCode;

use application::error_chain::describe;

use crate::config::Config;
use crate::wiring;

/// The namespace of a cache that is only asked whether it answers.
const CHECK_NAMESPACE: &str = "check";

pub(super) async fn run(config: &Config) -> anyhow::Result<ExitCode> {
    let mut problems = 0;
    let mut report = |part: &str, result: Result<String, String>| match result {
        Ok(text) => println!("ok      {part}: {text}"),
        Err(text) => {
            problems += 1;
            println!("FAILED  {part}: {text}");
        }
    };
    let names = wiring::sources(config)
        .map(|sources| sources.names().iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    report(
        "configuration",
        names.map(|names| format!("sources {names}")).map_err(|error| format!("{error:#}")),
    );

    report("operators", operators(config).map_err(|error| format!("{error:#}")));

    let store = wiring::store(config)?;
    let pending = store.admin().pending_migrations().await;
    report(
        "store",
        match pending {
            Ok(pending) if pending.is_empty() => Ok("reachable, schema up to date".to_owned()),
            Ok(pending) if config.store.migrate_on_start => {
                Ok(format!("reachable, {} migrations will be applied at start", pending.len()))
            }
            Ok(pending) => {
                Err(format!("{} migrations are pending; run `payonce migrate`", pending.join(", ")))
            }
            Err(error) => Err(describe(&error)),
        },
    );

    report("broker", broker(config).await.map_err(|error| format!("{error:#}")));

    let cache = wiring::cache(config, CHECK_NAMESPACE)?;
    report("cache", cache.readiness().check().await.map(|()| "answers".to_owned()));
    Ok(if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn operators(config: &Config) -> anyhow::Result<String> {
    let address = wiring::ops_address(config)?;
    let access = wiring::ops_access(config, address.ip())?;
    Ok(match access.names() {
        Some(names) if names.is_empty() => "the file of tokens has none, so nobody is let in".to_owned(),
        Some(names) => format!("who has one of {} tokens is let in: {}", names.len(), names.join(", ")),
        None if wiring::ops_is_closed(config, address.ip()) => {
            "nobody is let in, since ops.tokens_file is not set and ops.bind is not a loopback address"
                .to_owned()
        }
        None => "everybody on this machine is let in".to_owned(),
    })
}

async fn broker(config: &Config) -> anyhow::Result<String> {
    if !wiring::embedded_queue_exists(config) {
        return Ok("the first start makes the queue".to_owned());
    }
    let depths = wiring::inspector(config)?.depths().await?;
    Ok(format!(
        "reachable, {} events waiting, {} waiting for a retry, {} dead letters",
        depths.main, depths.retry, depths.dead_letters
    ))
}
