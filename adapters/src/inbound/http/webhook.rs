//! `POST /webhooks/{source}`, and `GET` of it where the provider tests who listens.

use std::time::Instant;

use actix_web::http::{Method, header};
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use application::TraceContext;
use application::ports::provider::Problem;
use application::use_cases::accept_event::{AcceptError, AcceptEvent, Accepted, Incoming};
use bytes::Bytes;
use domain::SourceName;
use tracing::{Instrument, Span};

use super::{HttpSettings, answer, body, refusal};
use crate::trace;

/// What a request needs.
pub struct WebhookState {
    /// The use case.
    pub accept: AcceptEvent,
    /// The limits.
    pub settings: HttpSettings,
}

/// Any method on a webhook's path.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn webhook(
    request: HttpRequest,
    segment: Path<String>,
    payload: Payload,
    state: Data<WebhookState>,
) -> HttpResponse {
    if request.method() == Method::GET {
        return challenge(&request, &segment, payload, &state);
    }
    if request.method() != Method::POST {
        return refusal::method_not_allowed("POST", payload);
    }
    let Ok(source) = SourceName::parse(&segment) else {
        // Its text may be anything, so it is not logged.
        tracing::info!(reason = "unknown_source", "webhook refused");
        return refusal::unknown_source(payload);
    };
    let incoming = incoming_trace(&request);
    let span = tracing::info_span!("webhook", otel.kind = "server", source = %source);
    trace::set_remote_parent(&span, &incoming);
    receive(&request, &source, payload, &state, incoming).instrument(span).await
}

/// Only some providers send a `GET`, and only of some queries is it a test; any other is a wrong method.
fn challenge(request: &HttpRequest, segment: &str, payload: Payload, state: &WebhookState) -> HttpResponse {
    let answer = SourceName::parse(segment)
        .ok()
        .and_then(|source| state.accept.challenge(&source, request.query_string()));
    match answer {
        Some(answer) => answer::challenge(&answer, payload),
        None => refusal::method_not_allowed("POST", payload),
    }
}

#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
async fn receive(
    request: &HttpRequest,
    source: &SourceName,
    mut payload: Payload,
    state: &WebhookState,
    incoming: TraceContext,
) -> HttpResponse {
    let settings = &state.settings;
    let since = Instant::now();
    let read = body::read(request, &mut payload, settings.body_bytes_max, settings.body_deadline).await;
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) => {
            tracing::info!(source = %source, reason = error.label(), "webhook refused");
            state.accept.refused_unread(source, error.label(), since.elapsed());
            return refusal::no_body(error, payload);
        }
    };
    match accept(request, source, bytes, state, incoming).await {
        Ok(accepted) => {
            tracing::debug!(source = %source, events = accepted.events.len(), "webhook accepted");
            answer::accepted(&accepted)
        }
        Err(error) => {
            log_refusal(source, &error);
            refusal::not_accepted(&error, settings.retry_after_secs(), payload)
        }
    }
}

#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
async fn accept(
    request: &HttpRequest,
    source: &SourceName,
    bytes: Bytes,
    state: &WebhookState,
    incoming: TraceContext,
) -> Result<Accepted, AcceptError> {
    let headers = headers(request);
    let trace = trace::of_span(&Span::current()).unwrap_or(incoming);
    let incoming = Incoming { headers: &headers, query: request.query_string(), body: bytes, trace };
    state.accept.accept(source, incoming).await
}

fn headers(request: &HttpRequest) -> Vec<(String, Vec<u8>)> {
    request
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect()
}

fn incoming_trace(request: &HttpRequest) -> TraceContext {
    let value = |name| request.headers().get(name).map(header::HeaderValue::as_bytes);
    trace::from_headers(value("traceparent"), value("tracestate"))
}

/// One line for each refusal, with nothing in it that the sender wrote.
fn log_refusal(source: &SourceName, error: &AcceptError) {
    match error {
        AcceptError::NotStored(cause) => {
            tracing::warn!(source = %source, reason = error.label(), %cause, "webhook not stored");
        }
        AcceptError::Undecided(cause) => {
            tracing::warn!(source = %source, reason = error.label(), cause, "webhook not judged");
        }
        AcceptError::Unauthentic(how) => {
            tracing::warn!(source = %source, reason = error.label(), how, "webhook refused");
        }
        AcceptError::Malformed(problems) => {
            let wrong = wrong(problems);
            tracing::info!(source = %source, reason = error.label(), wrong, "webhook refused");
        }
        AcceptError::UnknownSource => {
            tracing::info!(source = %source, reason = error.label(), "webhook refused");
        }
    }
}

fn wrong(problems: &[Problem]) -> String {
    let line = |problem: &Problem| format!("{}:{}", problem.pointer, problem.code);
    problems.iter().map(line).collect::<Vec<_>>().join(" ")
}
