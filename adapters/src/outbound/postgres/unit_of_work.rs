//! The transaction that carries a batch.

use std::time::Duration;

use application::ports::unit_of_work::{
    Claim, NewFact, OutboxMessage, RecordedEvent, StoreError, Transaction, UnitOfWork,
};
use async_trait::async_trait;
use domain::{ConsumerName, EstablishedFact, FactKey, LedgerEntry, Payment, PaymentEvent, PaymentKey};

use super::batch::{claims, facts, ledger, outbox, payments};
use super::pool::PostgresPool;
use super::readiness::probe;
use super::session::Session;

/// How long [`UnitOfWork::probe`] may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Transactions on PostgreSQL, at READ COMMITTED: the keys and row locks decide, not the isolation.
pub struct PostgresUnitOfWork {
    pool: PostgresPool,
    consumer: ConsumerName,
}

impl PostgresUnitOfWork {
    /// Processes events as `consumer`, to which everything that it stores belongs.
    pub const fn new(pool: PostgresPool, consumer: ConsumerName) -> Self {
        Self { pool, consumer }
    }
}

#[async_trait]
impl UnitOfWork for PostgresUnitOfWork {
    async fn begin(&self) -> Result<Box<dyn Transaction>, StoreError> {
        let mut session = self.pool.session().await?;
        session.begin().await.map_err(|error| match error {
            StoreError::Transient(cause) | StoreError::Permanent(cause) => StoreError::Unavailable(cause),
            unavailable @ StoreError::Unavailable(_) => unavailable,
        })?;
        Ok(Box::new(PostgresTransaction { session, consumer: self.consumer.clone() }))
    }

    async fn probe(&self) -> Result<(), StoreError> {
        probe(&self.pool, PROBE_TIMEOUT).await
    }
}

/// One open transaction. The session ends with it, unless it is committed.
struct PostgresTransaction {
    session: Session,
    consumer: ConsumerName,
}

#[async_trait]
impl Transaction for PostgresTransaction {
    async fn claim(&mut self, events: &[PaymentEvent]) -> Result<Vec<Claim>, StoreError> {
        claims::claim(&mut self.session, self.consumer.as_str(), events).await
    }

    async fn lock_payments(&mut self, keys: &[PaymentKey]) -> Result<Vec<Payment>, StoreError> {
        payments::lock(&mut self.session, self.consumer.as_str(), keys).await
    }

    async fn save_payments(&mut self, payments: &[Payment]) -> Result<(), StoreError> {
        payments::save(&mut self.session, self.consumer.as_str(), payments).await
    }

    async fn known_facts(
        &mut self,
        facts: &[(PaymentKey, FactKey)],
    ) -> Result<Vec<(PaymentKey, EstablishedFact)>, StoreError> {
        facts::known(&mut self.session, self.consumer.as_str(), facts).await
    }

    async fn establish_facts(&mut self, facts: &[NewFact]) -> Result<(), StoreError> {
        facts::establish(&mut self.session, self.consumer.as_str(), facts).await
    }

    async fn post_entries(&mut self, entries: &[LedgerEntry]) -> Result<(), StoreError> {
        ledger::post(&mut self.session, self.consumer.as_str(), entries).await
    }

    async fn enqueue_messages(&mut self, messages: &[OutboxMessage]) -> Result<(), StoreError> {
        outbox::enqueue(&mut self.session, self.consumer.as_str(), messages).await
    }

    async fn record(&mut self, recorded: &[RecordedEvent]) -> Result<(), StoreError> {
        claims::record(&mut self.session, self.consumer.as_str(), recorded).await
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.session.commit().await
    }
}
