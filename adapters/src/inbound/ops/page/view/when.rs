//! A moment, in UTC and in words.

use askama::Template;
use askama::filters::HtmlSafe;
use domain::Timestamp;

const MINUTE_SECS: u64 = 60;
const HOUR_SECS: u64 = 60 * MINUTE_SECS;
const DAY_SECS: u64 = 24 * HOUR_SECS;

/// A moment that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = r#"<time class="when" datetime="{{ machine }}">{{ text }}</time> <span class="ago">{{ ago }}</span>"#,
    ext = "html"
)]
pub struct When {
    machine: String,
    text: String,
    ago: String,
}

impl HtmlSafe for When {}

impl When {
    /// `at`, as it is seen from `now`.
    pub fn new(at: Timestamp, now: Timestamp) -> Self {
        // A moment that no calendar has is shown as what is stored.
        let Ok(moment) = jiff::Timestamp::from_microsecond(at.as_micros()) else {
            let raw = format!("{} µs", at.as_micros());
            return Self { machine: raw.clone(), text: raw, ago: String::new() };
        };
        Self {
            machine: moment.strftime("%Y-%m-%dT%H:%M:%S%.fZ").to_string(),
            text: moment.strftime("%e %b %Y, %H:%M:%S UTC").to_string().trim_start().to_owned(),
            ago: relative(at, now),
        }
    }

    /// In words only, such as `3 min ago`.
    pub fn ago(&self) -> &str {
        &self.ago
    }
}

fn relative(at: Timestamp, now: Timestamp) -> String {
    if at > now {
        return format!("in {}", span(at.since(now).as_secs()));
    }
    match now.since(at).as_secs() {
        0 => "just now".to_owned(),
        secs => format!("{} ago", span(secs)),
    }
}

/// So many seconds in one unit, rounded down.
pub fn span(secs: u64) -> String {
    if secs < MINUTE_SECS {
        format!("{secs} s")
    } else if secs < HOUR_SECS {
        format!("{} min", secs / MINUTE_SECS)
    } else if secs < DAY_SECS {
        format!("{} h", secs / HOUR_SECS)
    } else {
        format!("{} d", secs / DAY_SECS)
    }
}

/// What a form's field for a moment holds: RFC 3339, or a date and time without a zone, which is UTC.
pub fn parse(text: &str) -> Option<Timestamp> {
    let moment = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let civil = text.parse::<jiff::civil::DateTime>().ok()?;
        Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    })?;
    Some(Timestamp::from_micros(moment.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_796_000_400_000_000;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    #[test]
    fn a_moment_is_told_to_machines_and_to_people() {
        let when = When::new(at(1_000_000), at(61_000_000));
        assert_eq!(
            when.to_string(),
            r#"<time class="when" datetime="1970-01-01T00:00:01Z">1 Jan 1970, 00:00:01 UTC</time> <span class="ago">1 min ago</span>"#
        );
    }

    #[test]
    fn how_long_ago_is_told_in_one_unit() {
        for (secs, told) in [
            (0, "just now"),
            (59, "59 s ago"),
            (3_599, "59 min ago"),
            (86_399, "23 h ago"),
            (172_800, "2 d ago"),
        ] {
            assert_eq!(When::new(at(NOON), at(NOON + secs * 1_000_000)).ago(), told);
        }
        assert_eq!(When::new(at(NOON + 5_000_000), at(NOON)).ago(), "in 5 s");
    }

    #[test]
    fn a_moment_that_no_calendar_has_is_shown_all_the_same() {
        assert!(When::new(at(i64::MAX), at(0)).to_string().contains("9223372036854775807"));
    }

    #[test]
    fn a_field_without_a_zone_is_utc() {
        assert_eq!(parse("1970-01-01T00:01"), Some(at(60_000_000)));
        assert_eq!(parse("1970-01-01T00:00:02.5Z"), Some(at(2_500_000)));
        assert_eq!(parse("1970-01-01T02:00:00+02:00"), Some(at(0)));
        for text in ["", "yesterday", "1970-13-01T00:00"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
