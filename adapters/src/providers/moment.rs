//! Times as providers write them.

use domain::Timestamp;
use jiff::fmt::temporal::DateTimeParser;
use serde_json::value::RawValue;

use super::json::{Kind, string};

static PARSER: DateTimeParser = DateTimeParser::new();

/// Whole seconds since the epoch; `None` for anything else.
pub fn unix_seconds(value: &RawValue) -> Option<Timestamp> {
    if Kind::of(value) != Kind::Number {
        return None;
    }
    let seconds: i64 = value.get().parse().ok()?;
    seconds.checked_mul(1_000_000).map(Timestamp::from_micros)
}

/// An RFC 3339 text with any offset and any number of decimals; `None` for anything else, such as a date
/// that does not exist. A provider's odd time must never cost an event.
pub fn rfc3339(value: &RawValue) -> Option<Timestamp> {
    rfc3339_text(&string(value)?)
}

/// [`rfc3339`], from text.
pub fn rfc3339_text(text: &str) -> Option<Timestamp> {
    PARSER.parse_timestamp(text).ok().map(|at| Timestamp::from_micros(at.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_decimals_are_read() {
        let base = rfc3339_text("2024-01-02T03:04:05Z").unwrap();
        assert_eq!(base.as_secs(), 1_704_164_645);
        assert_eq!(rfc3339_text("2024-01-01T20:04:05-07:00"), Some(base));
        assert_eq!(
            rfc3339_text("2024-01-02T03:04:05.1234567Z").unwrap().as_micros() - base.as_micros(),
            123_456
        );
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in
            ["", "2024-19-01T00:00:00Z", "2024-02-30T00:00:00Z", "yesterday", "2024-01-02", "1700000000"]
        {
            assert_eq!(rfc3339_text(text), None, "{text}");
        }
    }
}
