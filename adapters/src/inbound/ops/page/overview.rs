//! `/`: is money stuck, how much, why, and what can be done; then how everything flows.

use std::time::Duration;

use actix_web::HttpResponse;
use application::dead_letter::{GroupTotals, LetterFilter, LetterState, StateTotals};
use application::ports::event_queue::QueueDepths;
use application::ports::outbox::DestinationDepth;
use application::ports::store_audit::StoreTotals;
use askama::Template;

use super::super::readiness::Report;
use super::error::PageError;
use super::failures::GroupRow;
use super::frame::{Frame, Place};
use super::sampler::{Counted, depths};
use super::view::when::span;
use super::view::{Moneys, Spark, count};
use super::visitor::Visitor;

/// How long the store may hold the overview up: while it is away, the overview must say so.
const PART_DEADLINE: Duration = Duration::from_secs(3);

/// How many groups are shown.
const GROUPS_SHOWN: usize = 5;

/// Of how many groups those are the newest.
const GROUPS_READ_MAX: u32 = 200;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    /// `None` where this process has no store.
    stuck: Option<Stuck>,
    /// Why what is stuck is not known.
    store_problem: Option<String>,
    /// How many were given up and are not in the store yet; empty where there are none.
    on_the_way: String,
    parts: Vec<Part>,
    is_ready: bool,
    flow: Flow,
    sparks: Vec<Spark>,
    has_history: bool,
    destinations: Vec<Destination>,
}

/// What waits for a decision.
struct Stuck {
    letters: u64,
    count: String,
    money: Moneys,
    replaying: String,
    groups: Vec<GroupRow>,
    more_groups: bool,
}

/// A part that the process depends on.
struct Part {
    name: &'static str,
    is_up: bool,
    state: &'static str,
    meaning: &'static str,
    detail: String,
}

/// Where events are.
struct Flow {
    accepted: String,
    refused: String,
    main: Option<String>,
    retry: Option<String>,
    applied: String,
    recorded: String,
    in_store: bool,
    duplicates: String,
    by_layer: String,
    dead_letters: String,
}

/// A destination of the outbox.
struct Destination {
    name: String,
    behind: String,
    oldest: String,
    failed: u64,
}

/// What is known of the store.
#[derive(Default)]
struct StoreLook {
    stuck: Option<Stuck>,
    totals: Option<StoreTotals>,
    destinations: Vec<DestinationDepth>,
    problem: Option<String>,
}

/// The overview.
pub async fn overview(visitor: Visitor) -> Result<HttpResponse, PageError> {
    let (report, depths, store) = tokio::join!(
        Report::of(&visitor.services.checks, false),
        depths(visitor.services.queue.as_deref()),
        tokio::time::timeout(PART_DEADLINE, look(&visitor)),
    );
    let store = store.unwrap_or_else(|_| StoreLook {
        problem: Some(format!("it has not answered within {} seconds", PART_DEADLINE.as_secs())),
        ..StoreLook::default()
    });
    let counted = (visitor.services.metrics)().map(|text| Counted::read(&text)).unwrap_or_default();
    let sparks = sparks(&visitor, &counted, depths);
    let on_the_way = match depths {
        Some(QueueDepths { dead_letters: letters @ 1.., .. }) => count(letters),
        _ => String::new(),
    };
    let title = match &store.stuck {
        Some(stuck) if stuck.letters > 0 => format!("{} dead letters open", stuck.count),
        _ if !on_the_way.is_empty() => format!("{on_the_way} events given up"),
        _ => "Overview".to_owned(),
    };
    Ok(visitor.show(&OverviewPage {
        frame: visitor.frame(title, Place::Overview),
        store_problem: store.problem,
        on_the_way,
        is_ready: report.is_ready(),
        parts: parts(&report),
        flow: flow(&counted, depths, store.totals, store.stuck.as_ref()),
        has_history: !visitor.page.samples.growth(|counted| counted.accepted).is_empty(),
        sparks,
        destinations: store.destinations.iter().map(destination).collect(),
        stuck: store.stuck,
    }))
}

/// The overview is there while the store is away: then it is needed most.
async fn look(visitor: &Visitor) -> StoreLook {
    let Ok(store) = visitor.services.store() else { return StoreLook::default() };
    let filter = LetterFilter::default();
    let (counts, groups, totals, destinations) = tokio::join!(
        store.letters.counts(&filter),
        store.letters.groups(&filter, GROUPS_READ_MAX),
        visitor.page.totals(store.audit.as_ref(), visitor.now),
        store.outbox.depths(),
    );
    let destinations = destinations.unwrap_or_default();
    match counts.and_then(|counts| Ok((counts, groups?))) {
        Ok((counts, groups)) => {
            let stuck = Some(stuck(visitor, &counts, groups));
            StoreLook { stuck, totals, destinations, problem: None }
        }
        Err(error) => StoreLook { problem: Some(error.to_string()), totals, destinations, stuck: None },
    }
}

