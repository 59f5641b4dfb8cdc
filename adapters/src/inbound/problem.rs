//! Answers to requests that are not accepted: RFC 9457 problem details.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, HttpResponseBuilder};
use application::ports::provider::Problem;
use serde::Serialize;

/// The media type of RFC 9457.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// One kind of refusal. `name` never changes: it is what a program compares.
#[derive(Debug, Clone, Copy)]
pub struct ProblemType {
    /// The last part of `type`.
    pub name: &'static str,
    /// The status.
    pub status: StatusCode,
    /// The status's meaning here, in a few words.
    pub title: &'static str,
    /// What the sender can do.
    pub detail: &'static str,
}

#[derive(Serialize)]
struct Document<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    errors: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    pointer: &'a str,
    code: &'a str,
    message: &'a str,
}

/// A kind of refusal.
pub const fn problem_type(
    name: &'static str,
    status: StatusCode,
    title: &'static str,
    detail: &'static str,
) -> ProblemType {
    ProblemType { name, status, title, detail }
}

impl ProblemType {
    /// The start of a response, so that headers can be added.
    pub fn response(&self) -> HttpResponseBuilder {
        let mut response = HttpResponse::build(self.status);
        response.insert_header((header::CONTENT_TYPE, MEDIA_TYPE));
        response
    }

    /// The document.
    pub fn document(&self, errors: &[Problem]) -> Vec<u8> {
        self.document_saying(self.detail, errors)
    }

    /// The document, with more to say than is true of every refusal of this kind.
    pub fn document_saying(&self, detail: &str, errors: &[Problem]) -> Vec<u8> {
        let document = Document {
            r#type: format!("urn:payonce:problem:{}", self.name),
            title: self.title,
            status: self.status.as_u16(),
            detail,
            errors: errors.iter().map(item).collect(),
        };
        // Strings and numbers only: this cannot fail, and an empty body is an answer all the same.
        serde_json::to_vec(&document).unwrap_or_default()
    }
}

fn item(problem: &Problem) -> Item<'_> {
    Item { pointer: &problem.pointer, code: problem.code, message: &problem.message }
}
