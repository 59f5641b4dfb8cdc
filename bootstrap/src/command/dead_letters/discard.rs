//! `payonce dead-letters discard`

use std::process::ExitCode;

use adapters::clock::SystemClock;
use adapters::inbound::ops::api::DiscardedDoc;
use application::dead_letter::DeadLetterId;
use application::ports::clock::Clock as _;
use application::use_cases::dead_letters::DiscardDeadLetters;

use super::confirm::confirmed;
use super::order::OrderArgs;
use super::text::money;
use crate::wiring::Store;

#[derive(Debug, clap::Args)]
pub(in crate::command) struct DiscardArgs {
    /// The letters' numbers
    #[arg(required = true)]
    ids: Vec<i64>,
    #[command(flatten)]
    order: OrderArgs,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &Store, args: &DiscardArgs) -> anyhow::Result<ExitCode> {
    let question = format!(
        "Discard {} dead letters? Their events will have no effect, and this cannot be undone.",
        args.ids.len()
    );
    let order = args.order.order(SystemClock.now())?;
    if !confirmed(args.yes, &question)? {
        println!("nothing is discarded");
        return Ok(ExitCode::FAILURE);
    }
    let asked: Vec<DeadLetterId> = args.ids.iter().copied().map(DeadLetterId).collect();
    let discarded = DiscardDeadLetters::new(store.dead_letters()).run(asked.clone(), &order).await?;
    let not: Vec<String> =
        asked.iter().filter(|id| !discarded.ids.contains(id)).map(ToString::to_string).collect();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&DiscardedDoc::from(&discarded))?);
    } else {
        println!("discarded {} dead letters, {}", discarded.ids.len(), money(&discarded.money));
        if !not.is_empty() {
            println!("not open, and left as they are: {}", not.join(", "));
        }
    }
    Ok(if not.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
