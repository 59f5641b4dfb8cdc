//! `/dead-letters/{id}`: one dead letter, and everything that can be done with it.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Path;
use application::dead_letter::{DeadLetter, DeadLetterId, DeadLetterSummary, LetterFilter, LetterState};
use application::ports::dead_letters::LetterPage as Letters;
use askama::Template;

use super::super::access::Scope;
use super::super::raw_payload::{file_name, raw_payload};
use super::error::PageError;
use super::fields::Fields;
use super::frame::{Frame, Place};
use super::view::badge::words;
use super::view::{
    Advice, Badge, Moneys, PayloadView, Step, Tone, account_path, event_path, payment_path, size,
};
use super::visitor::Visitor;

/// How many other letters of the event, and how many edited copies, are shown.
const RELATED_SHOWN: u32 = 20;

#[derive(Template)]
#[template(path = "letter.html")]
struct LetterPage {
    frame: Frame,
    id: DeadLetterId,
    name: String,
    state: Badge,
    is_open: bool,
    is_readable: bool,
    advice: Advice,
    detail: String,
    money: Moneys,
    facts: Vec<Fact>,
    steps: Vec<Step>,
    headers: Vec<(String, String)>,
    payload: PayloadView,
    size: String,
    content_type: String,
    shows_bytes: bool,
}

/// A line of what is known of it.
struct Fact {
    name: &'static str,
    value: String,
    link: Option<String>,
}

impl Fact {
    fn new(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: value.into(), link: None }
    }

    fn leading_to(self, path: String) -> Self {
        Self { link: Some(path), ..self }
    }
}

/// The letter of that number.
pub async fn find(visitor: &Visitor, id: i64) -> Result<DeadLetter, PageError> {
    let id = DeadLetterId(id);
    let letter = visitor.store()?.letters.get(id).await?;
    letter.ok_or_else(|| PageError::NoSuch(format!("dead letter {id}")))
}

/// One letter.
pub async fn letter(visitor: Visitor, id: Path<i64>, fields: Fields) -> Result<HttpResponse, PageError> {
    let letter = find(&visitor, id.into_inner()).await?;
    let wants_bytes = fields.get("bytes") == "shown";
    let shows_bytes = wants_bytes && visitor.principal.may(Scope::Operate);
    let payload = if shows_bytes {
        PayloadView::dump(&raw_payload(&visitor.services, &visitor.principal, letter.summary.id).await?)
    } else {
        visitor.services.masking.show(&letter.content.payload, letter.content.content_type.as_deref()).into()
    };
    let (others, copies) = tokio::try_join!(
        others(&visitor, &letter.summary),
        related(&visitor, LetterFilter { copies_of: Some(letter.summary.id), ..LetterFilter::default() }),
    )?;
    Ok(visitor.show(&page(&visitor, &letter, payload, shows_bytes, &others, &copies)))
}

async fn others(visitor: &Visitor, letter: &DeadLetterSummary) -> Result<Vec<DeadLetterSummary>, PageError> {
    let Some(key) = letter.key.clone() else { return Ok(Vec::new()) };
    let mut letters = related(visitor, LetterFilter::of_event(key)).await?;
    letters.retain(|other| other.id != letter.id);
    Ok(letters)
}

async fn related(visitor: &Visitor, filter: LetterFilter) -> Result<Vec<DeadLetterSummary>, PageError> {
    let Letters { letters, .. } = visitor.store()?.letters.page(&filter, None, None, RELATED_SHOWN).await?;
    Ok(letters)
}

fn page(
    visitor: &Visitor,
    letter: &DeadLetter,
    payload: PayloadView,
    shows_bytes: bool,
    others: &[DeadLetterSummary],
    copies: &[DeadLetterSummary],
) -> LetterPage {
    let DeadLetter { summary, content, .. } = letter;
    let masking = &visitor.services.masking;
    let headers = content.headers.iter();
    LetterPage {
        frame: visitor.frame(format!("Dead letter {}", summary.id), Place::DeadLetters),
        id: summary.id,
        name: match &summary.key {
            Some(key) => key.event_id.to_string(),
            None => "A message that could not be read".to_owned(),
        },
        state: summary.state.into(),
        is_open: summary.state == LetterState::Open,
        is_readable: summary.key.is_some(),
        advice: Advice::on(summary.cause.reason),
        detail: summary.cause.detail.clone(),
        money: summary.subject.amount.into(),
        facts: facts(summary),
        steps: steps(visitor, letter, others, copies),
        headers: headers
            .map(|(name, value)| (name.clone(), masking.header(name, value).to_owned()))
            .collect(),
        payload,
        size: size(summary.payload_bytes),
        content_type: content.content_type.clone().unwrap_or_default(),
        shows_bytes,
    }
}

