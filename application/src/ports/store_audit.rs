//! Reads the store for the audit.

use async_trait::async_trait;

use super::unit_of_work::StoreError;

/// One row, or group of rows, that breaks an invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The invariant's name.
    pub invariant: &'static str,
    /// Which row, and what is wrong with it.
    pub detail: String,
}

/// How many events the store accounts for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct StoreTotals {
    /// Events with a committed effect.
    pub applied: u64,
    /// Events recorded as having none.
    pub recorded: u64,
    /// Events that are given up, or about to be replayed: each once, however often it was given up, and not those
    /// that were settled all the same. One whose key had another meaning before is an event of its own. Messages
    /// that could not be read have no id; they are counted where no prefix is given.
    pub dead_letters: u64,
}

/// Looks for broken invariants.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait StoreAudit: Send + Sync {
    /// Every violation, at most `limit` for each invariant. MUST read one consistent state.
    async fn violations(&self, limit: u32) -> Result<Vec<Violation>, StoreError>;

    /// The totals, with events that were removed since because of their age; only events whose id starts with
    /// `prefix`, where one is given, and of them only those that are still there.
    async fn totals<'a>(&self, prefix: Option<&'a str>) -> Result<StoreTotals, StoreError>;
}
