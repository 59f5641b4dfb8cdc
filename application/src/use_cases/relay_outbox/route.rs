//! What goes to a destination, and how often it is tried.

use std::time::Duration;

use crate::ports::outbox::Start;

/// Which kinds of messages a destination wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindFilter(Vec<String>);

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no pattern of kinds; it is to be a kind such as payment.succeeded, or its start and a *, such as payment.*"
)]
pub struct PatternError(String);

impl KindFilter {
    /// Kinds that equal one of `patterns`, or start with what stands before its `*`. Without a pattern all are
    /// wanted.
    ///
    /// # Errors
    /// A pattern is blank, or has a `*` before its end or a character that no kind has.
    pub fn parse(patterns: &[String]) -> Result<Self, PatternError> {
        let in_alphabet = |c: char| c.is_ascii_lowercase() || c == '.' || c == '_';
        for pattern in patterns {
            let start = pattern.strip_suffix('*').unwrap_or(pattern);
            if pattern.is_empty() || !start.chars().all(in_alphabet) {
                return Err(PatternError(pattern.clone()));
            }
        }
        Ok(Self(patterns.to_vec()))
    }

    /// Whether messages of that kind are wanted.
    pub fn wants(&self, kind: &str) -> bool {
        self.0.is_empty()
            || self.0.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => kind.starts_with(start),
                None => kind == pattern,
            })
    }
}

/// The way to one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The destination's name.
    pub name: String,
    /// What it wants.
    pub kinds: KindFilter,
    /// Where it begins when it is new.
    pub start: Start,
    /// How often a message is tried before it is given up; at least 1.
    pub attempts_max: u32,
    /// A message that has been tried in vain for longer is given up.
    pub max_age: Duration,
    /// How long a message waits after its first failure; it doubles up to [`RETRY_DELAY_MAX`], with jitter.
    pub retry_delay: Duration,
}

/// The longest time between two attempts of a message.
pub const RETRY_DELAY_MAX: Duration = Duration::from_hours(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(patterns: &[&str]) -> Result<KindFilter, PatternError> {
        KindFilter::parse(&patterns.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn without_a_pattern_every_kind_is_wanted() {
        assert!(filter(&[]).unwrap().wants("payment.succeeded"));
    }

    #[test]
    fn a_kind_is_wanted_by_its_name_or_by_its_start() {
        let wanted = filter(&["payment.succeeded", "payout.*"]).unwrap();
        assert!(wanted.wants("payment.succeeded") && wanted.wants("payout.paid"));
        assert!(!wanted.wants("payment.refunded") && !wanted.wants("payment.succeeded.late"));
        assert!(filter(&["*"]).unwrap().wants("payment.refunded"));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in ["", "*.paid", "payment.**", "Payment.*", "payment succeeded"] {
            assert!(filter(&[pattern]).is_err(), "{pattern}");
        }
    }
}
