//! Moments, as the API tells and takes them: RFC 3339.

use domain::Timestamp;

/// The moment as text, in UTC. What is outside of the years that RFC 3339 knows is told as the nearest moment.
pub fn rfc3339(at: Timestamp) -> String {
    let nearest = if at.as_micros() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or(nearest).to_string()
}

/// The moment of a text with its offset from UTC.
pub fn parse(text: &str) -> Result<Timestamp, &'static str> {
    let at: jiff::Timestamp =
        text.parse().map_err(|_| "is not a moment such as 2026-11-29T20:00:00Z (RFC 3339)")?;
    Ok(Timestamp::from_micros(at.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_that_was_told_can_be_read_again() {
        let at = Timestamp::from_micros(1_700_000_000_000_001);
        assert_eq!(rfc3339(at), "2023-11-14T22:13:20.000001Z");
        assert_eq!(parse(&rfc3339(at)), Ok(at));
        assert_eq!(parse("2023-11-14T23:13:20.000001+01:00"), Ok(at));
    }

    #[test]
    fn any_moment_can_be_told() {
        for micros in [i64::MIN, 0, i64::MAX] {
            assert!(rfc3339(Timestamp::from_micros(micros)).ends_with('Z'));
        }
    }

    #[test]
    fn a_moment_without_its_offset_is_refused() {
        for text in ["", "yesterday", "2023-11-14", "2023-11-14T22:13:20"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
