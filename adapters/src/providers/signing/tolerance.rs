//! How far a signature's time may be from ours.

use std::time::Duration;

use domain::Timestamp;

/// The length of a timestamp, in digits: enough for every moment that a clock can say.
const TIMESTAMP_DIGITS_MAX: usize = 18;

/// A tolerance on both sides. The age is judged once, on arrival.
#[derive(Debug, Clone, Copy)]
pub struct Tolerance(Duration);

impl Tolerance {
    /// That much before and after.
    pub const fn new(tolerance: Duration) -> Self {
        Self(tolerance)
    }

    /// Judges a signature of that moment, in seconds since the epoch.
    ///
    /// # Errors
    /// `signature_too_old` or `signature_too_new`.
    pub fn judge(self, signed_at: i64, now: Timestamp) -> Result<(), &'static str> {
        let now = now.as_secs();
        if now.abs_diff(signed_at) <= self.0.as_secs() {
            return Ok(());
        }
        Err(if signed_at < now { "signature_too_old" } else { "signature_too_new" })
    }
}

/// Seconds since the epoch, written in digits alone; `None` for anything else.
pub fn unix_seconds(text: &[u8]) -> Option<i64> {
    let digits = std::str::from_utf8(text).ok()?;
    let shaped =
        (1..=TIMESTAMP_DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    shaped.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_of_the_tolerance_is_inside_on_both_sides() {
        let (tolerance, now) =
            (Tolerance::new(Duration::from_mins(5)), Timestamp::from_micros(1_000_000_000));
        assert_eq!(tolerance.judge(700, now), Ok(()));
        assert_eq!(tolerance.judge(1_300, now), Ok(()));
        assert_eq!(tolerance.judge(699, now), Err("signature_too_old"));
        assert_eq!(tolerance.judge(1_301, now), Err("signature_too_new"));
        assert_eq!(tolerance.judge(i64::MIN, now), Err("signature_too_old"));
    }

    #[test]
    fn only_digits_are_a_time() {
        assert_eq!(unix_seconds(b"1700000000"), Some(1_700_000_000));
        for text in [&b""[..], b"-1", b"+1", b"1.5", b" 1", b"99999999999999999999", "١".as_bytes()] {
            assert_eq!(unix_seconds(text), None);
        }
    }
}
