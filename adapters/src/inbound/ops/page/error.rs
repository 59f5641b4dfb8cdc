//! Pages that say that something did not work, and what to do.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use application::error_chain::describe;
use application::ports::quarantine::QuarantineError;
use application::ports::unit_of_work::StoreError;
use askama::Template;

use super::super::access::Denied;
use super::super::raw_payload::RawPayloadError;
use super::super::services::NotHere;
use super::answer;
use super::frame::Frame;

/// Why a page is not shown.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// No page has this path.
    #[error("there is no page of this address")]
    NoPage,
    /// What it would show is not there.
    #[error("there is no {0}")]
    NoSuch(String),
    /// Another process has it.
    #[error(transparent)]
    NotHere(#[from] NotHere),
    /// It was not asked for in a way that can be answered.
    #[error("{0}")]
    Invalid(String),
    /// Who asks may not have it.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The store did not do it.
    #[error("{}", describe(.0))]
    Store(#[from] StoreError),
    /// The quarantine did not do it.
    #[error("{}", describe(.0))]
    Quarantine(#[from] QuarantineError),
}

impl From<RawPayloadError> for PageError {
    fn from(error: RawPayloadError) -> Self {
        match error {
            RawPayloadError::Denied(denied) => Self::Denied(denied),
            RawPayloadError::NotHere(elsewhere) => Self::NotHere(elsewhere),
            RawPayloadError::NoLetter(id) => Self::NoSuch(format!("dead letter {id}")),
            RawPayloadError::Store(error) => Self::Store(error),
        }
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: Frame,
    status: u16,
    detail: String,
    todo: &'static str,
    log_in: bool,
}

impl PageError {
    const fn title(&self) -> &'static str {
        match self {
            Self::NoPage => "There is no such page",
            Self::NoSuch(_) => "It is not there",
            Self::NotHere(_) => "Another process has this",
            Self::Invalid(_) => "This cannot be asked for so",
            Self::Denied(_) => "You are not let in here",
            Self::Store(StoreError::Unavailable(_)) => "The store is away",
            Self::Store(_) => "The store did not do it",
            Self::Quarantine(_) => "The quarantine did not do it",
        }
    }

    const fn todo(&self) -> &'static str {
        match self {
            Self::NoPage => "Choose a page above, or search for an event by its id.",
            Self::NoSuch(_) => {
                "It may have been purged, or belong to another consumer, or the number is mistyped. Search for the \
                 event by its id."
            }
            Self::NotHere(_) => {
                "Open the operators' listener of that process instead; nothing is wrong here."
            }
            Self::Invalid(_) => "Go back, change what is named above, and send it once more.",
            Self::Denied(Denied::Scope) => {
                "Log in with a token of the scope operate, or ask a colleague who has one."
            }
            Self::Denied(Denied::TooManyTries) => "Wait a minute, then try again.",
            Self::Denied(_) => "Do what is said above. Metrics and health need no token.",
            Self::Store(StoreError::Unavailable(_)) => {
                "Events that come in meanwhile wait in the queue and lose no attempt: bring the store back, and load \
                 this page again. The overview tells which part is down."
            }
            Self::Store(_) | Self::Quarantine(_) => {
                "Look before you try again: what was to be changed may have been changed. If it comes again, the \
                 process's log has the whole error."
            }
        }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::NoPage | Self::NoSuch(_) | Self::NotHere(_) => StatusCode::NOT_FOUND,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Denied(denied) => denied.status_code(),
            Self::Store(StoreError::Unavailable(_) | StoreError::Transient(_)) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Store(StoreError::Permanent(_)) | Self::Quarantine(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let status = self.status_code();
        if status.is_server_error() {
            tracing::warn!(error = %self, "a page of the operators' listener cannot be shown");
        }
        let page = ErrorPage {
            frame: Frame::bare(self.title()),
            status: status.as_u16(),
            detail: self.to_string(),
            todo: self.todo(),
            log_in: matches!(self, Self::Denied(Denied::Scope | Denied::NoToken | Denied::WrongToken)),
        };
        answer::page(status, &page)
    }
}

/// How a refusal looks.
pub fn refuse(denied: Denied) -> HttpResponse {
    PageError::Denied(denied).error_response()
}

/// No page has this path.
pub async fn not_found() -> Result<HttpResponse, PageError> {
    Err(PageError::NoPage)
}
