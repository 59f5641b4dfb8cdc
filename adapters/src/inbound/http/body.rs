//! Reads a request's body: the bytes on the wire, up to a limit, within a deadline.

use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::body::{BodyStream, SizedStream, to_bytes_limited};
use actix_web::error::PayloadError;
use actix_web::http::header;
use bytes::Bytes;
use futures::Stream;

/// Why there is no body to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// It is, or says that it is, longer than the limit.
    TooLong,
    /// It did not come within the deadline.
    TooSlow,
    /// It came compressed.
    Encoded,
    /// There is none.
    Empty,
    /// The connection broke, or its framing is wrong.
    Broken,
}

impl BodyError {
    /// The error as a log field.
    pub const fn label(self) -> &'static str {
        match self {
            Self::TooLong => "body_too_long",
            Self::TooSlow => "body_too_slow",
            Self::Encoded => "body_encoded",
            Self::Empty => "body_empty",
            Self::Broken => "body_broken",
        }
    }
}

/// Reads the body. What its headers already rule out is refused without reading.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn read(
    request: &HttpRequest,
    payload: &mut (impl Stream<Item = Result<Bytes, PayloadError>> + Unpin),
    bytes_max: usize,
    deadline: Duration,
) -> Result<Bytes, BodyError> {
    if is_encoded(request) {
        return Err(BodyError::Encoded);
    }
    let length = content_length(request);
    if length.is_some_and(|length| length > u64::try_from(bytes_max).unwrap_or(u64::MAX)) {
        return Err(BodyError::TooLong);
    }
    let reading = async {
        match length {
            Some(length) => to_bytes_limited(SizedStream::new(length, payload), bytes_max).await,
            None => to_bytes_limited(BodyStream::new(payload), bytes_max).await,
        }
    };
    let bytes = tokio::time::timeout(deadline, reading)
        .await
        .map_err(|_| BodyError::TooSlow)?
        .map_err(|_| BodyError::TooLong)?
        .map_err(|_| BodyError::Broken)?;
    if bytes.is_empty() {
        return Err(BodyError::Empty);
    }
    // Without a length the bytes stand in a buffer of 32 KiB, which would live as long as the event waits.
    Ok(if length.is_some() { bytes } else { Bytes::copy_from_slice(&bytes) })
}

fn content_length(request: &HttpRequest) -> Option<u64> {
    let value = request.headers().get(header::CONTENT_LENGTH)?;
    value.to_str().ok()?.trim().parse().ok()
}

fn is_encoded(request: &HttpRequest) -> bool {
    request.headers().get_all(header::CONTENT_ENCODING).any(|value| {
        value.to_str().map_or(true, |codings| {
            codings
                .split(',')
                .map(str::trim)
                .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
        })
    })
}
