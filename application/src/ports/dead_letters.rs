//! The dead letters in the store.

use async_trait::async_trait;

use super::unit_of_work::StoreError;
use crate::dead_letter::{
    DeadLetter, DeadLetterId, DeadLetterSummary, GroupTotals, LetterCursor, LetterFilter, LetterState,
    MoneyTotal, NewDeadLetter, StateTotals,
};
use crate::operator::OperatorOrder;

/// The most letters of a page.
pub const PAGE_LETTERS_MAX: u32 = 500;

/// The most groups that are told.
pub const GROUPS_MAX: u32 = 500;

/// Some letters, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterPage {
    /// The letters.
    pub letters: Vec<DeadLetterSummary>,
    /// Where the list goes on; `None` at its end.
    pub next: Option<LetterCursor>,
}

/// What was discarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discarded {
    /// The letters. Those that are not among them were not open, or do not exist.
    pub ids: Vec<DeadLetterId>,
    /// What they are about, by currency.
    pub money: Vec<MoneyTotal>,
}

/// Keeps dead letters. All but [`store`](Self::store) is about the letters of one consumer.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// Stores letters, all of them or none, and gives the number of those that were not there. Any payload
    /// MUST be kept byte for byte; any text MUST be storable. A letter whose arrival is stored MUST NOT be
    /// stored again. But one that has been replayed, or is about to be, may have come back as a message that
    /// cannot be told from the first: it MUST be open again (once its job has published it), so that at worst
    /// an operator sees it twice, and never not at all.
    async fn store(&self, letters: Vec<NewDeadLetter>) -> Result<u64, StoreError>;

    /// A page of the letters of `filter` in `state`, or in any, the newest first, after the cursor. At most
    /// `limit`, which is at most [`PAGE_LETTERS_MAX`].
    async fn page(
        &self,
        filter: &LetterFilter,
        state: Option<LetterState>,
        after: Option<LetterCursor>,
        limit: u32,
    ) -> Result<LetterPage, StoreError>;

    /// One letter, whole.
    async fn get(&self, id: DeadLetterId) -> Result<Option<DeadLetter>, StoreError>;

    /// The letters of `filter` by what they failed of, the most numerous groups first. At most `limit`, which
    /// is at most [`GROUPS_MAX`]. MUST read one state of the store.
    async fn groups(&self, filter: &LetterFilter, limit: u32) -> Result<Vec<GroupTotals>, StoreError>;

    /// The letters of `filter` by state, each state once.
    async fn counts(&self, filter: &LetterFilter) -> Result<Vec<StateTotals>, StoreError>;

    /// Discards those of the letters that are open, keeps their bytes, and writes down who ordered it, in one
    /// transaction.
    async fn discard(&self, ids: &[DeadLetterId], order: &OperatorOrder) -> Result<Discarded, StoreError>;
}
