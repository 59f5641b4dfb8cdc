//! What operators have done.

use application::operator::OperatorAction;
use application::ports::operator_actions::{OperatorActions, RecordedAction};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;

use super::{SqliteDeadLetters, done};
use crate::outbound::dead_letter_sql::actions;

#[async_trait]
impl OperatorActions for SqliteDeadLetters {
    async fn record(&self, action: &OperatorAction) -> Result<(), StoreError> {
        let action = action.clone();
        self.write(move |connection| {
            done(actions::record(connection, &action.order, &action.what, &action.target))
        })
        .await
    }

    async fn page(&self, before: Option<i64>, limit: u32) -> Result<Vec<RecordedAction>, StoreError> {
        self.read(move |connection| done(actions::page(connection, before, limit))).await
    }
}
