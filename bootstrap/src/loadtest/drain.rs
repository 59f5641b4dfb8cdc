//! Waits until what was accepted is committed.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::time::{sleep, timeout};

/// How often progress is asked for.
const POLL: Duration = Duration::from_millis(100);

/// After how long without progress nothing moves any more.
pub(super) const QUIET: Duration = Duration::from_secs(2);

/// Tells how far the system under test is.
#[async_trait]
pub(super) trait Progress: Send + Sync {
    /// How many distinct events are settled; may start anywhere, and grows by one an event.
    async fn committed(&self) -> anyhow::Result<u64>;

    /// How many messages wait; `None` if that cannot be asked.
    async fn waiting(&self) -> anyhow::Result<Option<u64>> {
        Ok(None)
    }
}

/// What is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Goal {
    /// So many events are committed.
    Committed(u64),
    /// Nothing waits and, for this long, nothing was committed. Where the queue cannot be asked, something
    /// must have been committed.
    Quiet(Duration),
}

/// What was seen.
#[derive(Debug)]
pub(super) struct Drained {
    /// How many events were committed since the baseline.
    pub committed: u64,
    /// Whether the goal was reached.
    pub reached: bool,
    /// When nothing had been committed yet, for the last time that was asked.
    pub idle_until: Instant,
    /// When the last commit was seen.
    pub last_commit: Instant,
    /// Why the last question got no answer, if it got none.
    pub error: Option<anyhow::Error>,
}

impl Drained {
    pub fn missing(&self, goal: Goal) -> u64 {
        match goal {
            Goal::Committed(wanted) => wanted.saturating_sub(self.committed),
            Goal::Quiet(_) => 0,
        }
    }
}

/// Waits until `goal` is reached or `within` is over. A question without an answer is asked again: the
/// store may be the thing that is being broken. `seen` is told of each answer.
pub(super) async fn drain(
    progress: &dyn Progress,
    goal: Goal,
    baseline: u64,
    within: Duration,
    seen: impl Fn(u64) + Sync,
) -> Drained {
    let start = Instant::now();
    let mut drained =
        Drained { committed: 0, reached: false, idle_until: start, last_commit: start, error: None };
    loop {
        let asked = Instant::now();
        let left = within.saturating_sub(start.elapsed());
        match timeout(left.max(POLL), look(progress, goal, baseline, asked, &mut drained)).await {
            Ok(Ok(reached)) => {
                drained.reached = reached;
                drained.error = None;
            }
            Ok(Err(error)) => drained.error = Some(error),
            Err(_) => drained.error = Some(anyhow::anyhow!("no answer in time")),
        }
        seen(drained.committed);
        if drained.reached || start.elapsed() >= within {
            return drained;
        }
        sleep(POLL).await;
    }
}

/// Asks once; whether the goal is reached.
async fn look(
    progress: &dyn Progress,
    goal: Goal,
    baseline: u64,
    asked: Instant,
    drained: &mut Drained,
) -> anyhow::Result<bool> {
    let committed = progress.committed().await?.saturating_sub(baseline);
    if committed > drained.committed {
        drained.committed = committed;
        drained.last_commit = asked;
    } else if drained.committed == 0 {
        drained.idle_until = asked;
    }
    match goal {
        Goal::Committed(wanted) => Ok(drained.committed >= wanted),
        Goal::Quiet(quiet) => {
            let idle = asked.duration_since(drained.last_commit) >= quiet;
            let waits = match progress.waiting().await? {
                Some(waiting) => waiting > 0,
                None => drained.committed == 0,
            };
            Ok(idle && !waits)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Commits `step` events each time it is asked, up to `most`, and then starts to fail if it shall.
    struct Steps {
        step: u64,
        most: u64,
        committed: AtomicU64,
        waiting: Option<u64>,
        fails_at: Option<u64>,
    }

    fn steps(step: u64, most: u64) -> Steps {
        Steps { step, most, committed: AtomicU64::new(0), waiting: None, fails_at: None }
    }

    #[async_trait]
    impl Progress for Steps {
        async fn committed(&self) -> anyhow::Result<u64> {
            let committed = self.committed.fetch_add(self.step, Ordering::Relaxed).min(self.most);
            anyhow::ensure!(Some(committed) != self.fails_at, "the store is away");
            Ok(committed)
        }

        async fn waiting(&self) -> anyhow::Result<Option<u64>> {
            Ok(self.waiting)
        }
    }

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn the_drain_ends_when_enough_is_committed_beyond_the_baseline() {
        let goal = Goal::Committed(20);
        let drained = drain(&steps(10, 1_000), goal, 10, LONG, |_| ()).await;
        assert!(drained.reached);
        assert_eq!((drained.committed, drained.missing(goal)), (20, 0));
        let took = drained.last_commit - drained.idle_until;
        assert!((POLL * 2..LONG).contains(&took), "{took:?}");
    }

    #[tokio::test]
    async fn what_is_missing_at_the_end_is_told() {
        let goal = Goal::Committed(50);
        let drained = drain(&steps(10, 10), goal, 0, POLL * 4, |_| ()).await;
        assert!(!drained.reached);
        assert_eq!((drained.committed, drained.missing(goal)), (10, 40));
    }

    #[tokio::test]
    async fn an_unanswered_question_is_asked_again() {
        let mut progress = steps(10, 30);
        progress.fails_at = Some(20);
        let drained = drain(&progress, Goal::Committed(30), 0, LONG, |_| ()).await;
        assert!(drained.reached && drained.error.is_none());
        progress.fails_at = Some(30);
        let drained = drain(&progress, Goal::Committed(40), 0, POLL * 2, |_| ()).await;
        assert_eq!(drained.error.unwrap().to_string(), "the store is away");
    }

    #[tokio::test]
    async fn quiet_is_when_nothing_waits_and_nothing_moves() {
        let quiet = Goal::Quiet(POLL * 3);
        let mut progress = steps(10, 30);
        let drained = drain(&progress, quiet, 0, LONG, |_| ()).await;
        assert!(drained.reached);
        assert_eq!(drained.committed, 30);

        progress.waiting = Some(1);
        assert!(!drain(&progress, quiet, 0, POLL * 6, |_| ()).await.reached, "something waits");
        let nothing = drain(&steps(0, 0), quiet, 0, POLL * 6, |_| ()).await;
        assert!(!nothing.reached, "nothing has begun");
    }
}
