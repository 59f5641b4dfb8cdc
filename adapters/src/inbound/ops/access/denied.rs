//! Why somebody is not let in.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};

use crate::inbound::problem::{ProblemType, problem_type};

/// Why somebody is not let in, or may not do this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// There is nothing to let anybody in by.
    #[error(
        "nobody is let in, since the listener is reachable from elsewhere and no tokens are configured: set \
         ops.tokens_file (`payonce token NAME` makes a token), or bind ops.bind to 127.0.0.1"
    )]
    Closed,
    /// No token came, or no session.
    #[error("send a token in the header Authorization: Bearer, or log in on the page")]
    NoToken,
    /// The token is not one of ours.
    #[error("the token is not in ops.tokens_file")]
    WrongToken,
    /// Too many wrong tokens.
    #[error("too many tokens were tried; wait a minute")]
    TooManyTries,
    /// It needs the scope `operate`.
    #[error("this needs a token of the scope operate")]
    Scope,
    /// The request names a host that is not ours, as DNS rebinding makes it.
    #[error(
        "without tokens only localhost, 127.0.0.1, [::1] and what ops.hosts names are answered, and the header \
         Host is something else"
    )]
    ForeignHost,
    /// Another site has made the browser send it.
    #[error("the request comes from another site (Origin, Sec-Fetch-Site)")]
    ForeignOrigin,
    /// A proxy has passed it on, so it may come from anywhere.
    #[error(
        "without tokens nothing is taken that a proxy has passed on: set ops.tokens_file (`payonce token NAME` \
         makes a token)"
    )]
    Forwarded,
    /// A change that is not asked for in JSON.
    #[error("send the body as JSON, with Content-Type: application/json")]
    NotJson,
    /// A form without the page's token.
    #[error("the form is too old, or not from this page; go back, load it again and send it once more")]
    Csrf,
}

const OPS_CLOSED: ProblemType = problem_type("ops-closed", StatusCode::FORBIDDEN, "Nobody is let in", "");
const TOKEN_MISSING: ProblemType =
    problem_type("token-missing", StatusCode::UNAUTHORIZED, "A token is needed", "");
const TOKEN_WRONG: ProblemType =
    problem_type("token-wrong", StatusCode::UNAUTHORIZED, "The token is not known", "");
const TOO_MANY_TRIES: ProblemType =
    problem_type("too-many-tries", StatusCode::TOO_MANY_REQUESTS, "Too many tokens were tried", "");
const SCOPE: ProblemType = problem_type("scope", StatusCode::FORBIDDEN, "The token may only read", "");
const FOREIGN_HOST: ProblemType =
    problem_type("foreign-host", StatusCode::FORBIDDEN, "Not a host of this listener", "");
const FOREIGN_ORIGIN: ProblemType =
    problem_type("foreign-origin", StatusCode::FORBIDDEN, "Another site has sent this", "");
const FORWARDED: ProblemType =
    problem_type("forwarded", StatusCode::FORBIDDEN, "A proxy has passed this on", "");
const NOT_JSON: ProblemType =
    problem_type("not-json", StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body is not JSON", "");
const CSRF: ProblemType = problem_type("csrf", StatusCode::FORBIDDEN, "The form is not from this page", "");

/// What `Retry-After` says after too many tries, in seconds.
const RETRY_AFTER_SECS: u64 = 60;

impl Denied {
    /// The kind of problem.
    pub const fn problem(self) -> &'static ProblemType {
        match self {
            Self::Closed => &OPS_CLOSED,
            Self::NoToken => &TOKEN_MISSING,
            Self::WrongToken => &TOKEN_WRONG,
            Self::TooManyTries => &TOO_MANY_TRIES,
            Self::Scope => &SCOPE,
            Self::ForeignHost => &FOREIGN_HOST,
            Self::ForeignOrigin => &FOREIGN_ORIGIN,
            Self::Forwarded => &FORWARDED,
            Self::NotJson => &NOT_JSON,
            Self::Csrf => &CSRF,
        }
    }
}

impl ResponseError for Denied {
    fn status_code(&self) -> StatusCode {
        self.problem().status
    }

    fn error_response(&self) -> HttpResponse {
        let problem = self.problem();
        let mut response = problem.response();
        if matches!(self, Self::NoToken | Self::WrongToken) {
            response.insert_header((header::WWW_AUTHENTICATE, r#"Bearer realm="payonce""#));
        }
        if matches!(self, Self::TooManyTries) {
            response.insert_header((header::RETRY_AFTER, RETRY_AFTER_SECS));
        }
        response.body(problem.document_saying(&self.to_string(), &[]))
    }
}
