//! Every way in which the public listener says no.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use actix_web::web::Payload;
use application::ports::provider::Problem;
use application::use_cases::accept_event::AcceptError;
use bytes::Bytes;

use super::body::BodyError;
use crate::inbound::held::Held;
use crate::inbound::problem::{ProblemType, problem_type};

const NOT_FOUND: ProblemType =
    problem_type("not-found", StatusCode::NOT_FOUND, "Not found", "There is nothing at this path.");
const UNKNOWN_SOURCE: ProblemType = problem_type(
    "unknown-source",
    StatusCode::NOT_FOUND,
    "Unknown source",
    "No source of this name is configured.",
);
const METHOD_NOT_ALLOWED: ProblemType = problem_type(
    "method-not-allowed",
    StatusCode::METHOD_NOT_ALLOWED,
    "Method not allowed",
    "The header Allow lists the methods of this path.",
);
const UNAUTHENTIC: ProblemType = problem_type(
    "unauthentic",
    StatusCode::UNAUTHORIZED,
    "The signature does not hold",
    "The signature is missing, malformed, wrong, too old or too new.",
);
const MALFORMED: ProblemType = problem_type(
    "malformed",
    StatusCode::BAD_REQUEST,
    "Not a usable event",
    "The body is not an event of this source; `errors` lists everything that is wrong with it.",
);
const UNREADABLE: ProblemType = problem_type(
    "unreadable",
    StatusCode::BAD_REQUEST,
    "The body cannot be read",
    "The connection broke while the body was read, or its framing is wrong.",
);
const BODY_TOO_SLOW: ProblemType = problem_type(
    "body-too-slow",
    StatusCode::REQUEST_TIMEOUT,
    "The body took too long",
    "The whole body did not come within the deadline.",
);
const BODY_TOO_LONG: ProblemType = problem_type(
    "body-too-long",
    StatusCode::PAYLOAD_TOO_LARGE,
    "The body is too long",
    "The body is longer than this receiver reads.",
);
const BODY_ENCODED: ProblemType = problem_type(
    "body-encoded",
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "Compressed bodies are not taken",
    "Send the body without a Content-Encoding.",
);
const UNDECIDED: ProblemType = problem_type(
    "undecided",
    StatusCode::SERVICE_UNAVAILABLE,
    "The request cannot be judged now",
    "Something that is needed to judge it cannot be had; send it again after the time in Retry-After.",
);
const NOT_STORED: ProblemType = problem_type(
    "not-stored",
    StatusCode::SERVICE_UNAVAILABLE,
    "The event could not be stored",
    "Nothing is wrong with the request; send it again after the time in Retry-After.",
);

fn refuse(problem: &ProblemType, errors: &[Problem], payload: Payload) -> HttpResponse {
    refuse_with(problem.response(), problem, errors, payload)
}

fn refuse_with(
    mut response: actix_web::HttpResponseBuilder,
    problem: &ProblemType,
    errors: &[Problem],
    payload: Payload,
) -> HttpResponse {
    response.body(Held::new(Bytes::from(problem.document(errors)), payload))
}

/// Nothing is at that path.
pub fn not_found(payload: Payload) -> HttpResponse {
    refuse(&NOT_FOUND, &[], payload)
}

/// The path is there, the method is not.
pub fn method_not_allowed(allow: &'static str, payload: Payload) -> HttpResponse {
    let mut response = METHOD_NOT_ALLOWED.response();
    response.insert_header((header::ALLOW, allow));
    refuse_with(response, &METHOD_NOT_ALLOWED, &[], payload)
}

/// No such source.
pub fn unknown_source(payload: Payload) -> HttpResponse {
    refuse(&UNKNOWN_SOURCE, &[], payload)
}

/// There is no body to judge.
pub fn no_body(error: BodyError, payload: Payload) -> HttpResponse {
    match error {
        BodyError::TooLong => refuse_and_close(&BODY_TOO_LONG, payload),
        BodyError::TooSlow => refuse_and_close(&BODY_TOO_SLOW, payload),
        BodyError::Broken => refuse_and_close(&UNREADABLE, payload),
        BodyError::Encoded => {
            let mut response = BODY_ENCODED.response();
            response.insert_header((header::ACCEPT_ENCODING, "identity"));
            refuse_with(response, &BODY_ENCODED, &[], payload)
        }
        BodyError::Empty => {
            let empty =
                Problem { pointer: String::new(), code: "missing", message: "the body is empty".to_owned() };
            refuse(&MALFORMED, &[empty], payload)
        }
    }
}

fn refuse_and_close(problem: &ProblemType, payload: Payload) -> HttpResponse {
    let mut response = problem.response();
    response.force_close();
    refuse_with(response, problem, &[], payload)
}

fn refuse_for_now(problem: &ProblemType, retry_after_secs: u64, payload: Payload) -> HttpResponse {
    let mut response = problem.response();
    response.insert_header((header::RETRY_AFTER, retry_after_secs));
    refuse_with(response, problem, &[], payload)
}

/// The use case did not accept it.
pub fn not_accepted(error: &AcceptError, retry_after_secs: u64, payload: Payload) -> HttpResponse {
    match error {
        AcceptError::UnknownSource => unknown_source(payload),
        AcceptError::Unauthentic(_) => refuse(&UNAUTHENTIC, &[], payload),
        AcceptError::Malformed(problems) => refuse(&MALFORMED, problems, payload),
        AcceptError::Undecided(_) => refuse_for_now(&UNDECIDED, retry_after_secs, payload),
        AcceptError::NotStored(_) => refuse_for_now(&NOT_STORED, retry_after_secs, payload),
    }
}
