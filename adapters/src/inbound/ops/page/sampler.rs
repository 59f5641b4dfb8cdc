//! What this process has counted in the last hour, so that a person sees at a glance where it is going. Kept in
//! memory, and no longer: whoever wants more has a Prometheus.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use application::DuplicateLayer;
use application::ports::event_queue::{QueueDepths, QueueInspector};

use super::super::server::Metrics;

/// How often it is counted.
pub const SAMPLE_INTERVAL: Duration = Duration::from_secs(15);

/// How many samples are kept: an hour of them.
pub const SAMPLES_MAX: usize = 240;

/// How long the queue may take to tell its depths.
const DEPTHS_TIMEOUT: Duration = Duration::from_secs(2);

/// The counters of this process at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Events answered 2xx, copies included.
    pub accepted: u64,
    /// Requests whose signature does not hold.
    pub refused: u64,
    /// Events with a committed effect.
    pub applied: u64,
    /// Events recorded as having none.
    pub recorded: u64,
    /// Attempts that failed and come again.
    pub retries: u64,
    /// Events given up.
    pub dead_letters: u64,
    /// Duplicates, by what knew: cache, batch, database.
    pub duplicates: [u64; 3],
}

impl Counted {
    /// Duplicates in all.
    pub fn duplicates_in_all(&self) -> u64 {
        self.duplicates.iter().sum()
    }

    /// Reads the Prometheus text format.
    pub fn read(text: &str) -> Self {
        let outcome =
            |outcome: &str| sum(text, "payonce_events_processed_total", &format!("outcome=\"{outcome}\""));
        let layer = |layer: DuplicateLayer| {
            sum(text, "payonce_duplicates_total", &format!("layer=\"{}\"", layer.as_str()))
        };
        Self {
            accepted: sum(text, "payonce_events_accepted_total", ""),
            refused: sum(text, "payonce_signature_refusals_total", ""),
            applied: outcome("applied"),
            recorded: outcome("recorded"),
            retries: sum(text, "payonce_retries_total", ""),
            dead_letters: sum(text, "payonce_dead_letters_total", ""),
            duplicates: [DuplicateLayer::Cache, DuplicateLayer::Batch, DuplicateLayer::Database].map(layer),
        }
    }
}

/// The sum of a counter's values whose labels have `label`.
fn sum(text: &str, name: &str, label: &str) -> u64 {
    let values = text.lines().filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let labels = series.strip_prefix(name)?;
        let is_this = labels.is_empty() || labels.starts_with('{');
        (is_this && labels.contains(label)).then(|| whole(value)).flatten()
    });
    values.sum()
}

/// A counter's value. The text format writes large ones with an exponent, such as `1.5e+06`.
fn whole(value: &str) -> Option<u64> {
    let (mantissa, exponent) = value.split_once(['e', 'E']).unwrap_or((value, "0"));
    let exponent: usize = exponent.trim_start_matches('+').parse().ok()?;
    let (digits, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(exponent).collect();
    format!("{digits}{fraction}").parse().ok()
}

/// One look at everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The counters.
    pub counted: Counted,
    /// What waited; `None` where that is not known.
    pub depths: Option<QueueDepths>,
}

/// The samples, the oldest first.
#[derive(Debug, Default)]
pub struct Samples(Mutex<VecDeque<Sample>>);

impl Samples {
    /// Adds one, and lets the oldest go when there are too many.
    pub fn push(&self, sample: Sample) {
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.len() >= SAMPLES_MAX {
            samples.pop_front();
        }
        samples.push_back(sample);
    }

    /// By how much a counter grew from sample to sample.
    pub fn growth(&self, counter: impl Fn(&Counted) -> u64) -> Vec<u64> {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let values: Vec<u64> = samples.iter().map(|sample| counter(&sample.counted)).collect();
        values.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
    }

    /// What waited in the main queue, and for another attempt.
    pub fn waiting(&self) -> Vec<u64> {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        samples.iter().filter_map(|sample| sample.depths).map(|depths| depths.main + depths.retry).collect()
    }
}

/// Takes samples for as long as somebody has them.
pub async fn take(samples: Weak<Samples>, metrics: Metrics, queue: Option<Arc<dyn QueueInspector>>) {
    while let Some(samples) = samples.upgrade() {
        match metrics() {
            Ok(text) => {
                samples
                    .push(Sample { counted: Counted::read(&text), depths: depths(queue.as_deref()).await });
            }
            Err(reason) => tracing::warn!(reason, "the metrics cannot be gathered"),
        }
        drop(samples);
        tokio::time::sleep(SAMPLE_INTERVAL).await;
    }
}

/// What waits now; `None` where nobody can tell in time.
pub async fn depths(queue: Option<&dyn QueueInspector>) -> Option<QueueDepths> {
    tokio::time::timeout(DEPTHS_TIMEOUT, queue?.depths()).await.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# HELP payonce_events_processed_total Events judged
# TYPE payonce_events_processed_total counter
payonce_events_processed_total{outcome=\"applied\",source=\"a\"} 3
payonce_events_processed_total{outcome=\"applied\",source=\"b\"} 4
payonce_events_processed_total{outcome=\"recorded\",source=\"a\"} 1
payonce_duplicates_total{layer=\"database\"} 2
payonce_events_accepted_total{source=\"a\"} 1.25e+06
payonce_retries_total 9
payonce_retries_total_of_another 100
";

    #[test]
    fn counters_are_summed_over_their_labels() {
        let counted = Counted::read(PAGE);
        assert_eq!((counted.applied, counted.recorded, counted.retries), (7, 1, 9));
        assert_eq!(counted.duplicates, [0, 0, 2]);
        assert_eq!(counted.accepted, 1_250_000);
    }

    #[test]
    fn what_is_not_there_is_zero() {
        assert_eq!(Counted::read(""), Counted::default());
        assert_eq!(Counted::read("payonce_retries_total{class=\"x\"} NaN\nnonsense"), Counted::default());
    }

    fn sample(accepted: u64, main: u64) -> Sample {
        let depths = Some(QueueDepths { main, retry: 1, dead_letters: 0 });
        Sample { counted: Counted { accepted, ..Counted::default() }, depths }
    }

    #[test]
    fn growth_is_from_sample_to_sample() {
        let samples = Samples::default();
        for accepted in [5, 7, 7, 12] {
            samples.push(sample(accepted, accepted));
        }
        assert_eq!(samples.growth(|counted| counted.accepted), [2, 0, 5]);
        assert_eq!(samples.waiting(), [6, 8, 8, 13]);
    }

    #[test]
    fn an_hour_is_kept_and_no_more() {
        let samples = Samples::default();
        for _ in 0..SAMPLES_MAX + 10 {
            samples.push(sample(0, 0));
        }
        assert_eq!(samples.waiting().len(), SAMPLES_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn sampling_ends_with_whoever_wants_the_samples() {
        let samples = Arc::new(Samples::default());
        let metrics: Metrics = Arc::new(|| Ok(PAGE.to_owned()));
        let sampling = tokio::spawn(take(Arc::downgrade(&samples), metrics, None));
        tokio::time::sleep(SAMPLE_INTERVAL * 2 + SAMPLE_INTERVAL / 2).await;
        assert_eq!(samples.growth(|counted| counted.applied), [0, 0]);
        drop(samples);
        sampling.await.expect("it ends");
    }
}
