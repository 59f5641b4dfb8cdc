//! How a sender writes a time.

use domain::Timestamp;

use crate::providers::moment::rfc3339_text;
use crate::providers::signing::unix_seconds;

/// The ways, by their names in the configuration.
pub const TIME_FORMATS: &[(&str, TimeFormat)] = &[
    ("unix", TimeFormat::Unix),
    ("unix-ms", TimeFormat::UnixMilliseconds),
    ("rfc3339", TimeFormat::Rfc3339),
];

/// A way to write a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeFormat {
    /// Whole seconds since the epoch, in digits.
    Unix,
    /// Whole milliseconds since the epoch, in digits.
    UnixMilliseconds,
    /// RFC 3339, with any offset.
    Rfc3339,
}

impl TimeFormat {
    /// The moment that `text` says; `None` when it says none.
    pub fn read(self, text: &str) -> Option<Timestamp> {
        let micros = |number: i64, scale: i64| number.checked_mul(scale).map(Timestamp::from_micros);
        match self {
            Self::Unix => micros(unix_seconds(text.as_bytes())?, 1_000_000),
            Self::UnixMilliseconds => micros(unix_seconds(text.as_bytes())?, 1_000),
            Self::Rfc3339 => rfc3339_text(text),
        }
    }

    /// The moment as text.
    pub fn write(self, at: Timestamp) -> String {
        match self {
            Self::Unix => at.as_secs().to_string(),
            Self::UnixMilliseconds => at.as_micros().div_euclid(1_000).to_string(),
            Self::Rfc3339 => {
                jiff::Timestamp::from_microsecond(at.as_micros()).map(|at| at.to_string()).unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_was_written_is_read_as_the_same() {
        let at = Timestamp::from_micros(1_704_164_645_123_000);
        for (format, expected) in [
            (TimeFormat::Unix, 1_704_164_645_000_000),
            (TimeFormat::UnixMilliseconds, 1_704_164_645_123_000),
            (TimeFormat::Rfc3339, 1_704_164_645_123_000),
        ] {
            assert_eq!(format.read(&format.write(at)), Some(Timestamp::from_micros(expected)));
        }
    }

    #[test]
    fn what_is_no_time_in_its_format_is_none() {
        for (format, text) in [
            (TimeFormat::Unix, "2024-01-02T03:04:05Z"),
            (TimeFormat::Unix, "1.5"),
            (TimeFormat::Unix, "99999999999999999"),
            (TimeFormat::UnixMilliseconds, "-1"),
            (TimeFormat::Rfc3339, "1704164645"),
        ] {
            assert_eq!(format.read(text), None, "{text}");
        }
    }
}
