//! What operators have done.

use application::operator::OperatorAction;
use application::ports::operator_actions::{OperatorActions, RecordedAction};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;

use super::PostgresDeadLetters;
use crate::outbound::dead_letter_sql::actions;

#[async_trait]
impl OperatorActions for PostgresDeadLetters {
    async fn record(&self, action: &OperatorAction) -> Result<(), StoreError> {
        let mut session = self.begin().await?;
        actions::record(&mut session, &action.order, &action.what, &action.target).await?;
        session.commit().await
    }

    async fn page(&self, before: Option<i64>, limit: u32) -> Result<Vec<RecordedAction>, StoreError> {
        let mut session = self.begin().await?;
        let page = actions::page(&mut session, before, limit).await?;
        session.commit().await?;
        Ok(page)
    }
}
