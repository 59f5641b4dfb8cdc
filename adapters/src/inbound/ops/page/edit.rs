//! `/dead-letters/{id}/edit`: replays other bytes than came.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{self, Path};
use application::dead_letter::{DeadLetter, DeadLetterId, LetterState};
use application::error_chain::describe;
use application::operator::Why;
use application::replay::{NewReplayJob, ReplaySchedule};
use application::use_cases::dead_letters::{Edit, EditError};
use askama::Template;
use bytes::Bytes;
use domain::{EventId, EventKey, SourceName};

use super::super::access::Scope;
use super::super::raw_payload::raw_payload;
use super::error::PageError;
use super::fields::Fields;
use super::frame::{Frame, Place};
use super::letter::find;
use super::new_replay::lead_to_job;
use super::order::why;
use super::visitor::Visitor;

#[derive(Template)]
#[template(path = "edit.html")]
struct EditPage {
    frame: Frame,
    id: DeadLetterId,
    name: Option<String>,
    source: String,
    event_id: String,
    text: Option<String>,
    why: String,
    problem: String,
}

/// The payload as it came, to be changed. It is not masked, so it is written down that somebody saw it.
pub async fn form(visitor: Visitor, id: Path<i64>) -> Result<HttpResponse, PageError> {
    visitor.principal.require(Scope::Operate)?;
    let letter = find(&visitor, id.into_inner()).await?;
    if letter.summary.state != LetterState::Open {
        let state = letter.summary.state.as_str();
        return Err(PageError::Invalid(format!(
            "Dead letter {} is {state}, and only an open one can be edited.",
            letter.summary.id
        )));
    }
    let payload = raw_payload(&visitor.services, &visitor.principal, letter.summary.id).await?;
    let text = String::from_utf8(payload.to_vec()).ok();
    Ok(visitor.show(&page(&visitor, &letter, text, &Fields::default(), String::new())))
}

fn page(
    visitor: &Visitor,
    letter: &DeadLetter,
    text: Option<String>,
    fields: &Fields,
    problem: String,
) -> EditPage {
    let id = letter.summary.id;
    EditPage {
        frame: visitor.frame(format!("Edit dead letter {id}"), Place::DeadLetters),
        id,
        name: letter.summary.key.as_ref().map(|key| key.event_id.to_string()),
        source: fields.get("source").to_owned(),
        event_id: fields.get("event_id").to_owned(),
        text,
        why: fields.raw("why").to_owned(),
        problem,
    }
}

/// Replays the changed bytes.
pub async fn edit(visitor: Visitor, id: Path<i64>, body: web::Bytes) -> Result<HttpResponse, PageError> {
    let fields = Fields::parse(&body);
    let letter = find(&visitor, id.into_inner()).await?;
    let text = as_typed(fields.raw("payload"), &letter.content.payload);
    let (why, edit) = match asked(&fields, &text, &letter) {
        Ok(asked) => asked,
        Err(problem) => return Ok(again(&visitor, &letter, text, &fields, problem)),
    };
    let job =
        NewReplayJob { order: visitor.order(why), schedule: ReplaySchedule::careful(), replays_max: None };
    match visitor.store()?.replay.create_edited(letter.summary.id, edit, &job).await {
        Ok(frozen) => Ok(lead_to_job(&frozen)),
        Err(EditError::Store(error)) => Err(error.into()),
        Err(error) => {
            let problem = format!("Nothing was changed: {}.", describe(&error));
            Ok(again(&visitor, &letter, text, &fields, problem))
        }
    }
}

fn again(
    visitor: &Visitor,
    letter: &DeadLetter,
    text: String,
    fields: &Fields,
    problem: String,
) -> HttpResponse {
    visitor.show_as(StatusCode::UNPROCESSABLE_ENTITY, &page(visitor, letter, Some(text), fields, problem))
}

fn asked(fields: &Fields, text: &str, letter: &DeadLetter) -> Result<(Why, Edit), String> {
    let why = why(fields)?;
    if text.is_empty() {
        return Err("There is no payload. To give the event up for good, discard it.".to_owned());
    }
    let key = match letter.summary.key {
        Some(_) => None,
        None => Some(EventKey {
            source: SourceName::parse(fields.get("source"))
                .map_err(|error| format!("The source {error}."))?,
            event_id: EventId::parse(fields.get("event_id"))
                .map_err(|error| format!("The event id {error}."))?,
        }),
    };
    Ok((why, Edit { payload: Bytes::copy_from_slice(text.as_bytes()), key }))
}

/// A browser sends every line break as two characters. Where the payload that came had none of those, neither
/// has the one that goes.
fn as_typed(sent: &str, came: &[u8]) -> String {
    let had = came.windows(2).any(|pair| pair == b"\r\n");
    if had { sent.to_owned() } else { sent.replace("\r\n", "\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_stay_as_they_came() {
        assert_eq!(as_typed("{\r\n}", b"{\n}"), "{\n}");
        assert_eq!(as_typed("{\r\n}", b"{\r\n}"), "{\r\n}");
    }
}
