//! `/dead-letters`: the list, and discarding some of it.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use application::dead_letter::{DeadLetterId, DeadLetterSummary, LetterCursor, LetterReason, LetterState};
use application::replay::{Selection, SelectionError};
use application::use_cases::dead_letters::discard::DiscardError;
use askama::Template;

use super::answer::lead_to;
use super::error::PageError;
use super::fields::Fields;
use super::flash::Flash;
use super::frame::{Frame, Place};
use super::letter_query::{ANY_STATE, FILTER_FIELDS, LetterQuery};
use super::order::why;
use super::view::badge::words;
use super::view::{Advice, Badge, Moneys, When, count, size};
use super::visitor::Visitor;

/// How many letters a page of the list has.
const LETTERS_SHOWN: u32 = 50;

/// The name of the field that holds a letter's number.
pub const ID: &str = "id";

#[derive(Template)]
#[template(path = "dead_letters.html")]
struct DeadLettersPage {
    frame: Frame,
    filter: FilterForm,
    letters: Vec<LetterRow>,
    matching: String,
    money: Moneys,
    open: u64,
    replay_all: Option<String>,
    next: Option<String>,
    is_first: bool,
    first: String,
}

/// The form that narrows the list.
struct FilterForm {
    fields: Fields,
    sources: Vec<Choice>,
    reasons: Vec<Choice>,
    states: Vec<Choice>,
    problems: Vec<String>,
    is_set: bool,
    words: String,
}

/// One of several values of a field.
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub text: String,
    /// Whether it is chosen now.
    pub is_chosen: bool,
}

impl Choice {
    /// A value that is shown as `text`.
    pub fn new(value: &str, text: impl Into<String>, chosen: &str) -> Self {
        Self { value: value.to_owned(), text: text.into(), is_chosen: value == chosen }
    }
}

/// A letter, as a line of the list.
pub struct LetterRow {
    /// Its number.
    pub id: DeadLetterId,
    /// The event's id, or that nobody knows it.
    pub name: String,
    /// The provider's name of what happened.
    pub kind: String,
    /// Where it came in.
    pub source: String,
    /// Why.
    pub reason: String,
    /// Why, in full.
    pub detail: String,
    /// How much.
    pub money: Moneys,
    /// What has become of it.
    pub state: Badge,
    /// When it was given up.
    pub when: When,
    /// Whether it can be selected.
    pub is_open: bool,
}

impl LetterRow {
    /// A line of `letter`.
    pub fn new(visitor: &Visitor, letter: &DeadLetterSummary) -> Self {
        let key = letter.key.as_ref();
        Self {
            id: letter.id,
            name: key.map_or_else(|| "unreadable message".to_owned(), |key| key.event_id.to_string()),
            kind: match &letter.subject.kind {
                Some(kind) => kind.to_string(),
                None => size(letter.payload_bytes),
            },
            source: key.map_or_else(String::new, |key| key.source.to_string()),
            reason: Advice::on(letter.cause.reason).title.to_owned(),
            detail: letter.cause.detail.clone(),
            money: letter.subject.amount.into(),
            state: letter.state.into(),
            when: visitor.when(letter.cause.dead_lettered_at),
            is_open: letter.state == LetterState::Open,
        }
    }
}

/// The list.
pub async fn dead_letters(visitor: Visitor, fields: Fields) -> Result<HttpResponse, PageError> {
    let query = LetterQuery::of(&fields);
    let after = cursor(&fields)?;
    let store = visitor.store()?;
    let is_usable = query.problems.is_empty();
    let (letters, next, counts) = if is_usable {
        let (page, counts) = tokio::try_join!(
            store.letters.page(&query.filter, query.state, after, LETTERS_SHOWN),
            store.letters.counts(&query.filter),
        )?;
        (page.letters, page.next, counts)
    } else {
        (Vec::new(), None, Vec::new())
    };
    let shown = counts.iter().filter(|totals| query.state.is_none_or(|state| state == totals.state));
    let asked = fields.only(&FILTER_FIELDS);
    let open =
        counts.iter().find(|totals| totals.state == LetterState::Open).map_or(0, |totals| totals.letters);
    let with_state = fields.only(&[&FILTER_FIELDS[..], &["state"]].concat());
    let status = if is_usable { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = DeadLettersPage {
        frame: visitor.frame("Dead letters", Place::DeadLetters),
        matching: count(shown.clone().map(|totals| totals.letters).sum::<u64>()),
        money: Moneys::sum(shown.flat_map(|totals| &totals.money)),
        open,
        replay_all: (open > 0 && visitor.frame("", Place::Elsewhere).may_operate).then(|| replay_all(&asked)),
        letters: letters.iter().map(|letter| LetterRow::new(&visitor, letter)).collect(),
        next: next.map(|next| with_state.clone().with("cursor", next.to_string()).link("/dead-letters")),
        is_first: after.is_none(),
        first: with_state.link("/dead-letters"),
        filter: FilterForm::new(&visitor, &fields, query),
    };
    Ok(visitor.show_as(status, &page))
}

fn replay_all(asked: &Fields) -> String {
    let selection = if asked.iter().next().is_none() {
        Fields::default().with("everything", "yes")
    } else {
        asked.clone()
    };
    selection.link("/replays/new")
}

impl FilterForm {
    fn new(visitor: &Visitor, fields: &Fields, query: LetterQuery) -> Self {
        let source = fields.get("source");
        let sources = visitor.services.sources.iter();
        let mut sources: Vec<_> =
            sources.map(|name| Choice::new(name.as_str(), name.as_str(), source)).collect();
        if !source.is_empty() && sources.iter().all(|choice| !choice.is_chosen) {
            sources.push(Choice::new(source, source, source));
        }
        let reason = fields.get("reason");
        let reasons = LetterReason::ALL.map(|each| Choice::new(each.as_str(), words(each.as_str()), reason));
        let chosen = query.state.map_or(ANY_STATE, LetterState::as_str);
        let mut states: Vec<_> =
            LetterState::ALL.map(|state| Choice::new(state.as_str(), state.as_str(), chosen)).into();
        states.push(Choice::new(ANY_STATE, "any", chosen));
        Self {
            is_set: !query.filter.is_empty() || !query.problems.is_empty(),
            words: query.filter.to_string(),
            fields: fields.clone(),
            sources,
            reasons: reasons.into(),
            states,
            problems: query.problems,
        }
    }

    fn value(&self, name: &str) -> &str {
        self.fields.get(name)
    }
}

fn cursor(fields: &Fields) -> Result<Option<LetterCursor>, PageError> {
    match fields.get("cursor") {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|error| PageError::Invalid(format!("The cursor {error}."))),
    }
}