fn stuck(visitor: &Visitor, counts: &[StateTotals], groups: Vec<GroupTotals>) -> Stuck {
    let of = |state| counts.iter().find(|totals| totals.state == state);
    let letters = of(LetterState::Open).map_or(0, |totals| totals.letters);
    let mut open: Vec<_> = groups.into_iter().filter(|group| open_letters(group) > 0).collect();
    open.sort_by_key(|group| std::cmp::Reverse(group.last_seen));
    let rows = open.iter().take(GROUPS_SHOWN).map(|group| GroupRow::new(visitor, group, letters));
    Stuck {
        letters,
        count: count(letters),
        money: Moneys::sum(of(LetterState::Open).iter().flat_map(|totals| &totals.money)),
        replaying: count(of(LetterState::Replaying).map_or(0, |totals| totals.letters)),
        groups: rows.collect(),
        more_groups: open.len() > GROUPS_SHOWN,
    }
}

fn open_letters(group: &GroupTotals) -> u64 {
    let open = group.by_state.iter().find(|totals| totals.state == LetterState::Open);
    open.map_or(0, |totals| totals.letters)
}

fn flow(
    counted: &Counted,
    depths: Option<QueueDepths>,
    totals: Option<StoreTotals>,
    stuck: Option<&Stuck>,
) -> Flow {
    let [cache, batch, database] = counted.duplicates.map(count);
    Flow {
        accepted: count(counted.accepted),
        refused: count(counted.refused),
        main: depths.map(|depths| count(depths.main)),
        retry: depths.map(|depths| count(depths.retry)),
        applied: count(totals.map_or(counted.applied, |totals| totals.applied)),
        recorded: count(totals.map_or(counted.recorded, |totals| totals.recorded)),
        in_store: totals.is_some(),
        duplicates: count(counted.duplicates_in_all()),
        by_layer: match counted.duplicates_in_all() {
            0 => "this process since start".to_owned(),
            _ => format!("found: {cache} by the cache, {batch} in a batch, {database} by the store"),
        },
        dead_letters: stuck.map_or_else(|| count(counted.dead_letters), |stuck| stuck.count.clone()),
    }
}

fn sparks(visitor: &Visitor, counted: &Counted, depths: Option<QueueDepths>) -> Vec<Spark> {
    let samples = &visitor.page.samples;
    let growth = |counter: fn(&Counted) -> u64| samples.growth(counter);
    let given_up = growth(|counted| counted.dead_letters);
    let trouble = given_up.iter().any(|letters| *letters > 0);
    let waiting = depths.map_or_else(|| "unknown".to_owned(), |depths| count(depths.main + depths.retry));
    vec![
        Spark::new("Accepted", &growth(|counted| counted.accepted), count(counted.accepted)),
        Spark::new("Applied", &growth(|counted| counted.applied), count(counted.applied)),
        Spark::new("Waiting", &samples.waiting(), waiting),
        Spark::new("Given up", &given_up, count(counted.dead_letters)).of_trouble(trouble),
    ]
}

fn destination(depth: &DestinationDepth) -> Destination {
    Destination {
        name: depth.destination.clone(),
        behind: count(depth.behind),
        oldest: if depth.behind == 0 { String::new() } else { span(depth.oldest_age.as_secs()) },
        failed: depth.failed,
    }
}

fn parts(report: &Report) -> Vec<Part> {
    let parts = report.parts().map(|(name, problem)| Part {
        name,
        is_up: problem.is_none(),
        state: if problem.is_none() { "up" } else { "down" },
        meaning: meaning(name, problem.is_none()),
        detail: problem.unwrap_or_default().to_owned(),
    });
    parts.collect()
}

/// What a part is for, or what it means that it is away.
fn meaning(part: &str, is_up: bool) -> &'static str {
    match (part, is_up) {
        ("broker", true) => "Takes what is accepted.",
        ("broker", false) => {
            "New webhooks are answered 503, and their providers send them again. Nothing that was accepted is lost."
        }
        ("store", true) => "Keeps payments, dead letters and the ledger.",
        ("store", false) => {
            "Nothing is applied. Events wait in the queue and lose no attempt; nothing is lost. It goes on by itself \
             once the store is back."
        }
        ("consumer", true) => "Takes events off the queue.",
        ("consumer", false) => "Events are accepted and wait in the queue until it is back. Nothing is lost.",
        ("cache", true) => "Saves the store some questions.",
        ("cache", false) => "Everything works, somewhat slower: the store finds every duplicate by itself.",
        (_, true) => "Works.",
        (_, false) => "Does not work now.",
    }
}
