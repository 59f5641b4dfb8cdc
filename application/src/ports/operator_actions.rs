//! What operators have done. Added to, never changed.

use async_trait::async_trait;

use super::unit_of_work::StoreError;
use crate::operator::OperatorAction;

/// The most actions of a page.
pub const ACTIONS_MAX: u32 = 500;

/// An action, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAction {
    /// Its number. A later one has a higher number.
    pub id: i64,
    /// What was done.
    pub action: OperatorAction,
}

/// The record of what operators have done. The store itself MUST refuse to change or remove what is in it.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait OperatorActions: Send + Sync {
    /// Adds an action. Those that are about dead letters and replays add themselves.
    async fn record(&self, action: &OperatorAction) -> Result<(), StoreError>;

    /// The actions of lower numbers than `before`, the newest first. At most `limit`, which is at most
    /// [`ACTIONS_MAX`].
    async fn page(&self, before: Option<i64>, limit: u32) -> Result<Vec<RecordedAction>, StoreError>;
}
