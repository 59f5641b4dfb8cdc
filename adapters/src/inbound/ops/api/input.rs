//! What comes with a request: a query or a body, with nothing in it that is not known. A key with a slip of the
//! pen must not make a filter that matches everything.

use std::future::{Ready, ready};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use application::ports::provider::Problem;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use url::form_urlencoded;

use super::error::ApiError;
use crate::inbound::http::body;

/// The longest body, in bytes: an edited payload in base64.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long a body may take to come.
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// The most keys of a query.
pub const QUERY_KEYS_MAX: usize = 32;

/// The query of a request. A pointer to something in it is `?` and its key.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> Query<T> {
    fn parse(query: &str) -> Result<Self, ApiError> {
        let mut pairs = Map::new();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            if pairs.contains_key(key.as_ref()) {
                return Err(ApiError::one(format!("?{key}"), "twice", "comes twice"));
            }
            if pairs.len() == QUERY_KEYS_MAX {
                let message = format!("the query has more than {QUERY_KEYS_MAX} keys");
                return Err(ApiError::one("?", "too_many", message));
            }
            pairs.insert(key.into_owned(), Value::String(value.into_owned()));
        }
        match serde_path_to_error::deserialize(Value::Object(pairs)) {
            Ok(query) => Ok(Self(query)),
            Err(error) => {
                Err(ApiError::one(format!("?{}", error.path()), "invalid", error.inner().to_string()))
            }
        }
    }
}

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::parse(request.query_string()))
    }
}

/// The JSON body of a request. A pointer to something in it is a JSON pointer.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> Body<T> {
    fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        let mut parser = serde_json::Deserializer::from_slice(bytes);
        let invalid = |pointer: String, message: String| ApiError::one(pointer, "invalid", message);
        let value = serde_path_to_error::deserialize(&mut parser)
            .map_err(|error| invalid(pointer(error.path()), error.inner().to_string()))?;
        parser.end().map_err(|error| invalid(String::new(), error.to_string()))?;
        Ok(Self(value))
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for Body<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let mut payload = payload.take();
        async move {
            let read = body::read(&request, &mut payload, BODY_BYTES_MAX, BODY_DEADLINE).await;
            Self::parse(&read.map_err(ApiError::Body)?)
        }
        .boxed_local()
    }
}

fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        let part = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.replace('~', "~0").replace('/', "~1"),
            Segment::Enum { variant } => variant.clone(),
            Segment::Unknown => continue,
        };
        pointer.push('/');
        pointer.push_str(&part);
    }
    pointer
}

/// Parses the texts of a request, and gathers everything that is wrong with them.
#[derive(Debug)]
pub struct Checks {
    prefix: &'static str,
    found: Vec<Problem>,
}

impl Checks {
    /// Of a query.
    pub const fn of_query() -> Self {
        Self { prefix: "?", found: Vec::new() }
    }

    /// Of the members of the body under that pointer, which ends with a slash.
    pub const fn of_body(prefix: &'static str) -> Self {
        Self { prefix, found: Vec::new() }
    }

    /// The value of the text, where there is one that is one.
    pub fn parse<T, E: std::fmt::Display>(
        &mut self,
        name: &str,
        text: Option<&String>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        match parse(text?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(name, "invalid", error.to_string());
                None
            }
        }
    }

    /// Something that is wrong.
    pub fn add(&mut self, name: &str, code: &'static str, message: String) {
        self.found.push(Problem { pointer: format!("{}{name}", self.prefix), code, message });
    }

    /// Fails when anything is wrong.
    pub fn finish(self) -> Result<(), ApiError> {
        if self.found.is_empty() { Ok(()) } else { Err(ApiError::Invalid(self.found)) }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        #[expect(dead_code, reason = "only whether it parses is asked")]
        a: Option<String>,
        #[expect(dead_code, reason = "only whether it parses is asked")]
        list: Option<Vec<Inner>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code, reason = "only whether it parses is asked")]
        n: u32,
    }

    fn pointer_of(result: Result<impl std::fmt::Debug, ApiError>) -> String {
        match result.unwrap_err() {
            ApiError::Invalid(problems) => problems[0].pointer.clone(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn an_unknown_member_is_pointed_at() {
        assert_eq!(pointer_of(Body::<Wanted>::parse(br#"{"b":1}"#)), "/b");
        assert_eq!(
            pointer_of(Body::<Wanted>::parse(br#"{"list":[{"n":1},{"n":1,"x/y":2}]}"#)),
            "/list/1/x~1y"
        );
        assert_eq!(pointer_of(Body::<Wanted>::parse(br#"{"list":[{"n":-1}]}"#)), "/list/0/n");
        assert!(Body::<Wanted>::parse(br#"{"a":"x"}"#).is_ok());
    }

    #[test]
    fn a_member_that_comes_twice_or_a_second_document_is_refused() {
        assert!(Body::<Wanted>::parse(br#"{"a":"x","a":"y"}"#).is_err());
        assert!(Body::<Wanted>::parse(br#"{"a":"x"} {}"#).is_err());
    }

    #[test]
    fn an_unknown_key_of_a_query_is_pointed_at() {
        assert!(Query::<Wanted>::parse("a=%C3%A9").is_ok());
        assert_eq!(pointer_of(Query::<Wanted>::parse("A=x")), "?A");
        assert_eq!(pointer_of(Query::<Wanted>::parse("a=x&a=y")), "?a");
        let many: Vec<String> = (0..=QUERY_KEYS_MAX).map(|n| format!("{n}=x")).collect();
        assert_eq!(pointer_of(Query::<Wanted>::parse(&many.join("&"))), "?");
    }
}
