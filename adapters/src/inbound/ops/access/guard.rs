//! Stands before every path of the API and the page.

use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{self, ServiceRequest, ServiceResponse};
use actix_web::http::{Method, StatusCode, header};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage, HttpRequest, HttpResponse, ResponseError};
use url::form_urlencoded;

use super::csrf::{CSRF_FIELD, CsrfToken};
use super::denied::Denied;
use super::headers;
use super::principal::Scope;
use super::rule::Access;
use super::visit::{self, Visit};
use crate::inbound::held::Held;
use crate::inbound::http::body;
use crate::inbound::problem::{ProblemType, problem_type};

/// The longest form that the page takes: an edited payload, with three bytes for each of its own.
pub const FORM_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long a form may take to come.
pub const FORM_DEADLINE: Duration = Duration::from_secs(10);

/// How long an answer may take.
pub const ANSWER_DEADLINE: Duration = Duration::from_secs(15);

/// How long the answer to a change may take: to freeze a large replay takes seconds.
pub const CHANGE_DEADLINE: Duration = Duration::from_mins(1);

/// How long answers may take.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// One that only tells.
    pub answer: Duration,
    /// One that changes something.
    pub change: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { answer: ANSWER_DEADLINE, change: CHANGE_DEADLINE }
    }
}

/// The paths of the page that need no log-in.
const OPEN_PATHS: [&str; 2] = ["/login", "/assets/"];

/// The changes that need no scope `operate`.
const EVERYBODYS_CHANGES: [&str; 2] = ["/login", "/logout"];

/// Where a visitor logs in.
const LOG_IN_PATH: &str = "/login";

/// How a refusal looks on the page.
pub type Refuse = fn(Denied) -> HttpResponse;

const TOO_SLOW: ProblemType = problem_type(
    "too-slow",
    StatusCode::SERVICE_UNAVAILABLE,
    "There is no answer in time",
    "The store or the queue is slow or away. What was to be changed may have been changed: look before you try \
     again.",
);

/// An answer that does not come.
#[derive(Debug, thiserror::Error)]
#[error("no answer in time")]
struct TooSlow;

impl ResponseError for TooSlow {
    fn status_code(&self) -> StatusCode {
        TOO_SLOW.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = TOO_SLOW.response().body(TOO_SLOW.document(&[]));
        headers::put(response.headers_mut());
        response
    }
}

/// Sets the headers of every answer.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn harden<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let mut response = next.call(request).await?.map_into_boxed_body();
    headers::put(response.headers_mut());
    Ok(response)
}

/// Lets a caller of the API in.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn guard_api<B: MessageBody + 'static>(
    access: Data<Access>,
    deadlines: Data<Deadlines>,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let admitted = access.check(request.request()).and_then(|()| access.caller(request.request()));
    let admitted = admitted.and_then(|principal| {
        if !request.method().is_safe() {
            principal.require(Scope::Operate)?;
            // A form of another site can send this method only; for any other the browser asks before.
            if request.method() == Method::POST {
                require_json(request.request())?;
            }
        }
        Ok(principal)
    });
    match admitted {
        Ok(principal) => {
            request.extensions_mut().insert(principal);
            answer(request, next, &deadlines).await
        }
        Err(denied) => Ok(refuse(request, denied.error_response())),
    }
}

/// Lets a visitor of the page in, or shows the way to the log-in.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn guard_page<B: MessageBody + 'static>(
    access: Data<Access>,
    look: Data<Refuse>,
    deadlines: Data<Deadlines>,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if let Err(denied) = access.check(request.request()) {
        return Ok(refuse(request, look(denied)));
    }
    let (visit, is_new) = access.visit(&request);
    let visitor = access.visitor(&visit.id);
    let is_change = !request.method().is_safe();
    if visitor.is_none() && !is_open(request.path()) {
        let to = log_in_path(request.request());
        let response = HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish();
        return Ok(refuse(request, response));
    }
    if is_change {
        let may = EVERYBODYS_CHANGES.contains(&request.path())
            || visitor.as_ref().is_some_and(|visitor| visitor.may(Scope::Operate));
        let checked = if may { check_form(&mut request, &visit.csrf).await } else { Err(Denied::Scope) };
        if let Err(denied) = checked {
            return Ok(refuse(request, look(denied)));
        }
    }
    if let Some(principal) = visitor {
        request.extensions_mut().insert(principal);
    }
    let cookie = is_new.then(|| visit::cookie(visit.id.clone(), access.secure(request.request())));
    request.extensions_mut().insert::<Visit>(visit);
    let mut response = answer(request, next, &deadlines).await?;
    if let Some(cookie) = cookie {
        // A cookie of ours has no character that a header cannot have.
        response.response_mut().add_cookie(&cookie).ok();
    }
    Ok(response)
}

#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
async fn answer<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
    deadlines: &Deadlines,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let deadline = if request.method().is_safe() { deadlines.answer } else { deadlines.change };
    let path = request.path().to_owned();
    if let Ok(response) = tokio::time::timeout(deadline, next.call(request)).await {
        return response.map(ServiceResponse::map_into_boxed_body);
    }
    tracing::warn!(path, seconds = deadline.as_secs(), "an operator's request was not answered in time");
    Err(TooSlow.into())
}

/// The refusal, without reading what the request may still have.
fn refuse(request: ServiceRequest, response: HttpResponse) -> ServiceResponse<BoxBody> {
    let (request, payload) = request.into_parts();
    let (response, body) = response.into_parts();
    let content = body.try_into_bytes().unwrap_or_default();
    let response = response.set_body(BoxBody::new(Held::new(content, payload)));
    ServiceResponse::new(request, response)
}

fn require_json(request: &HttpRequest) -> Result<(), Denied> {
    let essence = request.content_type().trim();
    if essence.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(Denied::NotJson) }
}

fn is_open(path: &str) -> bool {
    OPEN_PATHS.iter().any(|open| match open.strip_suffix('/') {
        Some(_) => path.starts_with(open),
        None => path == *open,
    })
}

/// The log-in, and where to go after it.
fn log_in_path(request: &HttpRequest) -> String {
    if !request.method().is_safe() || request.path() == "/" {
        return LOG_IN_PATH.to_owned();
    }
    let wanted = request.uri().path_and_query().map_or("/", |wanted| wanted.as_str());
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", wanted).finish();
    format!("{LOG_IN_PATH}?{query}")
}

/// Reads the form, wants the visitor's token in it, and puts it back for whoever handles it.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
async fn check_form(request: &mut ServiceRequest, token: &CsrfToken) -> Result<(), Denied> {
    let mut payload = request.take_payload();
    let read = body::read(request.request(), &mut payload, FORM_BYTES_MAX, FORM_DEADLINE).await;
    let bytes = read.map_err(|_| Denied::Csrf)?;
    let field = form_urlencoded::parse(&bytes).find(|(name, _)| name == CSRF_FIELD);
    let is_ours = field.is_some_and(|(_, value)| token.is(&value));
    request.set_payload(dev::Payload::from(bytes));
    if is_ours { Ok(()) } else { Err(Denied::Csrf) }
}
