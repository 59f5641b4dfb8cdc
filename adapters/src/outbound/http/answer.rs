//! What an answer means.

use std::time::Duration;

use application::error_chain::describe;
use application::ports::destination::DeliveryOutcome;
use domain::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

static DATES: DateTimeParser = DateTimeParser::new();

/// How long an endpoint is left alone that has too many requests and does not say how long.
const TOO_MANY_REQUESTS_WAIT: Duration = Duration::from_secs(5);

/// Judges an answer. Only 2xx is success: a redirect is not followed, since a signed message is for whom it is
/// addressed to. The body is of no concern.
pub(super) fn judge(
    status: StatusCode,
    headers: &HeaderMap,
    now: Timestamp,
    retry_after_max: Duration,
) -> DeliveryOutcome {
    let error = format!("HTTP {}", status.as_u16());
    let asked = || wait_asked_for(headers, now).map(|wait| wait.min(retry_after_max));
    match status.as_u16() {
        200..=299 => DeliveryOutcome::Delivered,
        429 => {
            let wait = asked().unwrap_or(TOO_MANY_REQUESTS_WAIT.min(retry_after_max));
            DeliveryOutcome::Unavailable { error, retry_after: Some(wait) }
        }
        // The endpoint, or what stands before it, rather than the message.
        502..=504 => DeliveryOutcome::Unavailable { error, retry_after: asked() },
        300..=399 => DeliveryOutcome::Refused { error: format!("{error}: redirects are not followed") },
        _ => DeliveryOutcome::Refused { error },
    }
}

/// How long a message waits at least for which there was no connection.
const CONNECT_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// What it means that there was no answer. The error tells no URL, which may hold a token.
pub(super) fn no_answer(error: reqwest::Error, timeout: Duration) -> DeliveryOutcome {
    // Without a connection the message was not seen, so it cannot be the reason.
    let retry_after = error.is_connect().then_some(CONNECT_AGAIN_AFTER);
    let error = if error.is_timeout() {
        format!("no answer within {} ms", timeout.as_millis())
    } else {
        describe(&error.without_url())
    };
    DeliveryOutcome::Unavailable { error, retry_after }
}

/// `Retry-After`, in either form; a moment that is past is no wait.
fn wait_asked_for(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = DATES.parse_timestamp(value).ok()?;
    Some(Timestamp::from_micros(moment.as_microsecond()).since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_mins(10);
    /// 1994-11-06T08:49:37Z
    const NOW: Timestamp = Timestamp::from_micros(784_111_777_000_000);

    fn judged(status: u16, retry_after: Option<&str>) -> DeliveryOutcome {
        let mut headers = HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert(RETRY_AFTER, value.parse().unwrap());
        }
        judge(StatusCode::from_u16(status).unwrap(), &headers, NOW, MAX)
    }

    fn wait(status: u16, retry_after: Option<&str>) -> Option<Duration> {
        match judged(status, retry_after) {
            DeliveryOutcome::Unavailable { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_2xx_is_success() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(judged(status, None), DeliveryOutcome::Delivered);
        }
        for status in [301, 302, 307, 400, 401, 404, 409, 410, 500, 501] {
            assert!(matches!(judged(status, None), DeliveryOutcome::Refused { .. }), "{status}");
        }
    }

    #[test]
    fn an_endpoint_that_is_not_there_is_told_from_one_that_does_not_want_a_message() {
        for status in [429, 502, 503, 504] {
            assert!(matches!(judged(status, None), DeliveryOutcome::Unavailable { .. }), "{status}");
        }
    }

    #[test]
    fn a_wait_that_is_asked_for_is_understood_in_both_forms_and_has_a_limit() {
        assert_eq!(wait(503, Some("120")), Some(Duration::from_mins(2)));
        assert_eq!(wait(503, Some("Sun, 06 Nov 1994 08:51:37 GMT")), Some(Duration::from_mins(2)));
        assert_eq!(wait(429, Some("Sun, 06 Nov 1994 08:49:00 GMT")), Some(Duration::ZERO));
        assert_eq!(wait(429, Some("86400")), Some(MAX));
        assert_eq!(wait(429, None), Some(TOO_MANY_REQUESTS_WAIT));
    }

    #[test]
    fn a_wait_that_is_not_understood_is_none() {
        for value in ["soon", "-1", "1.5", ""] {
            assert_eq!(wait(503, Some(value)), None, "{value}");
        }
    }
}
