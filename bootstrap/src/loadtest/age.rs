//! The age at commit, read from the workers' metrics.

use std::time::Duration;

use anyhow::{Context as _, bail};
use hyper::Method;
use hyper::body::Bytes;

use super::connection::{Answer, Connection, Target};

const BUCKET: &str = "payonce_age_at_commit_seconds_bucket";
const SCRAPE_TIMEOUT: Duration = Duration::from_secs(5);

/// A histogram as Prometheus tells it: for each upper limit in ascending order, how many are at most that.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Buckets(Vec<(f64, u64)>);

impl Buckets {
    /// The age at commit in a Prometheus text, all labels together.
    pub fn parse(text: &str) -> Self {
        let mut all = Self::default();
        for line in text.lines() {
            if let Some((limit, count)) = bucket(line) {
                all.add(limit, count);
            }
        }
        all
    }

    fn add(&mut self, limit: f64, count: u64) {
        match self.0.binary_search_by(|(other, _)| other.total_cmp(&limit)) {
            Ok(at) => self.0[at].1 += count,
            Err(at) => self.0.insert(at, (limit, count)),
        }
    }

    fn total(&self) -> u64 {
        self.0.last().map_or(0, |&(_, count)| count)
    }

    /// What was added since `before`; all of it if the process was started again in between.
    pub fn since(&self, before: &Self) -> Self {
        if self.total() < before.total() {
            return self.clone();
        }
        let earlier = |limit: f64| {
            let same = before.0.iter().find(|(other, _)| other.total_cmp(&limit).is_eq());
            same.map_or(0, |&(_, count)| count)
        };
        let added = |&(limit, count): &(f64, u64)| (limit, count.saturating_sub(earlier(limit)));
        Self(self.0.iter().map(added).collect())
    }

    /// Both together.
    pub fn and(mut self, other: &Self) -> Self {
        for &(limit, count) in &other.0 {
            self.add(limit, count);
        }
        self
    }

    /// The value that this share of all are at most, by a straight line through its bucket; the last finite
    /// limit when it is beyond.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = share * as_f64(self.total());
        let (mut lower, mut below) = (0.0, 0.0);
        for &(limit, count) in &self.0 {
            let count = as_f64(count);
            if count >= rank && count > below {
                let within = (rank - below).max(0.0) / (count - below);
                return Some(if limit.is_finite() { lower + (limit - lower) * within } else { lower });
            }
            below = count;
            if limit.is_finite() {
                lower = limit;
            }
        }
        None
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a load test are far below 2^52")]
pub(super) const fn as_f64(count: u64) -> f64 {
    count as f64
}

/// The limit and the count of a line, if it is one of ours: `name{a="b",le="0.5"} 12`.
fn bucket(line: &str) -> Option<(f64, u64)> {
    let (labels, value) = line.strip_prefix(BUCKET)?.strip_prefix('{')?.rsplit_once('}')?;
    let limit = match label(labels, "le")? {
        "+Inf" => f64::INFINITY,
        limit => limit.parse().ok()?,
    };
    let value = value.split_ascii_whitespace().next()?;
    Some((limit, value.parse().ok()?))
}

/// The value of a label, as written. A value may hold commas, braces and escaped quotes.
fn label<'a>(mut labels: &'a str, wanted: &str) -> Option<&'a str> {
    loop {
        let (name, rest) = labels.split_once("=\"")?;
        let mut escaped = false;
        let end = rest.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        if name.trim_start_matches([',', ' ']) == wanted {
            return Some(&rest[..end]);
        }
        labels = &rest[end + 1..];
    }
}

/// Reads the metrics of every worker.
pub(super) async fn scrape(targets: &[Target]) -> anyhow::Result<Vec<Buckets>> {
    let mut all = Vec::with_capacity(targets.len());
    for target in targets {
        let mut connection = Connection::new(target.clone());
        let request = target.request(Method::GET, Bytes::new());
        match connection.send(request, SCRAPE_TIMEOUT).await {
            Answer::Status(200, body) => {
                all.push(Buckets::parse(std::str::from_utf8(&body).context("the metrics are not text")?));
            }
            Answer::Status(status, _) => bail!("the metrics of {target} were answered {status}"),
            Answer::NotSent => bail!("there is no connection to the metrics of {target}"),
            Answer::Broken | Answer::TimedOut => bail!("the metrics of {target} got no answer"),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# TYPE payonce_age_at_commit_seconds histogram
payonce_age_at_commit_seconds_bucket{source="payment",le="0.1"} 10
payonce_age_at_commit_seconds_bucket{source="payment",le="0.2"} 30
payonce_age_at_commit_seconds_bucket{source="payment",le="+Inf"} 40
payonce_age_at_commit_seconds_bucket{source="a\"},le=\"9",le="0.1"} 1
payonce_age_at_commit_seconds_bucket{source="a\"},le=\"9",le="0.2"} 1
payonce_age_at_commit_seconds_bucket{source="a\"},le=\"9",le="+Inf"} 1
payonce_age_at_commit_seconds_sum{source="payment"} 7.5
payonce_age_at_commit_seconds_count{source="payment"} 40
payonce_batch_seconds_bucket{le="0.1"} 99
"#;

    fn buckets(counts: [u64; 3]) -> Buckets {
        Buckets(vec![(0.1, counts[0]), (0.2, counts[1]), (f64::INFINITY, counts[2])])
    }

    #[test]
    fn labels_are_summed_per_limit() {
        assert_eq!(Buckets::parse(TEXT), buckets([11, 31, 41]));
        assert_eq!(Buckets::parse("something else"), Buckets::default());
    }

    #[test]
    fn only_what_was_added_counts_unless_the_worker_started_again() {
        let (before, after) = (buckets([10, 20, 20]), buckets([15, 30, 40]));
        assert_eq!(after.since(&before), buckets([5, 10, 20]));
        assert_eq!(before.since(&after), before);
        assert_eq!(before.clone().and(&after), buckets([25, 50, 60]));
    }

    #[test]
    fn quantiles_lie_on_a_line_through_their_bucket() {
        let near = |actual: Option<f64>, expected: f64| {
            assert!((actual.unwrap() - expected).abs() < 1e-9, "{actual:?} {expected}");
        };
        near(buckets([10, 20, 20]).quantile(0.25), 0.05);
        near(buckets([10, 20, 20]).quantile(0.5), 0.1);
        near(buckets([10, 20, 20]).quantile(0.75), 0.15);
        near(buckets([0, 20, 20]).quantile(0.5), 0.15);
        near(buckets([10, 10, 20]).quantile(0.99), 0.2);
        near(buckets([0, 20, 20]).quantile(0.0), 0.1);
        assert_eq!(buckets([0, 0, 0]).quantile(0.5), None);
        assert_eq!(Buckets::default().quantile(0.5), None);
    }
}
