//! `payonce dead-letters list`

use std::process::ExitCode;

use adapters::clock::SystemClock;
use adapters::inbound::ops::api::LetterPageDoc;
use anyhow::Context as _;
use application::dead_letter::{DeadLetterSummary, LetterCursor, LetterState};
use application::ports::clock::Clock as _;
use application::ports::dead_letters::PAGE_LETTERS_MAX;

use super::filter::FilterArgs;
use super::text::{amount_of, event, line, moment};
use crate::command::table::columns;
use crate::wiring::Store;

/// The most characters of a reason in a list.
const DETAIL_CHARS_MAX: usize = 80;

#[derive(Debug, clap::Args)]
pub(in crate::command) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// open, replaying, replayed, discarded, or any
    #[arg(long, default_value = "open")]
    state: String,
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(PAGE_LETTERS_MAX)))]
    limit: u32,
    /// Go on where another list ended
    #[arg(long)]
    cursor: Option<LetterCursor>,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &Store, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let filter = args.filter.filter(SystemClock.now())?;
    let page = store.dead_letters().page(&filter, state(&args.state)?, args.cursor, args.limit).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&LetterPageDoc::from(&page))?);
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", as_text(&page.letters));
    if let Some(next) = page.next {
        println!("more: --cursor {next}");
    }
    Ok(ExitCode::SUCCESS)
}

fn state(name: &str) -> anyhow::Result<Option<LetterState>> {
    if name == "any" {
        return Ok(None);
    }
    let known = || LetterState::ALL.map(LetterState::as_str).join(", ");
    LetterState::from_name(name)
        .map(Some)
        .with_context(|| format!("--state is {name:?}; there are any, {}", known()))
}

const COLUMNS: [&str; 7] = ["ID", "GIVEN UP", "STATE", "EVENT", "AMOUNT", "REASON", "DETAIL"];

fn as_text(letters: &[DeadLetterSummary]) -> String {
    if letters.is_empty() {
        return "no dead letters\n".to_owned();
    }
    let rows: Vec<_> = std::iter::once(COLUMNS.map(str::to_owned)).chain(letters.iter().map(cells)).collect();
    columns(&rows)
}

fn cells(letter: &DeadLetterSummary) -> [String; COLUMNS.len()] {
    [
        letter.id.to_string(),
        moment(letter.cause.dead_lettered_at),
        letter.state.as_str().to_owned(),
        event(letter),
        amount_of(letter),
        letter.cause.reason.as_str().to_owned(),
        line(&letter.cause.detail, DETAIL_CHARS_MAX),
    ]
}
