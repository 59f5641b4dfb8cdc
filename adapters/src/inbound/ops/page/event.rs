//! `/events/{source}/{id}`: the path that an event took, and what it has done.

use actix_web::HttpResponse;
use actix_web::web::Path;
use application::dead_letter::LetterState;
use application::ports::event_reader::{DeliveryState, EventMessage, EventOutcome, EventPath, EventSummary};
use askama::Template;
use domain::{EventId, EventKey, LedgerEntry, SourceName};

use super::dead_letters::LetterRow;
use super::error::PageError;
use super::frame::{Frame, Place};
use super::view::badge::words;
use super::view::{Amount, Badge, Moneys, Step, Tone, When, account_path, payment_path, size, things};
use super::visitor::Visitor;

#[derive(Template)]
#[template(path = "event.html")]
struct EventView {
    frame: Frame,
    id: String,
    source: String,
    outcome: Badge,
    payment: Option<(String, String)>,
    open_letters: u64,
    is_settled: bool,
    way: Vec<Step>,
    facts: Vec<(String, Moneys)>,
    entries: Vec<EntryRow>,
    messages: Vec<MessageRow>,
    letters: Vec<LetterRow>,
    kept: Option<String>,
}

struct EntryRow {
    account: String,
    path: String,
    ledger: String,
    side: &'static str,
    amount: Amount,
}

struct MessageRow {
    id: String,
    kind: String,
    at: When,
    deliveries: Vec<(String, Badge, String)>,
}

/// The key that a path names.
pub fn key_of(source: &str, id: &str) -> Result<EventKey, PageError> {
    let source =
        SourceName::parse(source).map_err(|error| PageError::Invalid(format!("The source {error}.")))?;
    let event_id =
        EventId::parse(id).map_err(|error| PageError::Invalid(format!("The event id {error}.")))?;
    Ok(EventKey { source, event_id })
}

/// One event.
pub async fn event(visitor: Visitor, path: Path<(String, String)>) -> Result<HttpResponse, PageError> {
    let key = key_of(&path.0, &path.1)?;
    let found = visitor.store()?.events.path(&key).await?;
    let found = found.ok_or_else(|| {
        PageError::NoSuch(format!("event {key} that was settled or given up; it may still be in the queue"))
    })?;
    Ok(visitor.show(&page(&visitor, &found)))
}

fn page(visitor: &Visitor, path: &EventPath) -> EventView {
    let event = &path.event;
    let payment = event.payment.as_ref();
    EventView {
        frame: visitor.frame(format!("Event {}", event.key.event_id), Place::Events),
        id: event.key.event_id.to_string(),
        source: event.key.source.to_string(),
        outcome: (&event.outcome).into(),
        payment: payment.map(|id| (id.to_string(), payment_path(&event.key.source, id.as_str()))),
        open_letters: event.open_letters,
        is_settled: !matches!(event.outcome, EventOutcome::GivenUp { .. }),
        way: way(visitor, path),
        facts: path.facts.iter().map(|fact| (fact.key.to_string(), fact.amount.into())).collect(),
        entries: path.entries.iter().map(entry).collect(),
        messages: path.messages.iter().map(|message| message_row(visitor, message)).collect(),
        letters: path.letters.iter().map(|letter| LetterRow::new(visitor, letter)).collect(),
        kept: path.payload_bytes.map(size),
    }
}

fn entry(entry: &LedgerEntry) -> EntryRow {
    let account = entry.account.to_string();
    let minor_units = entry.amount.minor_units();
    EntryRow {
        path: account_path(&account),
        account,
        ledger: words(entry.ledger.as_str()),
        side: if minor_units >= 0 { "debit" } else { "credit" },
        amount: Amount::new(i128::from(minor_units).abs(), entry.amount.currency()),
    }
}

