//! The transaction that carries a batch.

use std::time::Duration;

use application::ports::unit_of_work::{Claim, RecordedEvent, StoreError, Transaction, UnitOfWork};
use async_trait::async_trait;
use diesel::SqliteConnection;
use domain::{ConsumerName, Payment, PaymentEvent, PaymentKey};

use super::batch;
use super::readiness::probe;
use super::store::SqliteStore;
use super::writer::{Seat, Turn};

/// How long [`UnitOfWork::probe`] may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Transactions on SQLite, one at a time: a unit has the only connection that writes. The file itself is
/// locked from its first statement on, so that a unit that does nothing yet keeps no other process waiting.
pub struct SqliteUnitOfWork {
    store: SqliteStore,
    consumer: ConsumerName,
}

impl SqliteUnitOfWork {
    /// Processes events as `consumer`, to which the idempotency keys are scoped.
    pub const fn new(store: SqliteStore, consumer: ConsumerName) -> Self {
        Self { store, consumer }
    }
}

#[async_trait]
impl UnitOfWork for SqliteUnitOfWork {
    async fn begin(&self) -> Result<Box<dyn Transaction>, StoreError> {
        let turn = self.store.writer.turn().await?;
        Ok(Box::new(SqliteTransaction { turn, consumer: self.consumer.clone(), failed: false }))
    }

    async fn probe(&self) -> Result<(), StoreError> {
        probe(&self.store, PROBE_TIMEOUT).await
    }
}

/// One open transaction.
struct SqliteTransaction {
    turn: Turn,
    consumer: ConsumerName,
    /// A statement has failed, or nobody has waited for how it ended. SQLite would commit the others.
    failed: bool,
}

impl SqliteTransaction {
    async fn run<T, F>(&mut self, statements: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, StoreError> + Send + 'static,
    {
        // After some errors SQLite has rolled back by itself, and would store what follows at once.
        if std::mem::replace(&mut self.failed, true) {
            return Err(has_failed());
        }
        let answer = self.turn.run(|seat| statements(seat.transaction()?)).await?;
        self.failed = false;
        Ok(answer)
    }
}

#[async_trait]
impl Transaction for SqliteTransaction {
    async fn claim(&mut self, events: &[PaymentEvent]) -> Result<Vec<Claim>, StoreError> {
        let (consumer, events) = (self.consumer.clone(), events.to_vec());
        self.run(move |connection| batch::claim(connection, &consumer, &events)).await
    }

    async fn lock_payments(&mut self, keys: &[PaymentKey]) -> Result<Vec<Payment>, StoreError> {
        let keys = keys.to_vec();
        self.run(move |connection| batch::payments(connection, &keys)).await
    }

    async fn save_payments(&mut self, payments: &[Payment]) -> Result<(), StoreError> {
        let payments = payments.to_vec();
        self.run(move |connection| batch::save(connection, &payments)).await
    }

    async fn record(&mut self, recorded: &[RecordedEvent]) -> Result<(), StoreError> {
        let (consumer, recorded) = (self.consumer.clone(), recorded.to_vec());
        self.run(move |connection| batch::record(connection, &consumer, &recorded)).await
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if self.failed {
            return Err(has_failed());
        }
        self.turn.run(Seat::commit).await
    }
}

fn has_failed() -> StoreError {
    StoreError::Transient("a statement of this transaction has failed, so it is rolled back".into())
}
