//! The letters.

use application::dead_letter::{
    DeadLetter, DeadLetterId, GroupTotals, LetterCursor, LetterFilter, LetterState, NewDeadLetter,
    StateTotals,
};
use application::operator::OperatorOrder;
use application::ports::dead_letters::{DeadLetters, Discarded, LetterPage};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;

use super::{SqliteDeadLetters, done};
use crate::outbound::dead_letter_sql::scope::Scope;
use crate::outbound::dead_letter_sql::{discarding, listing, storing, totals};

#[async_trait]
impl DeadLetters for SqliteDeadLetters {
    async fn store(&self, letters: Vec<NewDeadLetter>) -> Result<u64, StoreError> {
        self.write(move |connection| done(storing::store(connection, &letters))).await
    }

    async fn page(
        &self,
        filter: &LetterFilter,
        state: Option<LetterState>,
        after: Option<LetterCursor>,
        limit: u32,
    ) -> Result<LetterPage, StoreError> {
        let scope = self.scope(filter);
        self.read(move |connection| done(listing::page(connection, &scope, state, after, limit))).await
    }

    async fn get(&self, id: DeadLetterId) -> Result<Option<DeadLetter>, StoreError> {
        let consumer = self.consumer.clone();
        self.read(move |connection| done(listing::get(connection, &consumer, id))).await
    }

    async fn groups(&self, filter: &LetterFilter, limit: u32) -> Result<Vec<GroupTotals>, StoreError> {
        let scope = self.scope(filter);
        self.read(move |connection| done(totals::by_group(connection, &scope, limit))).await
    }

    async fn counts(&self, filter: &LetterFilter) -> Result<Vec<StateTotals>, StoreError> {
        let scope = self.scope(filter);
        self.read(move |connection| done(totals::by_state(connection, &scope))).await
    }

    async fn discard(&self, ids: &[DeadLetterId], order: &OperatorOrder) -> Result<Discarded, StoreError> {
        let (consumer, ids, order) = (self.consumer.clone(), ids.to_vec(), order.clone());
        self.write(move |connection| done(discarding::discard(connection, &consumer, &ids, &order))).await
    }
}

impl SqliteDeadLetters {
    fn scope(&self, filter: &LetterFilter) -> Scope {
        Scope::of_filter(self.consumer.clone(), filter.clone())
    }
}
