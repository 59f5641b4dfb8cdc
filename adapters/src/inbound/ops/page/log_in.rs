//! `/login` and `/logout`.

use actix_web::http::{StatusCode, header};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;

use super::super::access::{self, Access, Denied, Principal, Visit};
use super::super::services::OpsServices;
use super::answer;
use super::fields::Fields;
use super::flash::Flash;
use super::frame::Frame;

#[derive(Template)]
#[template(path = "login.html")]
struct LogInPage {
    frame: Frame,
    next: String,
    problem: String,
}

fn page(status: StatusCode, visit: &Visit, next: &str, problem: String) -> HttpResponse {
    let frame = Frame { csrf: visit.csrf.to_string(), ..Frame::bare("Log in") };
    answer::page(status, &LogInPage { frame, next: here(next).to_owned(), problem })
}

/// Where to go after the log-in: to a page of ours, whatever a link says.
fn here(next: &str) -> &str {
    let is_ours =
        next.starts_with('/') && !next.starts_with("//") && !next.contains(['\\', '\r', '\n', '\t']);
    if is_ours { next } else { "/" }
}

/// Asks for the token.
pub async fn form(visit: Visit, access: Data<Access>, fields: Fields) -> HttpResponse {
    if !access.has_log_in() {
        return HttpResponse::SeeOther().insert_header((header::LOCATION, "/")).finish();
    }
    page(StatusCode::OK, &visit, fields.get("next"), String::new())
}

/// Begins a session.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn log_in(
    visit: Visit,
    access: Data<Access>,
    services: Data<OpsServices>,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let fields = Fields::parse(&body);
    let next = fields.get("next");
    match access::log_in(&request, &access, &services, fields.get("token")).await {
        Ok(cookie) => {
            HttpResponse::SeeOther().insert_header((header::LOCATION, here(next))).cookie(cookie).finish()
        }
        Err(denied) => page(denied.status_code(), &visit, next, told(denied)),
    }
}

fn told(denied: Denied) -> String {
    match denied {
        Denied::WrongToken => {
            "This token is not known here, or was withdrawn. Check that it was pasted whole.".to_owned()
        }
        Denied::TooManyTries => "Too many tokens were tried. Wait a minute, then try again.".to_owned(),
        denied => denied.to_string(),
    }
}

/// Ends the session.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn log_out(
    visit: Visit,
    principal: Option<Principal>,
    access: Data<Access>,
    services: Data<OpsServices>,
    request: HttpRequest,
) -> HttpResponse {
    let mut response = HttpResponse::SeeOther();
    response.insert_header((header::LOCATION, "/login")).cookie(Flash::removal());
    if let Some(principal) = principal {
        response.cookie(access::log_out(&request, &access, &services, &visit, &principal).await);
    }
    response.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_in_leads_to_a_page_of_ours_only() {
        assert_eq!(here("/dead-letters?state=all"), "/dead-letters?state=all");
        for foreign in
            ["", "//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\r\nb"]
        {
            assert_eq!(here(foreign), "/", "{foreign:?}");
        }
    }
}
