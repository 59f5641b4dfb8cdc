//! Answers to requests that are accepted, and to a provider's test of who listens.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use actix_web::web::Payload;
use application::ports::provider::Answer;
use application::use_cases::accept_event::Accepted;
use bytes::Bytes;
use domain::EventId;
use serde::Serialize;

use crate::inbound::held::Held;

#[derive(Serialize)]
struct Document<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_ids: Option<Vec<&'a str>>,
}

/// Everything of the request is durable: what the provider wants to hear, or our own answer.
pub fn accepted(accepted: &Accepted) -> HttpResponse {
    match &accepted.answer {
        Some(answer) => start(answer).body(content(answer)),
        None => HttpResponse::Ok()
            .insert_header((header::CONTENT_TYPE, "application/json"))
            .body(document(&accepted.events)),
    }
}

/// The answer to a `GET` by which a provider tests who listens. Its body, if it has one, is not read.
pub fn challenge(answer: &Answer, payload: Payload) -> HttpResponse {
    start(answer).body(Held::new(content(answer), payload))
}

fn start(answer: &Answer) -> actix_web::HttpResponseBuilder {
    // A provider pack's status is one; were it none, what was accepted would still be told as accepted.
    let mut response = HttpResponse::build(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK));
    response.insert_header((header::CONTENT_TYPE, answer.content_type));
    response
}

fn content(answer: &Answer) -> Bytes {
    Bytes::copy_from_slice(answer.body.as_bytes())
}

fn document(events: &[EventId]) -> Vec<u8> {
    let several = || events.iter().map(EventId::as_str).collect();
    let document = Document {
        status: "accepted",
        event_id: if let [id] = events { Some(id.as_str()) } else { None },
        event_ids: (events.len() != 1).then(several),
    };
    // Strings only: this cannot fail.
    serde_json::to_vec(&document).unwrap_or_default()
}
