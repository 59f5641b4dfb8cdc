//! Every way in which the API says no: RFC 9457 problem details, `type` of which is what a program compares.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use application::error_chain::describe;
use application::ports::BoxError;
use application::ports::event_queue::QueueError;
use application::ports::provider::Problem;
use application::ports::quarantine::QuarantineError;
use application::ports::unit_of_work::StoreError;
use application::replay::{ScheduleError, SelectionError};
use application::use_cases::dead_letters::EditError;
use application::use_cases::dead_letters::discard::DiscardError;
use application::use_cases::review_quarantine::ReviewError;

use super::super::access::Denied;
use super::super::raw_payload::RawPayloadError;
use super::super::services::NotHere;
use crate::inbound::http::body::BodyError;
use crate::inbound::problem::{ProblemType, problem_type};

/// What `Retry-After` says while something is away, in seconds.
const RETRY_AFTER_SECS: u64 = 5;

/// Why the API does not do it.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Who asks may not.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Another process has it.
    #[error(transparent)]
    NotHere(#[from] NotHere),
    /// Nothing has this path.
    #[error("nothing has this path; /api/openapi.json lists what there is")]
    NoPath,
    /// The path takes other methods.
    #[error("this path takes {0}")]
    Method(String),
    /// What is asked for is not there.
    #[error("there is no {0}")]
    NoSuch(String),
    /// The query or the body is not one that can be answered.
    #[error("`errors` lists everything that is wrong with the request")]
    Invalid(Vec<Problem>),
    /// There is no body to read.
    #[error("the body cannot be used ({})", .0.label())]
    Body(BodyError),
    /// It cannot be done to what is there.
    #[error("{0}")]
    Conflict(String),
    /// The store is away, or did not do it.
    #[error("{}", describe(.0))]
    Store(#[from] StoreError),
    /// The broker is away.
    #[error("{}", describe(.0))]
    Queue(#[from] QueueError),
    /// The quarantine did not do it.
    #[error("{}", describe(.0))]
    Quarantine(#[from] QuarantineError),
    /// What was to be taken in could not be stored.
    #[error("{}", describe(.0.as_ref()))]
    NotStored(BoxError),
}

const NOT_FOUND: ProblemType = problem_type("not-found", StatusCode::NOT_FOUND, "Not found", "");
const NOT_HERE: ProblemType =
    problem_type("not-in-this-process", StatusCode::NOT_FOUND, "Another process has this", "");
const METHOD_NOT_ALLOWED: ProblemType =
    problem_type("method-not-allowed", StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", "");
const INVALID: ProblemType =
    problem_type("invalid", StatusCode::BAD_REQUEST, "The request cannot be answered", "");
const BODY_TOO_LONG: ProblemType =
    problem_type("body-too-long", StatusCode::PAYLOAD_TOO_LARGE, "The body is too long", "");
const BODY_TOO_SLOW: ProblemType =
    problem_type("body-too-slow", StatusCode::REQUEST_TIMEOUT, "The body took too long", "");
const BODY_ENCODED: ProblemType =
    problem_type("body-encoded", StatusCode::UNSUPPORTED_MEDIA_TYPE, "Compressed bodies are not taken", "");
const UNREADABLE: ProblemType =
    problem_type("unreadable", StatusCode::BAD_REQUEST, "The body cannot be read", "");
const CONFLICT: ProblemType =
    problem_type("conflict", StatusCode::CONFLICT, "It cannot be done to what is there", "");
const UNAVAILABLE: ProblemType =
    problem_type("unavailable", StatusCode::SERVICE_UNAVAILABLE, "Something is away", "");
const REFUSED_BY_STORE: ProblemType =
    problem_type("store-refused", StatusCode::INTERNAL_SERVER_ERROR, "The store refused it", "");

impl ApiError {
    fn problem(&self) -> &'static ProblemType {
        match self {
            Self::Denied(denied) => denied.problem(),
            Self::NotHere(_) => &NOT_HERE,
            Self::NoPath | Self::NoSuch(_) => &NOT_FOUND,
            Self::Method(_) => &METHOD_NOT_ALLOWED,
            Self::Invalid(_) | Self::Body(BodyError::Empty) => &INVALID,
            Self::Body(BodyError::TooLong) => &BODY_TOO_LONG,
            Self::Body(BodyError::TooSlow) => &BODY_TOO_SLOW,
            Self::Body(BodyError::Encoded) => &BODY_ENCODED,
            Self::Body(BodyError::Broken) => &UNREADABLE,
            Self::Conflict(_) => &CONFLICT,
            Self::Store(StoreError::Permanent(_)) => &REFUSED_BY_STORE,
            Self::Store(_) | Self::Queue(_) | Self::Quarantine(_) | Self::NotStored(_) => &UNAVAILABLE,
        }
    }

    /// One thing that is wrong with the request.
    pub fn one(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Problem { pointer: pointer.into(), code, message: message.into() }])
    }

    /// A detail of the technology is for the log; whoever asks hears what it means.
    pub fn detail(&self) -> String {
        match self {
            Self::Store(error) => error.to_string(),
            Self::Queue(_) => "the broker is not available".to_owned(),
            Self::Quarantine(error) => error.to_string(),
            Self::NotStored(_) => "the events could not be stored; nothing was taken in".to_owned(),
            other => other.to_string(),
        }
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.problem().status
    }

    fn error_response(&self) -> HttpResponse {
        if let Self::Denied(denied) = self {
            return denied.error_response();
        }
        let problem = self.problem();
        if problem.status.is_server_error() {
            tracing::warn!(error = %self, "an operator's request could not be answered");
        }
        let mut response = problem.response();
        match self {
            Self::Method(allow) => {
                response.insert_header((header::ALLOW, allow.as_str()));
            }
            Self::Body(BodyError::TooLong | BodyError::TooSlow | BodyError::Broken) => {
                response.force_close();
            }
            _ if problem.status == StatusCode::SERVICE_UNAVAILABLE => {
                response.insert_header((header::RETRY_AFTER, RETRY_AFTER_SECS));
            }
            _ => {}
        }
        let empty;
        let errors = match self {
            Self::Invalid(errors) => errors.as_slice(),
            Self::Body(BodyError::Empty) => {
                empty = [Problem {
                    pointer: String::new(),
                    code: "missing",
                    message: "the body is empty".to_owned(),
                }];
                &empty
            }
            _ => &[],
        };
        response.body(problem.document_saying(&self.detail(), errors))
    }
}

impl From<SelectionError> for ApiError {
    fn from(error: SelectionError) -> Self {
        Self::one("/select", "invalid", error.to_string())
    }
}

impl From<ScheduleError> for ApiError {
    fn from(error: ScheduleError) -> Self {
        let pointer = match error {
            ScheduleError::Rate(_) => "/rate_per_second",
            ScheduleError::Steps(_) | ScheduleError::StepLetters(_) | ScheduleError::NotARamp => "/ramp",
        };
        Self::one(pointer, "invalid", error.to_string())
    }
}

impl From<DiscardError> for ApiError {
    fn from(error: DiscardError) -> Self {
        match error {
            DiscardError::Selection(error) => Self::one("/ids", "invalid", error.to_string()),
            DiscardError::Store(error) => Self::Store(error),
        }
    }
}

impl From<EditError> for ApiError {
    fn from(error: EditError) -> Self {
        match error {
            EditError::NoLetter(id) => Self::NoSuch(format!("dead letter {id}")),
            EditError::NotOpen(_) => Self::Conflict(error.to_string()),
            EditError::KeyMissing | EditError::NoSource(_) => {
                Self::one("/event", "invalid", error.to_string())
            }
            EditError::OtherKey(_) | EditError::Untranslatable(_) => {
                Self::one("/payload", "invalid", error.to_string())
            }
            EditError::Store(error) => Self::Store(error),
        }
    }
}

impl From<ReviewError> for ApiError {
    fn from(error: ReviewError) -> Self {
        use application::use_cases::accept_event::AcceptError;
        match error {
            ReviewError::NotThere(id) => Self::NoSuch(format!("rejected request {id}")),
            ReviewError::Refused(AcceptError::NotStored(cause)) => Self::NotStored(Box::new(cause)),
            ReviewError::Refused(cause) => Self::Conflict(format!("it is still refused: {}", cause.label())),
            ReviewError::Quarantine(error) => Self::Quarantine(error),
        }
    }
}

impl From<RawPayloadError> for ApiError {
    fn from(error: RawPayloadError) -> Self {
        match error {
            RawPayloadError::Denied(denied) => Self::Denied(denied),
            RawPayloadError::NotHere(part) => Self::NotHere(part),
            RawPayloadError::NoLetter(id) => Self::NoSuch(format!("dead letter {id}")),
            RawPayloadError::Store(error) => Self::Store(error),
        }
    }
}
