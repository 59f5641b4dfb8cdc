//! The transaction that carries a batch.

use std::time::Duration;

use application::ports::unit_of_work::{
    Claim, NewFact, OutboxMessage, RecordedEvent, StoreError, Transaction, UnitOfWork,
};
use async_trait::async_trait;
use diesel::SqliteConnection;
use domain::{ConsumerName, EstablishedFact, FactKey, LedgerEntry, Payment, PaymentEvent, PaymentKey};

use super::batch::{claims, facts, ledger, outbox, payments};
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
    /// Processes events as `consumer`, to which everything that it stores belongs.
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
        F: FnOnce(&mut SqliteConnection, &ConsumerName) -> Result<T, StoreError> + Send + 'static,
    {
        // After some errors SQLite has rolled back by itself, and would store what follows at once.
        if std::mem::replace(&mut self.failed, true) {
            return Err(has_failed());
        }
        let consumer = self.consumer.clone();
        let answer = self.turn.run(move |seat| statements(seat.transaction()?, &consumer)).await?;
        self.failed = false;
        Ok(answer)
    }
}

#[async_trait]
impl Transaction for SqliteTransaction {
    async fn claim(&mut self, events: &[PaymentEvent]) -> Result<Vec<Claim>, StoreError> {
        let events = events.to_vec();
        self.run(move |connection, consumer| claims::claim(connection, consumer, &events)).await
    }

    async fn lock_payments(&mut self, keys: &[PaymentKey]) -> Result<Vec<Payment>, StoreError> {
        let keys = keys.to_vec();
        self.run(move |connection, consumer| payments::load(connection, consumer, &keys)).await
    }

    async fn save_payments(&mut self, payments: &[Payment]) -> Result<(), StoreError> {
        let payments = payments.to_vec();
        self.run(move |connection, consumer| payments::save(connection, consumer, &payments)).await
    }

    async fn known_facts(
        &mut self,
        facts: &[(PaymentKey, FactKey)],
    ) -> Result<Vec<(PaymentKey, EstablishedFact)>, StoreError> {
        let facts = facts.to_vec();
        self.run(move |connection, consumer| facts::known(connection, consumer, &facts)).await
    }

    async fn establish_facts(&mut self, facts: &[NewFact]) -> Result<(), StoreError> {
        let facts = facts.to_vec();
        self.run(move |connection, consumer| facts::establish(connection, consumer, &facts)).await
    }

    async fn post_entries(&mut self, entries: &[LedgerEntry]) -> Result<(), StoreError> {
        let entries = entries.to_vec();
        self.run(move |connection, consumer| ledger::post(connection, consumer, &entries)).await
    }

    async fn enqueue_messages(&mut self, messages: &[OutboxMessage]) -> Result<(), StoreError> {
        let messages = messages.to_vec();
        self.run(move |connection, consumer| outbox::enqueue(connection, consumer, &messages)).await
    }

    async fn record(&mut self, recorded: &[RecordedEvent]) -> Result<(), StoreError> {
        let recorded = recorded.to_vec();
        self.run(move |connection, consumer| claims::record(connection, consumer, &recorded)).await
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
