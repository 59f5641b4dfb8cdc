//! What a load test found.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::accounting::Accounting;
use super::age::{Buckets, as_f64};

/// What a load test found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LoadtestReport {
    /// What the ids of the run's events start with; `None` when nothing was sent.
    pub run: Option<String>,
    /// Requests to be sent, copies included, each counted once however often it was tried.
    pub sent: u64,
    /// Distinct events ever answered 2xx.
    pub accepted: u64,
    /// Copies answered 2xx.
    pub copies: u64,
    /// Distinct events never answered 2xx that may have been stored all the same.
    pub uncertain: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Attempts not answered 2xx, by status or by what went wrong.
    pub refused: BTreeMap<String, u64>,
    /// Requests answered 2xx, copies included, per second, until the last one.
    pub accepted_per_second: Option<f64>,
    /// From when a request was due until it was answered 2xx.
    pub accept_ms: Option<AcceptLatency>,
    /// Distinct events settled since the start; `None` when that was not asked.
    pub committed: Option<u64>,
    /// Those per second, from the first request to the last commit; when nothing was sent, from the last
    /// moment at which nothing was committed yet.
    pub committed_per_second: Option<f64>,
    /// From the end of the sending to the last commit.
    pub drain_seconds: Option<f64>,
    /// Accepted events not committed when the time was over.
    pub missing: u64,
    /// From acceptance to commit, as the workers measured it.
    pub age_at_commit_ms: Option<AgeAtCommit>,
    /// Where the run's events are.
    pub accounting: Option<Accounting>,
    /// Whether the invariants were checked.
    pub audited: bool,
    /// Everything that a good run must not have; broken invariants among it.
    pub problems: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Percentiles of the accept latency, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AcceptLatency {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p99_9: f64,
    pub max: f64,
}

impl AcceptLatency {
    /// From microseconds.
    pub(super) fn of(latency: &Histogram<u64>) -> Option<Self> {
        let at = |share| as_f64(latency.value_at_quantile(share)) / 1_000.0;
        (!latency.is_empty()).then(|| Self {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            max: as_f64(latency.max()) / 1_000.0,
        })
    }
}

/// Percentiles of the age at commit, in milliseconds, interpolated.
#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AgeAtCommit {
    pub p50: f64,
    pub p99: f64,
}

impl AgeAtCommit {
    pub(super) fn of(ages: &Buckets) -> Option<Self> {
        Some(Self { p50: ages.quantile(0.5)? * 1_000.0, p99: ages.quantile(0.99)? * 1_000.0 })
    }
}

impl LoadtestReport {
    /// Whether every invariant that was checked holds, every accepted event is accounted for, and nothing
    /// that was waited for is missing.
    pub fn clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// How many of `count` a second; `None` for no time at all.
pub(super) fn per_second(count: u64, took: Duration) -> Option<f64> {
    (!took.is_zero()).then(|| as_f64(count) / took.as_secs_f64())
}

impl fmt::Display for LoadtestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines { f, begun: false };
        if let Some(run) = &self.run {
            lines.line("run", run)?;
            self.sending(&mut lines)?;
        }
        if let Some(committed) = self.committed {
            lines.line("committed", committed)?;
        }
        lines.number("committed/s", self.committed_per_second, 0)?;
        lines.number("drain s", self.drain_seconds, 2)?;
        if let Some(age) = self.age_at_commit_ms {
            lines.line("age at commit ms", format!("p50 {:.1}  p99 {:.1}", age.p50, age.p99))?;
        }
        if let Some(accounting) = &self.accounting {
            lines.line("applied", accounting.applied)?;
            lines.line("recorded", accounting.recorded)?;
            lines.line("dead letters", accounting.dead_lettered)?;
            lines.line("still queued", accounting.queued)?;
        }
        for note in &self.notes {
            lines.line("note", note)?;
        }
        for problem in &self.problems {
            lines.line("PROBLEM", problem)?;
        }
        if self.problems.is_empty() && self.audited {
            lines.line("audit", "every invariant holds")?;
        }
        Ok(())
    }
}

impl LoadtestReport {
    fn sending(&self, lines: &mut Lines<'_, '_>) -> fmt::Result {
        lines.line("sent", self.sent)?;
        lines.line("accepted", format!("{} events, {} copies", self.accepted, self.copies))?;
        for (status, count) in &self.refused {
            lines.line("refused", format!("{count} × {status}"))?;
        }
        if self.uncertain > 0 {
            lines.line("uncertain", self.uncertain)?;
        }
        if self.retries > 0 {
            lines.line("sent again", self.retries)?;
        }
        lines.number("accepted/s", self.accepted_per_second, 0)?;
        if let Some(ms) = self.accept_ms {
            let text = format!(
                "p50 {:.2}  p90 {:.2}  p99 {:.2}  p99.9 {:.2}  max {:.2}",
                ms.p50, ms.p90, ms.p99, ms.p99_9, ms.max
            );
            lines.line("accept ms", text)?;
        }
        Ok(())
    }
}

/// Lines with a break between them, and none at the end.
struct Lines<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    begun: bool,
}

impl Lines<'_, '_> {
    fn line(&mut self, name: &str, value: impl fmt::Display) -> fmt::Result {
        let line_break = if self.begun { "\n" } else { "" };
        self.begun = true;
        write!(self.f, "{line_break}{name:<18}{value}")
    }

    fn number(&mut self, name: &str, value: Option<f64>, digits: usize) -> fmt::Result {
        value.map_or(Ok(()), |value| self.line(name, format!("{value:.digits$}")))
    }
}
