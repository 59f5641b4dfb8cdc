//! What becomes of dead letters, and how many there are.

use std::sync::{Arc, Mutex, PoisonError};

use application::dead_letter::StateTotals;
use application::ports::dead_letter_observer::DeadLetterObserver;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Meter};

/// Counts by OpenTelemetry instruments.
pub struct OpenTelemetryDeadLetterObserver {
    archived: Counter<u64>,
    replays: Counter<u64>,
}

impl OpenTelemetryDeadLetterObserver {
    /// Makes the instruments on `meter`.
    pub fn new(meter: &Meter) -> Self {
        Self {
            archived: meter
                .u64_counter("payonce_dead_letters_archived")
                .with_description("Dead letters that were stored")
                .build(),
            replays: meter
                .u64_counter("payonce_dead_letter_replays")
                .with_description("Dead letters taken for a replay, by outcome")
                .build(),
        }
    }

    fn replay(&self, outcome: &'static str, count: usize) {
        self.replays.add(u64::try_from(count).unwrap_or(u64::MAX), &[KeyValue::new("outcome", outcome)]);
    }
}

impl DeadLetterObserver for OpenTelemetryDeadLetterObserver {
    fn archived(&self, count: u64) {
        self.archived.add(count, &[]);
    }

    fn replayed(&self, count: usize) {
        self.replay("published", count);
    }

    fn not_replayed(&self, count: usize) {
        self.replay("not_published", count);
    }
}

/// The numbers of letters that were read last; nothing while they cannot be read.
#[derive(Clone, Default)]
pub struct LatestLetterCounts(Arc<Mutex<Option<Vec<StateTotals>>>>);

impl LatestLetterCounts {
    /// Takes what was read, or that it could not be read.
    pub fn set(&self, counts: Option<Vec<StateTotals>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }
}

/// Registers the gauge `payonce_dead_letters_kept{state}`, and gives the place for what is read.
pub fn register_letter_counts(meter: &Meter) -> LatestLetterCounts {
    let latest = LatestLetterCounts::default();
    let observed = latest.clone();
    // The instrument lives in its meter; the handle is not needed.
    let _gauge = meter
        .u64_observable_gauge("payonce_dead_letters_kept")
        .with_description("Dead letters in the store, by state")
        .with_callback(move |gauge| {
            let counts = observed.0.lock().unwrap_or_else(PoisonError::into_inner);
            for total in counts.iter().flatten() {
                gauge.observe(total.letters, &[KeyValue::new("state", total.state.as_str())]);
            }
        })
        .build();
    latest
}

#[cfg(test)]
mod tests {
    use application::dead_letter::LetterState;

    use super::super::scrape::page;
    use super::*;

    #[test]
    fn replays_are_counted_by_outcome() {
        let lines = page(|meter| {
            let observer = OpenTelemetryDeadLetterObserver::new(meter);
            observer.archived(3);
            observer.replayed(2);
            observer.not_replayed(1);
        });
        for line in [
            "payonce_dead_letters_archived_total 3",
            r#"payonce_dead_letter_replays_total{outcome="published"} 2"#,
            r#"payonce_dead_letter_replays_total{outcome="not_published"} 1"#,
        ] {
            assert!(lines.iter().any(|found| found == line), "{line} in {lines:#?}");
        }
    }

    #[test]
    fn letters_are_told_by_state_only_as_long_as_they_are_counted() {
        let open = || vec![StateTotals { state: LetterState::Open, letters: 4, money: Vec::new() }];
        let lines = page(|meter| register_letter_counts(meter).set(Some(open())));
        assert_eq!(lines, [r#"payonce_dead_letters_kept{state="open"} 4"#]);
        let lines = page(|meter| {
            let latest = register_letter_counts(meter);
            latest.set(Some(open()));
            latest.set(None);
        });
        assert!(lines.is_empty(), "{lines:#?}");
    }
}
