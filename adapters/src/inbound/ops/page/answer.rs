//! Answers: a page, or the way to one.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use askama::Template;

use super::flash::Flash;

/// A page.
pub fn page(status: StatusCode, template: &impl Template) -> HttpResponse {
    match template.render() {
        Ok(html) => HttpResponse::build(status)
            .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
            .body(html),
        Err(error) => {
            tracing::error!(%error, "a page could not be made");
            HttpResponse::InternalServerError().finish()
        }
    }
}

/// The way to `path` after a change, where `flash` is said.
pub fn lead_to(path: &str, flash: &Flash) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((header::LOCATION, path)).cookie(flash.cookie()).finish()
}
