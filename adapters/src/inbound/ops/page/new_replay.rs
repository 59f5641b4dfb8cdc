//! `/replays/new`: what a replay would take, before it is ordered; and ordering it.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use application::dead_letter::{LetterState, StateTotals};
use application::operator::Why;
use application::replay::{FrozenJob, JOB_MEMBERS_MAX, NewReplayJob, ReplaySchedule, Selection, Skipped};
use askama::Template;

use super::answer::lead_to;
use super::dead_letters::{ID, ids, selected};
use super::error::PageError;
use super::fields::Fields;
use super::flash::Flash;
use super::frame::{Frame, Place};
use super::letter_query::{FILTER_FIELDS, LetterQuery};
use super::order::why;
use super::view::{Badge, Moneys, count};
use super::visitor::Visitor;

/// Letters whose events were replayed this often are left out, unless the operator says otherwise.
const REPLAYS_MAX: &str = "3";

/// The name of the field that asks for all letters.
const EVERYTHING: &str = "everything";

#[derive(Template)]
#[template(path = "new_replay.html")]
struct NewReplayPage {
    frame: Frame,
    selection: Fields,
    words: String,
    open: u64,
    count: String,
    money: Moneys,
    others: Vec<(Badge, String)>,
    is_too_many: bool,
    job_max: String,
    form: PaceForm,
    problem: String,
}

/// How fast, and why.
struct PaceForm {
    why: String,
    ramp: String,
    rate: String,
    replays_max: String,
}

impl PaceForm {
    fn of(fields: &Fields) -> Self {
        let careful = ReplaySchedule::careful();
        let or = |name, default: String| if fields.has(name) { fields.get(name).to_owned() } else { default };
        Self {
            why: fields.raw("why").to_owned(),
            ramp: or("ramp", careful.to_string()),
            rate: or("rate", careful.rate_per_second().to_string()),
            replays_max: or("replays_max", REPLAYS_MAX.to_owned()),
        }
    }

    fn schedule(&self) -> Result<ReplaySchedule, String> {
        let rate = self.rate.parse().map_err(|_| "The rate is not a whole number of letters a second.")?;
        ReplaySchedule::parse(&self.ramp, rate).map_err(|error| sentence(&error.to_string()))
    }

