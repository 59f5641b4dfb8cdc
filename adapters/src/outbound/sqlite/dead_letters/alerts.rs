//! Which failure groups somebody was told of.

use application::ports::alert_log::{AfterFailure, AlertClaim, AlertLog, ClaimedAlert};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;

use super::{SqliteDeadLetters, done};
use crate::outbound::dead_letter_sql::alerting;

#[async_trait]
impl AlertLog for SqliteDeadLetters {
    /// The one who writes has the whole file, so it is looked first whether there is anything to write.
    async fn claim(&self, claim: &AlertClaim) -> Result<Option<ClaimedAlert>, StoreError> {
        let consumer = self.consumer.clone();
        let news = self.read(move |connection| done(alerting::news(connection, &consumer))).await?;
        let (Some(news), consumer, claim) = (news, self.consumer.clone(), claim.clone()) else {
            return Ok(None);
        };
        self.write(move |connection| done(alerting::claim(connection, &consumer, &news, &claim))).await
    }

    async fn sent(&self, alert: &ClaimedAlert) -> Result<(), StoreError> {
        let (consumer, alert) = (self.consumer.clone(), alert.clone());
        self.write(move |connection| done(alerting::sent(connection, &consumer, &alert))).await
    }

    async fn failed(&self, alert: &ClaimedAlert, owner: &str, then: AfterFailure) -> Result<(), StoreError> {
        let (consumer, alert, owner) = (self.consumer.clone(), alert.clone(), owner.to_owned());
        self.write(move |connection| done(alerting::failed(connection, &consumer, &alert, &owner, then)))
            .await
    }
}
