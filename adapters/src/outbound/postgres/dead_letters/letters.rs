//! The letters.

use application::dead_letter::{
    DeadLetter, DeadLetterId, GroupTotals, LetterCursor, LetterFilter, LetterState, NewDeadLetter,
    StateTotals,
};
use application::operator::OperatorOrder;
use application::ports::dead_letters::{DeadLetters, Discarded, LetterPage};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;

use super::PostgresDeadLetters;
use crate::outbound::dead_letter_sql::scope::Scope;
use crate::outbound::dead_letter_sql::{discarding, listing, storing, totals};

#[async_trait]
impl DeadLetters for PostgresDeadLetters {
    async fn store(&self, letters: Vec<NewDeadLetter>) -> Result<u64, StoreError> {
        let mut session = self.begin().await?;
        let stored = storing::store(&mut session, &letters).await?;
        session.commit().await?;
        Ok(stored)
    }

    async fn page(
        &self,
        filter: &LetterFilter,
        state: Option<LetterState>,
        after: Option<LetterCursor>,
        limit: u32,
    ) -> Result<LetterPage, StoreError> {
        let mut session = self.begin().await?;
        let page = listing::page(&mut session, &self.scope(filter), state, after, limit).await?;
        session.commit().await?;
        Ok(page)
    }

    async fn get(&self, id: DeadLetterId) -> Result<Option<DeadLetter>, StoreError> {
        let mut session = self.begin().await?;
        let letter = listing::get(&mut session, &self.consumer, id).await?;
        session.commit().await?;
        Ok(letter)
    }

    async fn groups(&self, filter: &LetterFilter, limit: u32) -> Result<Vec<GroupTotals>, StoreError> {
        let mut session = self.snapshot().await?;
        let groups = totals::by_group(&mut session, &self.scope(filter), limit).await?;
        session.commit().await?;
        Ok(groups)
    }

    async fn counts(&self, filter: &LetterFilter) -> Result<Vec<StateTotals>, StoreError> {
        let mut session = self.begin().await?;
        let counts = totals::by_state(&mut session, &self.scope(filter)).await?;
        session.commit().await?;
        Ok(counts)
    }

    async fn discard(&self, ids: &[DeadLetterId], order: &OperatorOrder) -> Result<Discarded, StoreError> {
        let mut session = self.begin().await?;
        let discarded = discarding::discard(&mut session, &self.consumer, ids, order).await?;
        session.commit().await?;
        Ok(discarded)
    }
}

impl PostgresDeadLetters {
    fn scope(&self, filter: &LetterFilter) -> Scope {
        Scope::of_filter(self.consumer.clone(), filter.clone())
    }
}
