//! The cache port without a service.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use application::ports::clock::Clock;
use application::ports::readiness::ReadinessCheck;
use application::ports::seen_events::{Seen, SeenEvents};
use async_trait::async_trait;
use domain::{EventKey, Fingerprint, Timestamp};

/// Remembers nothing: every event is asked of the database (`none:`).
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSeenEvents;

#[async_trait]
impl SeenEvents for NoSeenEvents {
    async fn look(&self, keys: &[EventKey]) -> Vec<Seen> {
        vec![Seen::Unknown; keys.len()]
    }

    async fn mark_committed(&self, _events: &[(EventKey, Fingerprint)]) {}
}

/// Remembers in this process's memory, at most so many events (`memory:`).
///
/// Two generations of half the capacity each: when the young one is full it becomes the old one, and the
/// old one is forgotten. That bounds the memory without a list to keep in order on every look.
pub struct MemorySeenEvents {
    generation_size: usize,
    mark_ttl: Duration,
    clock: Arc<dyn Clock>,
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<EventKey, Entry>,
    old: HashMap<EventKey, Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    meaning: Fingerprint,
    expires_at: Timestamp,
}

impl MemorySeenEvents {
    /// Remembers at most `capacity` events, each for `mark_ttl`.
    pub fn new(capacity: usize, mark_ttl: Duration, clock: Arc<dyn Clock>) -> Self {
        Self { generation_size: (capacity / 2).max(1), mark_ttl, clock, generations: Mutex::default() }
    }

    fn with_generations<T>(&self, work: impl FnOnce(&mut Generations) -> T) -> T {
        // A panic elsewhere cannot leave a half-made entry: each insert is one step.
        work(&mut self.generations.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Generations {
    fn look(&self, key: &EventKey, now: Timestamp) -> Seen {
        match self.young.get(key).or_else(|| self.old.get(key)) {
            Some(entry) if now < entry.expires_at => Seen::Committed(entry.meaning),
            _ => Seen::Unknown,
        }
    }

    fn insert(&mut self, key: EventKey, entry: Entry, generation_size: usize) {
        if self.young.len() >= generation_size && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, entry);
    }
}

#[async_trait]
impl SeenEvents for MemorySeenEvents {
    async fn look(&self, keys: &[EventKey]) -> Vec<Seen> {
        let now = self.clock.now();
        self.with_generations(|generations| keys.iter().map(|key| generations.look(key, now)).collect())
    }

    async fn mark_committed(&self, events: &[(EventKey, Fingerprint)]) {
        let expires_at = self.clock.now().plus(self.mark_ttl);
        self.with_generations(|generations| {
            for (key, fingerprint) in events {
                let entry = Entry { meaning: *fingerprint, expires_at };
                generations.insert(key.clone(), entry, self.generation_size);
            }
        });
    }
}

macro_rules! always_ready {
    ($cache:ty) => {
        #[async_trait]
        impl ReadinessCheck for $cache {
            fn component(&self) -> &'static str {
                "cache"
            }

            fn required(&self) -> bool {
                false
            }

            async fn check(&self) -> Result<(), String> {
                Ok(())
            }
        }
    };
}

// Nothing outside this process can be away.
always_ready!(NoSeenEvents);
always_ready!(MemorySeenEvents);

#[cfg(test)]
mod tests {
    use super::*;
    use application::testing::{FixedClock, event_key, succeeded};

    fn remembering(capacity: usize) -> MemorySeenEvents {
        let second = Duration::from_secs(1);
        MemorySeenEvents::new(capacity, second, Arc::new(FixedClock::at_micros(0)))
    }

    #[tokio::test]
    async fn memory_is_bounded_and_the_newest_are_kept() {
        let seen = remembering(10);
        let fingerprint = succeeded("evt", "pi", 1).fingerprint();
        for n in 0..1_000 {
            seen.mark_committed(&[(event_key(&format!("evt_{n}")), fingerprint)]).await;
        }
        let held = seen.with_generations(|g| g.young.len() + g.old.len());
        assert!(held <= 10, "{held}");
        assert_eq!(
            seen.look(&[event_key("evt_999"), event_key("evt_0")]).await,
            [Seen::Committed(fingerprint), Seen::Unknown]
        );
    }
}
