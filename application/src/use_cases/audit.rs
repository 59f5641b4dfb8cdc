//! The invariants, checked on a live store.

use std::sync::Arc;

use crate::ports::BoxError;
use crate::ports::event_queue::{QueueDepths, QueueInspector};
use crate::ports::store_audit::{StoreAudit, StoreTotals, Violation};

/// How many violations of one invariant a report lists.
pub const VIOLATIONS_PER_INVARIANT_MAX: u32 = 100;

/// What the audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditReport {
    /// What is broken; empty when all is well.
    pub violations: Vec<Violation>,
    /// What the store has settled.
    pub totals: StoreTotals,
    /// What still waits.
    pub depths: QueueDepths,
}

impl AuditReport {
    /// Applied, recorded, dead-lettered and still queued: what the number of accepted events must equal.
    pub fn accounted_for(&self) -> u64 {
        self.totals.applied
            + self.totals.recorded
            + self.dead_letters()
            + self.depths.main
            + self.depths.retry
    }

    /// Dead letters, kept in the store or still in the queue.
    pub const fn dead_letters(&self) -> u64 {
        self.totals.dead_letters + self.depths.dead_letters
    }
}

/// Checks the invariants.
#[derive(Clone)]
pub struct Audit {
    store: Arc<dyn StoreAudit>,
    queue: Arc<dyn QueueInspector>,
}

impl Audit {
    /// Checks `store` and counts what waits in `queue`.
    pub fn new(store: Arc<dyn StoreAudit>, queue: Arc<dyn QueueInspector>) -> Self {
        Self { store, queue }
    }

    /// Runs every check. With `accepted`, the number of distinct events ever answered 2xx, also checks that
    /// each of them is accounted for; that is exact only while nothing is being sent or processed.
    ///
    /// # Errors
    /// The store or the broker cannot be read: nothing is said about the invariants.
    pub async fn run(&self, accepted: Option<u64>) -> Result<AuditReport, BoxError> {
        let mut violations = self.store.violations(VIOLATIONS_PER_INVARIANT_MAX).await?;
        let totals = self.store.totals(None).await?;
        let depths = self.queue.depths().await?;
        let mut report = AuditReport { violations: Vec::new(), totals, depths };
        if let Some(accepted) = accepted
            && accepted != report.accounted_for()
        {
            violations.push(Violation {
                invariant: "accepted_is_accounted_for",
                detail: format!(
                    "{accepted} accepted, but {} applied + {} recorded + {} dead letters + {} queued + {} waiting for a retry = {}",
                    totals.applied,
                    totals.recorded,
                    report.dead_letters(),
                    depths.main,
                    depths.retry,
                    report.accounted_for()
                ),
            });
        }
        report.violations = violations;
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::event_queue::MockQueueInspector;
    use crate::ports::store_audit::MockStoreAudit;

    fn audit(violations: Vec<Violation>) -> Audit {
        let mut store = MockStoreAudit::new();
        store.expect_violations().return_once(|_| Ok(violations));
        store.expect_totals().returning(|_| Ok(StoreTotals { applied: 7, recorded: 2, dead_letters: 4 }));
        let mut queue = MockQueueInspector::new();
        queue.expect_depths().returning(|| Ok(QueueDepths { main: 3, retry: 1, dead_letters: 1 }));
        Audit::new(Arc::new(store), Arc::new(queue))
    }

    #[tokio::test]
    async fn all_is_well_when_every_accepted_event_is_somewhere() {
        let report = audit(Vec::new()).run(Some(18)).await.unwrap();
        assert!(report.violations.is_empty(), "{report:?}");
    }

    #[tokio::test]
    async fn a_lost_or_invented_event_is_a_violation() {
        for accepted in [17, 19] {
            let report = audit(Vec::new()).run(Some(accepted)).await.unwrap();
            assert_eq!(report.violations.len(), 1);
            assert_eq!(report.violations[0].invariant, "accepted_is_accounted_for");
        }
    }

    #[tokio::test]
    async fn what_the_store_finds_is_reported() {
        let found = Violation { invariant: "key_processed_once", detail: "evt_1".to_owned() };
        assert_eq!(audit(vec![found.clone()]).run(None).await.unwrap().violations, [found]);
    }
}
