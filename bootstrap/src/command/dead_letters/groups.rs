//! `payonce dead-letters groups`

use std::process::ExitCode;

use adapters::clock::SystemClock;
use adapters::inbound::ops::api::GroupsDoc;
use application::dead_letter::{GroupTotals, LetterState};
use application::ports::clock::Clock as _;
use application::ports::dead_letters::GROUPS_MAX;

use super::filter::FilterArgs;
use super::text::{UNKNOWN, line, moment, money, of_state};
use crate::command::table::columns;
use crate::wiring::Store;

/// The most characters of a message in a list.
const MESSAGE_CHARS_MAX: usize = 80;

#[derive(Debug, clap::Args)]
pub(in crate::command) struct GroupsArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// At most so many, the most numerous first
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(GROUPS_MAX)))]
    limit: u32,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &Store, args: &GroupsArgs) -> anyhow::Result<ExitCode> {
    let filter = args.filter.filter(SystemClock.now())?;
    let groups = store.dead_letters().groups(&filter, args.limit).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&GroupsDoc::from(groups.as_slice()))?);
    } else {
        print!("{}", as_text(&groups));
    }
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: [&str; 8] = ["GROUP", "OPEN", "ALL", "MONEY OPEN", "LAST SEEN", "SOURCE", "REASON", "MESSAGE"];

fn as_text(groups: &[GroupTotals]) -> String {
    if groups.is_empty() {
        return "no dead letters\n".to_owned();
    }
    let rows: Vec<_> = std::iter::once(COLUMNS.map(str::to_owned)).chain(groups.iter().map(cells)).collect();
    columns(&rows)
}

fn cells(group: &GroupTotals) -> [String; COLUMNS.len()] {
    let open = of_state(&group.by_state, LetterState::Open);
    [
        group.group.to_string(),
        open.map_or(0, |open| open.letters).to_string(),
        group.letters.to_string(),
        open.map_or_else(|| UNKNOWN.to_owned(), |open| money(&open.money)),
        moment(group.last_seen),
        group.source.as_ref().map_or(UNKNOWN, |source| source.as_str()).to_owned(),
        group.reason.as_str().to_owned(),
        line(&group.message, MESSAGE_CHARS_MAX),
    ]
}
