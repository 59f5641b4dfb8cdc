//! When requests are due.
//!
//! At a rate, the times are fixed ahead and do not wait for answers; latency counts from them. Otherwise a
//! slow server would slow the sender down and hide the waits that its users would have had (coordinated
//! omission).

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// The longest sleep of the pacer, so that it notices soon that nobody sends any more.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// The times at which requests are due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    start: Instant,
    rate: Option<u32>,
}

impl Schedule {
    /// `rate` a second from `start` on; without a rate, each as soon as there is a connection for it.
    pub const fn new(start: Instant, rate: Option<u32>) -> Self {
        Self { start, rate }
    }

    pub const fn start(&self) -> Instant {
        self.start
    }

    /// When request number `index` is due; `None` for as soon as possible.
    pub fn due(&self, index: usize) -> Option<Instant> {
        let rate = u64::from(self.rate?);
        let index = u64::try_from(index).ok()?;
        let whole = Duration::from_secs(index / rate);
        let rest = Duration::from_nanos((index % rate) * 1_000_000_000 / rate);
        Some(self.start + whole + rest)
    }

    /// How many of `total` requests are due at `now`.
    fn due_at(&self, now: Instant, total: usize) -> usize {
        let Some(rate) = self.rate else { return total };
        let passed = now.saturating_duration_since(self.start).as_nanos();
        let due = passed * u128::from(rate) / 1_000_000_000 + 1;
        usize::try_from(due).map_or(total, |due| due.min(total))
    }
}

/// Hands out one permit for each of `total` requests once it is due, and then `more`, which tell as many
/// waiting senders that nothing is left.
///
/// A thread of its own, since the runtime's timer only knows milliseconds.
pub(super) fn pace(schedule: Schedule, total: usize, more: usize) -> std::io::Result<Arc<Semaphore>> {
    let permits = Arc::new(Semaphore::new(0));
    if schedule.rate.is_none() {
        permits.add_permits(total + more);
        return Ok(permits);
    }
    let weak = Arc::downgrade(&permits);
    std::thread::Builder::new()
        .name("pacer".to_owned())
        .spawn(move || hand_out(schedule, total, more, &weak))?;
    Ok(permits)
}

fn hand_out(schedule: Schedule, total: usize, more: usize, permits: &Weak<Semaphore>) {
    let mut given = 0;
    while let Some(permits) = permits.upgrade() {
        let due = schedule.due_at(Instant::now(), total);
        permits.add_permits(due.saturating_sub(given));
        given = given.max(due);
        if given == total {
            permits.add_permits(more);
            return;
        }
        drop(permits);
        if let Some(next) = schedule.due(given) {
            std::thread::sleep(next.saturating_duration_since(Instant::now()).min(SLEEP_MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_fixed_ahead() {
        let start = Instant::now();
        let schedule = Schedule::new(start, Some(1_000));
        assert_eq!(schedule.due(0), Some(start));
        assert_eq!(schedule.due(1), Some(start + Duration::from_millis(1)));
        assert_eq!(schedule.due(2_500), Some(start + Duration::from_millis(2_500)));
        let third = Schedule::new(start, Some(3)).due(3_000_000_001);
        assert_eq!(third, Some(start + Duration::from_nanos(1_000_000_000_333_333_333)));
    }

    #[test]
    fn flat_out_knows_no_times() {
        let schedule = Schedule::new(Instant::now(), None);
        assert_eq!(schedule.due(5), None);
        assert_eq!(schedule.due_at(Instant::now(), 7), 7);
    }

    #[test]
    fn what_is_due_follows_the_time_alone() {
        let start = Instant::now();
        let schedule = Schedule::new(start, Some(100));
        assert_eq!(schedule.due_at(start, 1_000), 1);
        assert_eq!(schedule.due_at(start + Duration::from_millis(95), 1_000), 10);
        assert_eq!(schedule.due_at(start + Duration::from_mins(1), 1_000), 1_000);
    }

    #[tokio::test]
    async fn the_pacer_keeps_the_rate_and_then_releases_every_sender() {
        let start = Instant::now();
        let permits = pace(Schedule::new(start, Some(200)), 20, 3).unwrap();
        permits.acquire_many(20).await.unwrap().forget();
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(94), "{took:?}");
        permits.acquire_many(3).await.unwrap().forget();
        assert_eq!(permits.available_permits(), 0);
    }

    #[test]
    fn the_pacer_ends_when_nobody_sends() {
        let permits = Arc::new(Semaphore::new(0));
        let weak = Arc::downgrade(&permits);
        drop(permits);
        hand_out(Schedule::new(Instant::now(), Some(1)), 1_000_000, 1, &weak);
    }
}
