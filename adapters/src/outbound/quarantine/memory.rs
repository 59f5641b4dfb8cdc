//! In memory: gone with the process.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use application::ports::quarantine::{Quarantine, QuarantineError, Quarantined, RejectedRequest};
use async_trait::async_trait;

use super::settings::{QuarantineLimits, bytes_of};

/// Keeps the newest rejected requests in memory.
pub struct MemoryQuarantine {
    limits: QuarantineLimits,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    requests: VecDeque<Quarantined>,
    bytes: u64,
    last_id: i64,
}

impl MemoryQuarantine {
    /// Empty.
    pub fn new(limits: QuarantineLimits) -> Self {
        Self { limits, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing in here panics half way.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Quarantine for MemoryQuarantine {
    fn keep(&self, request: RejectedRequest) {
        let bytes = bytes_of(&request);
        if bytes > self.limits.bytes_max || self.limits.entries_max == 0 {
            return;
        }
        let mut kept = self.kept();
        kept.last_id += 1;
        let id = kept.last_id;
        kept.bytes += bytes;
        kept.requests.push_back(Quarantined { id, request });
        let entries_max = usize::try_from(self.limits.entries_max).unwrap_or(usize::MAX);
        while kept.requests.len() > entries_max || kept.bytes > self.limits.bytes_max {
            let Some(oldest) = kept.requests.pop_front() else { break };
            kept.bytes -= bytes_of(&oldest.request);
        }
    }

    async fn list(&self, before: Option<i64>, limit: u32) -> Result<Vec<Quarantined>, QuarantineError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let kept = self.kept();
        let older = kept.requests.iter().rev().filter(|one| before.is_none_or(|before| one.id < before));
        Ok(older.take(limit).cloned().collect())
    }

    async fn get(&self, id: i64) -> Result<Option<Quarantined>, QuarantineError> {
        Ok(self.kept().requests.iter().find(|one| one.id == id).cloned())
    }

    async fn remove(&self, id: i64) -> Result<bool, QuarantineError> {
        let mut kept = self.kept();
        let Some(place) = kept.requests.iter().position(|one| one.id == id) else { return Ok(false) };
        if let Some(removed) = kept.requests.remove(place) {
            kept.bytes -= bytes_of(&removed.request);
        }
        Ok(true)
    }
}
