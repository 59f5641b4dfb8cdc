//! An operator decides that dead letters shall have no effect. Their bytes are kept.

use std::sync::Arc;

use tracing::info;

use crate::dead_letter::DeadLetterId;
use crate::operator::OperatorOrder;
use crate::ports::dead_letters::{DeadLetters, Discarded};
use crate::ports::unit_of_work::StoreError;
use crate::replay::{Selection, SelectionError};

/// Why nothing was discarded.
#[derive(Debug, thiserror::Error)]
pub enum DiscardError {
    /// What is to be discarded cannot be asked for so.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Discards dead letters. Each is named by its number: there is no way to discard whatever matches a filter.
#[derive(Clone)]
pub struct DiscardDeadLetters {
    letters: Arc<dyn DeadLetters>,
}

impl DiscardDeadLetters {
    /// Discards in `letters`.
    pub const fn new(letters: Arc<dyn DeadLetters>) -> Self {
        Self { letters }
    }

    /// Discards those of `ids` that are open.
    pub async fn run(
        &self,
        ids: Vec<DeadLetterId>,
        order: &OperatorOrder,
    ) -> Result<Discarded, DiscardError> {
        let selection = Selection::of_ids(ids)?;
        let discarded = self.letters.discard(selection.ids().unwrap_or_default(), order).await?;
        info!(count = discarded.ids.len(), actor = order.actor.as_str(), "dead letters discarded");
        Ok(discarded)
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;
    use crate::operator::{Actor, Why};
    use crate::ports::dead_letters::MockDeadLetters;
    use crate::replay::selection::SELECTED_IDS_MAX;

    fn order() -> OperatorOrder {
        OperatorOrder {
            actor: Actor::parse("ann").unwrap(),
            at: Timestamp::from_micros(1),
            why: Why::parse("refunded by hand").unwrap(),
        }
    }

    #[tokio::test]
    async fn nothing_named_and_too_much_named_are_refused() {
        let discard = DiscardDeadLetters::new(Arc::new(MockDeadLetters::new()));
        let too_many = (0..=i64::try_from(SELECTED_IDS_MAX).unwrap()).map(DeadLetterId).collect();
        for ids in [Vec::new(), too_many] {
            assert!(matches!(discard.run(ids, &order()).await, Err(DiscardError::Selection(_))));
        }
    }

    #[tokio::test]
    async fn each_letter_is_asked_for_once() {
        let mut letters = MockDeadLetters::new();
        letters
            .expect_discard()
            .withf(|ids, order| ids == [DeadLetterId(3), DeadLetterId(7)] && order.actor.as_str() == "ann")
            .once()
            .returning(|ids, _| Ok(Discarded { ids: ids.to_vec(), money: Vec::new() }));
        let discard = DiscardDeadLetters::new(Arc::new(letters));
        let ids = [7, 3, 7].map(DeadLetterId).to_vec();
        assert_eq!(discard.run(ids, &order()).await.unwrap().ids.len(), 2);
    }
}