fn facts(letter: &DeadLetterSummary) -> Vec<Fact> {
    let subject = &letter.subject;
    let mut facts = Vec::new();
    if let Some(key) = &letter.key {
        facts.push(Fact::new("Event", key.event_id.as_str()).leading_to(event_path(key)));
        facts.push(Fact::new("Source", key.source.as_str()));
        if let Some(payment) = &subject.payment {
            facts.push(
                Fact::new("Payment", payment.as_str())
                    .leading_to(payment_path(&key.source, payment.as_str())),
            );
        }
        if let Some(account) = &subject.account {
            let name = format!("{}:{account}", key.source);
            facts.push(Fact::new("Account", account.as_str()).leading_to(account_path(&name)));
        }
    }
    if let Some(kind) = &subject.kind {
        facts.push(Fact::new("Kind", kind.as_str()));
    }
    let group = letter.group.to_string();
    facts.push(
        Fact::new("Failed alike", format!("group {}", &group[..8]))
            .leading_to(format!("/dead-letters?group={group}&state=all")),
    );
    if let Some(worker) = &letter.cause.worker {
        let release =
            letter.cause.release.as_ref().map_or_else(String::new, |release| format!(", release {release}"));
        facts.push(Fact::new("Worker", format!("{worker}{release}")));
    }
    if let Some(original) = letter.linked_to {
        facts.push(
            Fact::new("Edited copy of", format!("dead letter {original}")).leading_to(letter_path(original)),
        );
    }
    facts
}

fn letter_path(id: DeadLetterId) -> String {
    format!("/dead-letters/{id}")
}

/// What happened to it, in order.
fn steps(
    visitor: &Visitor,
    letter: &DeadLetter,
    others: &[DeadLetterSummary],
    copies: &[DeadLetterSummary],
) -> Vec<Step> {
    let summary = &letter.summary;
    let cause = &summary.cause;
    let mut steps = Vec::new();
    if let Some(at) = summary.received_at {
        steps.push(
            Step::new(Tone::Done, "Received").at(visitor.when(at)).saying("Its signature was judged then."),
        );
    }
    if summary.replays > 0 {
        let times =
            if summary.replays == 1 { "once".to_owned() } else { format!("{} times", summary.replays) };
        steps.push(Step::new(Tone::Done, format!("Replayed {times} before")));
    }
    let kept = u32::try_from(letter.history.len()).unwrap_or(u32::MAX);
    if cause.failed_attempts > kept {
        let left = cause.failed_attempts - kept;
        steps.push(
            Step::new(Tone::Bad, format!("{left} earlier attempts failed"))
                .saying("Their errors are not kept."),
        );
    }
    for (number, failure) in (cause.failed_attempts.saturating_sub(kept) + 1..).zip(&letter.history) {
        steps.push(
            Step::new(Tone::Bad, format!("Attempt {number} failed"))
                .at(visitor.when(failure.at))
                .marked(Badge::plain(words(&failure.class)))
                .because(&failure.error),
        );
    }
    steps.push(
        Step::new(Tone::Bad, "Given up")
            .at(visitor.when(cause.dead_lettered_at))
            .marked(Badge::trouble(words(cause.reason.as_str())))
            .because(&cause.detail),
    );
    steps.extend(copies.iter().map(|copy| copied(visitor, copy)));
    steps.push(settled(visitor, summary));
    steps.extend(others.iter().rev().map(|other| came_again(visitor, other)));
    steps
}

fn copied(visitor: &Visitor, copy: &DeadLetterSummary) -> Step {
    Step::new(Tone::Done, "Edited")
        .at(visitor.when(copy.stored_at))
        .marked(copy.state.into())
        .leading_to(letter_path(copy.id), format!("The copy, dead letter {}", copy.id))
}

fn settled(visitor: &Visitor, letter: &DeadLetterSummary) -> Step {
    let step = match letter.state {
        LetterState::Open => Step::new(Tone::Pending, "Waits for a decision"),
        LetterState::Replaying => {
            Step::new(Tone::Pending, "In a replay").leading_to("/replays", "The replays")
        }
        LetterState::Replayed => Step::new(Tone::Good, "Replayed").saying(
            "It went to the queue again. If it failed there, it came back as a dead letter of its own.",
        ),
        LetterState::Discarded => {
            Step::new(Tone::Done, "Discarded").saying(letter.discard_reason.clone().unwrap_or_default())
        }
    };
    step.at(letter.settled_at.map(|at| visitor.when(at)))
}

fn came_again(visitor: &Visitor, other: &DeadLetterSummary) -> Step {
    Step::new(Tone::Bad, "The same event was given up another time")
        .at(visitor.when(other.cause.dead_lettered_at))
        .marked(other.state.into())
        .leading_to(letter_path(other.id), format!("Dead letter {}", other.id))
}

/// The bytes, to be kept as a file and not to be shown.
pub async fn payload(visitor: Visitor, id: Path<i64>) -> Result<HttpResponse, PageError> {
    let id = DeadLetterId(id.into_inner());
    let bytes = raw_payload(&visitor.services, &visitor.principal, id).await?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/octet-stream"))
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", file_name(id))))
        .body(bytes))
}