/// The numbers that a form or a link names.
pub fn ids(fields: &Fields) -> Result<Vec<DeadLetterId>, PageError> {
    let parsed = fields.all(ID).map(|text| text.parse().map(DeadLetterId));
    parsed
        .collect::<Result<_, _>>()
        .map_err(|_| PageError::Invalid("A letter's number is not a number.".to_owned()))
}

#[derive(Template)]
#[template(path = "discard.html")]
struct DiscardPage {
    frame: Frame,
    ids: Vec<DeadLetterId>,
    open: u64,
    count: String,
    money: Moneys,
    others: String,
    why: String,
    problem: String,
}

/// What is to be discarded, and why: asked before it is done.
pub async fn discard_form(visitor: Visitor, fields: Fields) -> Result<HttpResponse, PageError> {
    ask_discard(&visitor, &fields, StatusCode::OK, String::new()).await
}

async fn ask_discard(
    visitor: &Visitor,
    fields: &Fields,
    status: StatusCode,
    problem: String,
) -> Result<HttpResponse, PageError> {
    let ids = ids(fields)?;
    let selection = Selection::of_ids(ids.clone()).map_err(|error| PageError::Invalid(selected(&error)))?;
    let totals = visitor.store()?.replay.preview(&selection).await?;
    let open: Vec<_> = totals.iter().filter(|totals| totals.state == LetterState::Open).collect();
    let letters = open.iter().map(|totals| totals.letters).sum();
    let all: u64 = totals.iter().map(|totals| totals.letters).sum();
    let page = DiscardPage {
        frame: visitor.frame("Discard dead letters", Place::DeadLetters),
        open: letters,
        count: count(letters),
        money: Moneys::sum(open.iter().flat_map(|totals| &totals.money)),
        others: if all > letters { count(all - letters) } else { String::new() },
        why: fields.raw("why").to_owned(),
        ids,
        problem,
    };
    Ok(visitor.show_as(status, &page))
}

/// What is wrong with a selection, for the person who made it.
pub fn selected(error: &SelectionError) -> String {
    match error {
        SelectionError::Empty => "No letter is selected. Tick some in the list first.".to_owned(),
        SelectionError::TooMany { .. } => format!("The selection {error}."),
    }
}

/// Discards them.
pub async fn discard(visitor: Visitor, body: Bytes) -> Result<HttpResponse, PageError> {
    let fields = Fields::parse(&body);
    let why = match why(&fields) {
        Ok(why) => why,
        Err(problem) => {
            return ask_discard(&visitor, &fields, StatusCode::UNPROCESSABLE_ENTITY, problem).await;
        }
    };
    let ids = ids(&fields)?;
    let asked = ids.len();
    let discarded = visitor.store()?.discard.run(ids.clone(), &visitor.order(why)).await;
    let discarded = discarded.map_err(|error| match error {
        DiscardError::Selection(error) => PageError::Invalid(selected(&error)),
        DiscardError::Store(error) => PageError::Store(error),
    })?;
    let path = match ids[..] {
        [id] => format!("/dead-letters/{id}"),
        _ => "/dead-letters".to_owned(),
    };
    Ok(lead_to(&path, &told(discarded.ids.len(), asked, &Moneys::sum(&discarded.money))))
}

fn told(done: usize, asked: usize, money: &Moneys) -> Flash {
    if done == 0 {
        return Flash::trouble("Nothing was discarded: what you selected was not open any more.");
    }
    let letters = if done == 1 { "1 dead letter is".to_owned() } else { format!("{done} dead letters are") };
    let amount = if money.is_empty() { String::new() } else { format!(" ({})", money.words()) };
    let rest = match asked.saturating_sub(done) {
        0 => String::new(),
        left => format!(" {left} were not open any more, and stay as they are."),
    };
    Flash::done(format!("{letters} discarded{amount}. The bytes are kept.{rest}"))
}