/// The path as a picture.
fn way(visitor: &Visitor, path: &EventPath) -> Vec<Step> {
    let event = &path.event;
    let received = Step::new(Tone::Done, "Received").at(event.received_at.map(|at| visitor.when(at)));
    let mut way = vec![received, Step::new(Tone::Done, "Queued").saying("Durable, then answered 2xx.")];
    let failed = path.letters.len();
    if failed > 0 {
        let times = if failed == 1 { "once".to_owned() } else { format!("{failed} times") };
        way.push(Step::new(Tone::Bad, format!("Given up {times}")).saying("See its dead letters below."));
    }
    way.push(outcome(event).at(visitor.when(event.at)));
    if !path.facts.is_empty() {
        let entries = match path.entries.len() {
            1 => "1 ledger entry".to_owned(),
            entries => format!("{entries} ledger entries"),
        };
        let facts = things(path.facts.len(), "fact");
        way.push(Step::new(Tone::Done, "Booked").saying(format!("{facts}, {entries}.")));
    }
    if !path.messages.is_empty() {
        way.push(announced(&path.messages));
    }
    way
}

fn outcome(event: &EventSummary) -> Step {
    match &event.outcome {
        EventOutcome::Applied => Step::new(Tone::Good, "Applied").saying("Its effect is committed once."),
        EventOutcome::Recorded { reason, .. } => {
            Step::new(Tone::Good, "Recorded").saying(format!("No effect: {}.", words(reason)))
        }
        EventOutcome::GivenUp { letter, state, reason, .. } => {
            let (tone, title) = match state {
                LetterState::Open => (Tone::Bad, "Waits for a decision"),
                LetterState::Replaying | LetterState::Replayed => (Tone::Pending, "On its way again"),
                LetterState::Discarded => (Tone::Done, "Discarded"),
            };
            Step::new(tone, title)
                .saying(words(reason.as_str()))
                .leading_to(format!("/dead-letters/{letter}"), format!("Dead letter {letter}"))
        }
    }
}

fn announced(messages: &[EventMessage]) -> Step {
    let deliveries = || messages.iter().flat_map(|message| &message.deliveries);
    let open = deliveries().filter(|delivery| !matches!(delivery.state, DeliveryState::Done)).count();
    if deliveries().next().is_none() {
        return Step::new(Tone::Pending, "To be announced").saying("No destination is known.");
    }
    if deliveries().any(|delivery| matches!(delivery.state, DeliveryState::Failed { .. })) {
        Step::new(Tone::Bad, "Announced in part").saying("A destination did not take it.")
    } else if open > 0 {
        Step::new(Tone::Pending, "Being announced").saying(format!("Deliveries to go: {open}."))
    } else {
        Step::new(Tone::Good, "Announced").saying("Every destination has it.")
    }
}

fn message_row(visitor: &Visitor, message: &EventMessage) -> MessageRow {
    let deliveries = message.deliveries.iter().map(|delivery| {
        let (badge, why) = delivered(visitor, &delivery.state);
        (delivery.destination.clone(), badge, why)
    });
    MessageRow {
        id: message.id.clone(),
        kind: message.kind.clone(),
        at: visitor.when(message.created_at),
        deliveries: deliveries.collect(),
    }
}

fn delivered(visitor: &Visitor, state: &DeliveryState) -> (Badge, String) {
    match state {
        DeliveryState::Queued => (Badge::plain("not yet"), String::new()),
        DeliveryState::Done => (Badge::good("done"), String::new()),
        DeliveryState::Waiting { attempts, next_at, error } => {
            let next = match next_at {
                Some(at) => format!("tried again {}", visitor.when(*at).ago()),
                None => "behind an earlier message of its payment".to_owned(),
            };
            let error = error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
            (Badge::busy("waits"), format!("{} failed, {next}{error}", attempts_of(*attempts)))
        }
        DeliveryState::Failed { attempts, error } => {
            let error = error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
            (Badge::trouble("given up"), format!("after {}{error}", attempts_of(*attempts)))
        }
    }
}

fn attempts_of(attempts: u32) -> String {
    things(usize::try_from(attempts).unwrap_or(usize::MAX), "attempt")
}