    fn replays_max(&self) -> Result<Option<u32>, String> {
        if self.replays_max.is_empty() {
            return Ok(None);
        }
        let max = self.replays_max.parse();
        max.map(Some)
            .map_err(|_| "How often an event may have been replayed is not a whole number.".to_owned())
    }
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

/// The selection that a link or a form names.
fn selection(fields: &Fields) -> Result<Selection, PageError> {
    if fields.get(EVERYTHING) == "yes" {
        return Ok(Selection::everything());
    }
    let selection = if fields.has(ID) {
        Selection::of_ids(ids(fields)?)
    } else {
        let query = LetterQuery::of(fields);
        if !query.problems.is_empty() {
            return Err(PageError::Invalid(query.problems.join(" ")));
        }
        Selection::matching(query.filter)
    };
    selection.map_err(|error| PageError::Invalid(selected(&error)))
}

/// What would be replayed. Changes nothing.
pub async fn preview(visitor: Visitor, fields: Fields) -> Result<HttpResponse, PageError> {
    ask(&visitor, &fields, StatusCode::OK, String::new()).await
}

async fn ask(
    visitor: &Visitor,
    fields: &Fields,
    status: StatusCode,
    problem: String,
) -> Result<HttpResponse, PageError> {
    let selection = selection(fields)?;
    let totals = visitor.store()?.replay.preview(&selection).await?;
    let is_open = |totals: &&StateTotals| totals.state == LetterState::Open;
    let open = totals.iter().find(is_open);
    let letters = open.map_or(0, |totals| totals.letters);
    let others = totals.iter().filter(|totals| !is_open(totals) && totals.letters > 0);
    let page = NewReplayPage {
        frame: visitor.frame("Replay dead letters", Place::Replays),
        selection: fields.only(&[&FILTER_FIELDS[..], &[ID, EVERYTHING]].concat()),
        words: in_words(&selection),
        open: letters,
        count: count(letters),
        money: Moneys::sum(open.iter().flat_map(|totals| &totals.money)),
        others: others.map(|totals| (Badge::from(totals.state), count(totals.letters))).collect(),
        is_too_many: letters > JOB_MEMBERS_MAX.into(),
        job_max: count(JOB_MEMBERS_MAX),
        form: PaceForm::of(fields),
        problem,
    };
    Ok(visitor.show_as(status, &page))
}

fn in_words(selection: &Selection) -> String {
    match selection.ids() {
        Some([id]) => format!("dead letter {id}"),
        Some(_) => selection.to_string(),
        None if selection.filter().is_empty() => "all dead letters".to_owned(),
        None => format!("dead letters with {selection}"),
    }
}

/// Orders it.
pub async fn create(visitor: Visitor, body: Bytes) -> Result<HttpResponse, PageError> {
    let fields = Fields::parse(&body);
    let form = PaceForm::of(&fields);
    let asked = asked(&fields, &form);
    let (why, schedule, replays_max) = match asked {
        Ok(asked) => asked,
        Err(problem) => return ask(&visitor, &fields, StatusCode::UNPROCESSABLE_ENTITY, problem).await,
    };
    let selection = selection(&fields)?;
    let job = NewReplayJob { order: visitor.order(why), schedule, replays_max };
    let frozen = visitor.store()?.replay.create(&selection, &job).await?;
    Ok(lead_to_job(&frozen))
}

fn asked(fields: &Fields, form: &PaceForm) -> Result<(Why, ReplaySchedule, Option<u32>), String> {
    Ok((why(fields)?, form.schedule()?, form.replays_max()?))
}

/// The way to the job, saying what was taken and what was not.
pub fn lead_to_job(frozen: &FrozenJob) -> HttpResponse {
    let left_out = left_out(&frozen.skipped);
    let Some(job) = frozen.job else {
        return lead_to(
            "/dead-letters",
            &Flash::trouble(format!("There was nothing to replay, so nothing was changed.{left_out}")),
        );
    };
    let letters = if frozen.members == 1 { "letter".to_owned() } else { "letters".to_owned() };
    let money = Moneys::sum(&frozen.money);
    let amount = if money.is_empty() { String::new() } else { format!(" ({})", money.words()) };
    let text = format!(
        "Replay {job} is ordered: {} {letters}{amount}. It can be canceled for as long as letters wait.{left_out}",
        count(frozen.members)
    );
    lead_to(&format!("/replays/{job}"), &Flash::done(text))
}

fn left_out(skipped: &Skipped) -> String {
    let parts = [
        (skipped.unknown, "do not exist"),
        (skipped.settled, "were replayed or discarded before"),
        (skipped.taken, "are in another replay"),
        (skipped.unreadable, "could not be read: edit them one by one"),
        (skipped.too_often, "have been replayed too often"),
        (skipped.left, "are left for another replay"),
    ];
    let told: Vec<String> = parts
        .iter()
        .filter(|(letters, _)| *letters > 0)
        .map(|(letters, why)| format!("{} {why}", count(*letters)))
        .collect();
    if told.is_empty() { String::new() } else { format!(" Not taken: {}.", told.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Fields {
        Fields::parse(text.as_bytes())
    }

    #[test]
    fn everything_is_meant_by_its_name_only() {
        assert!(selection(&fields("")).is_err());
        assert!(selection(&fields("source=")).is_err());
        assert!(selection(&fields("everything=yes")).is_ok());
    }

    #[test]
    fn a_filter_that_cannot_be_meant_selects_nothing() {
        assert!(selection(&fields("source=stripe&reason=because")).is_err());
        assert!(selection(&fields("source=stripe&reason=refused")).is_ok());
        assert!(selection(&fields("id=1&id=x")).is_err());
    }

    #[test]
    fn what_is_wrong_with_the_pace_is_told() {
        let form = |text| PaceForm::of(&fields(text));
        assert!(form("").schedule().is_ok());
        assert!(form("rate=0").schedule().unwrap_err().contains("rate is 0"));
        assert!(form("ramp=1,x").schedule().unwrap_err().contains("ramp"));
        assert_eq!(form("replays_max=").replays_max(), Ok(None));
        assert!(form("replays_max=-1").replays_max().is_err());
    }

    #[test]
    fn what_was_left_out_is_told() {
        assert_eq!(left_out(&Skipped::default()), "");
        let skipped = Skipped { taken: 2, too_often: 1, ..Skipped::default() };
        assert_eq!(
            left_out(&skipped),
            " Not taken: 2 are in another replay; 1 have been replayed too often."
        );
    }
}
