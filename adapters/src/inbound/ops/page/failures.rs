//! `/failures`: what failed alike, as one line each.

use actix_web::HttpResponse;
use application::dead_letter::{GroupTotals, LetterFilter, LetterReason, LetterState};
use application::ports::dead_letters::GROUPS_MAX;
use askama::Template;

use super::error::PageError;
use super::frame::{Frame, Place};
use super::view::{Advice, Badge, Moneys, Share, When, count};
use super::visitor::Visitor;

#[derive(Template)]
#[template(path = "failures.html")]
struct FailuresPage {
    frame: Frame,
    groups: Vec<GroupRow>,
    letters: String,
    is_cut: bool,
}

/// A group, as a line.
#[derive(Template)]
#[template(path = "parts/group.html")]
pub struct GroupRow {
    group: String,
    message: String,
    source: String,
    advice: Advice,
    /// How many are open.
    open: u64,
    /// Whether they can be replayed as they are.
    is_readable: bool,
    count: String,
    money: Moneys,
    states: Vec<(Badge, String)>,
    share: Share,
    first_seen: When,
    last_seen: When,
}

impl askama::filters::HtmlSafe for GroupRow {}

impl GroupRow {
    /// A line of `group`, which is a part of `letters`.
    pub fn new(visitor: &Visitor, group: &GroupTotals, letters: u64) -> Self {
        let open = group.by_state.iter().find(|totals| totals.state == LetterState::Open);
        let open_letters = open.map_or(0, |totals| totals.letters);
        let shown = if open_letters > 0 { open_letters } else { group.letters };
        Self {
            group: group.group.to_string(),
            message: if group.message.is_empty() { "(no message)".to_owned() } else { group.message.clone() },
            source: group.source.as_ref().map_or_else(|| "source unknown".to_owned(), ToString::to_string),
            advice: Advice::on(group.reason),
            open: open_letters,
            is_readable: group.reason != LetterReason::Unreadable,
            count: count(shown),
            money: Moneys::sum(match open {
                Some(open) => &open.money[..],
                None => &[],
            }),
            states: group
                .by_state
                .iter()
                .map(|totals| (Badge::from(totals.state), count(totals.letters)))
                .collect(),
            share: Share::of(open_letters, letters),
            first_seen: visitor.when(group.first_seen),
            last_seen: visitor.when(group.last_seen),
        }
    }
}

/// All groups, those with the most open letters first.
pub async fn failures(visitor: Visitor) -> Result<HttpResponse, PageError> {
    let store = visitor.store()?;
    let filter = LetterFilter::default();
    let mut groups = store.letters.groups(&filter, GROUPS_MAX).await?;
    let is_cut = u32::try_from(groups.len()).is_ok_and(|groups| groups >= GROUPS_MAX);
    let open = |group: &GroupTotals| {
        let open = group.by_state.iter().find(|totals| totals.state == LetterState::Open);
        open.map_or(0, |totals| totals.letters)
    };
    groups.sort_by_key(|group| std::cmp::Reverse((open(group), group.last_seen)));
    let letters = groups.iter().map(open).sum();
    Ok(visitor.show(&FailuresPage {
        frame: visitor.frame("Failures", Place::Failures),
        groups: groups.iter().map(|group| GroupRow::new(&visitor, group, letters)).collect(),
        letters: count(letters),
        is_cut,
    }))
}
