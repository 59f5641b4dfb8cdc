//! Counts answers, and knows of each event whether it was ever accepted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::connection::Answer;

/// The longest latency told apart, in microseconds.
const LATENCY_MAX_MICROS: u64 = 600_000_000;

/// One sender's counts.
#[derive(Debug)]
pub(super) struct Tally {
    /// Requests answered 2xx, copies included.
    pub accepted: u64,
    /// Copies answered 2xx.
    pub copies: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Attempts not answered 2xx, by status or by what went wrong.
    pub refused: BTreeMap<String, u64>,
    /// Microseconds from when a request was due until it was answered 2xx, attempts in between included.
    pub latency: Histogram<u64>,
    /// When the last 2xx came.
    pub last_accepted: Option<Instant>,
}

impl Tally {
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self {
            accepted: 0,
            copies: 0,
            retries: 0,
            refused: BTreeMap::new(),
            latency: Histogram::new_with_bounds(1, LATENCY_MAX_MICROS, 3)?,
            last_accepted: None,
        })
    }

    pub fn accept(&mut self, copy: bool, due: Instant, at: Instant) {
        self.accepted += 1;
        self.copies += u64::from(copy);
        self.latency.saturating_record(micros(at.saturating_duration_since(due)));
        self.last_accepted = self.last_accepted.max(Some(at));
    }

    pub fn refuse(&mut self, answer: &Answer) {
        *self.refused.entry(label(answer)).or_default() += 1;
    }

    pub fn merge(&mut self, other: Self) -> anyhow::Result<()> {
        self.accepted += other.accepted;
        self.copies += other.copies;
        self.retries += other.retries;
        for (status, count) in other.refused {
            *self.refused.entry(status).or_default() += count;
        }
        self.latency.add(other.latency)?;
        self.last_accepted = self.last_accepted.max(other.last_accepted);
        Ok(())
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Whether the provider is told that we have the event.
pub(super) fn is_acceptance(answer: &Answer) -> bool {
    matches!(answer, Answer::Status(200..=299, _))
}

fn label(answer: &Answer) -> String {
    match answer {
        Answer::Status(status, _) => status.to_string(),
        Answer::NotSent => "no connection".to_owned(),
        Answer::Broken => "connection broken".to_owned(),
        Answer::TimedOut => "timeout".to_owned(),
    }
}

/// Whether the event may have been stored although it was not accepted. What was never sent, or was refused
/// as the sender's mistake, was not.
fn may_be_stored(answer: &Answer) -> bool {
    !matches!(answer, Answer::NotSent | Answer::Status(400..=499, _))
}

/// What is known of each event.
#[derive(Debug)]
pub(super) struct Marks(Vec<AtomicU8>);

const ACCEPTED: u8 = 1;
const UNCERTAIN: u8 = 2;

impl Marks {
    pub fn new(events: u32) -> Self {
        Self((0..events).map(|_| AtomicU8::new(0)).collect())
    }

    pub fn note(&self, event: u32, answer: &Answer) {
        let mark = if is_acceptance(answer) {
            ACCEPTED
        } else if may_be_stored(answer) {
            UNCERTAIN
        } else {
            return;
        };
        if let Some(known) = usize::try_from(event).ok().and_then(|event| self.0.get(event)) {
            known.fetch_or(mark, Ordering::Relaxed);
        }
    }

    /// How many distinct events were ever answered 2xx.
    pub fn accepted(&self) -> u64 {
        self.count(|mark| mark & ACCEPTED != 0)
    }

    /// How many distinct events were never answered 2xx and may have been stored all the same.
    pub fn uncertain(&self) -> u64 {
        self.count(|mark| mark == UNCERTAIN)
    }

    fn count(&self, is: impl Fn(u8) -> bool) -> u64 {
        self.0.iter().map(|mark| u64::from(is(mark.load(Ordering::Relaxed)))).sum()
    }
}

#[cfg(test)]
mod tests {
    use hyper::body::Bytes;

    use super::*;

    fn status(status: u16) -> Answer {
        Answer::Status(status, Bytes::new())
    }

    #[test]
    fn an_event_is_accepted_once_however_often_it_was_answered() {
        let marks = Marks::new(6);
        for (event, answer) in [
            (0, status(200)),
            (0, status(200)),
            (1, status(503)),
            (1, status(202)),
            (2, status(503)),
            (3, Answer::TimedOut),
            (4, status(400)),
            (5, Answer::NotSent),
        ] {
            marks.note(event, &answer);
        }
        assert_eq!((marks.accepted(), marks.uncertain()), (2, 2));
    }

    #[test]
    fn tallies_add_up() {
        let start = Instant::now();
        let (mut one, mut other) = (Tally::new().unwrap(), Tally::new().unwrap());
        one.accept(false, start, start + Duration::from_millis(10));
        one.refuse(&status(503));
        other.accept(true, start, start + Duration::from_millis(30));
        other.refuse(&status(503));
        other.refuse(&Answer::TimedOut);
        one.merge(other).unwrap();
        assert_eq!((one.accepted, one.copies), (2, 1));
        assert_eq!(one.refused["503"], 2);
        assert_eq!(one.refused["timeout"], 1);
        assert_eq!(one.last_accepted, Some(start + Duration::from_millis(30)));
        let max = one.latency.max();
        assert!((30_000..30_100).contains(&max), "{max}");
    }
}
