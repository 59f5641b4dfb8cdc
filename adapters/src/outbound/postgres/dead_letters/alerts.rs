//! Which failure groups somebody was told of.

use application::ports::alert_log::{AfterFailure, AlertClaim, AlertLog, ClaimedAlert};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;

use super::PostgresDeadLetters;
use crate::outbound::dead_letter_sql::alerting;

#[async_trait]
impl AlertLog for PostgresDeadLetters {
    async fn claim(&self, claim: &AlertClaim) -> Result<Option<ClaimedAlert>, StoreError> {
        let mut session = self.begin().await?;
        let claimed = match alerting::news(&mut session, &self.consumer).await? {
            Some(news) => alerting::claim(&mut session, &self.consumer, &news, claim).await?,
            None => None,
        };
        session.commit().await?;
        Ok(claimed)
    }

    async fn sent(&self, alert: &ClaimedAlert) -> Result<(), StoreError> {
        let mut session = self.begin().await?;
        alerting::sent(&mut session, &self.consumer, alert).await?;
        session.commit().await
    }

    async fn failed(&self, alert: &ClaimedAlert, owner: &str, then: AfterFailure) -> Result<(), StoreError> {
        let mut session = self.begin().await?;
        alerting::failed(&mut session, &self.consumer, alert, owner, then).await?;
        session.commit().await
    }
}
