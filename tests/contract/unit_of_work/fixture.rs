//! A store that behaviours are tried on, and an independent look into it.

use std::sync::Arc;

use application::ports::unit_of_work::{StoreError, Transaction, UnitOfWork};
use application::testing::source_name;
use async_trait::async_trait;
use domain::{Currency, EventId, Money, Payment, PaymentId, PaymentKey, PaymentState};

/// A fresh store.
#[async_trait]
pub trait StoreFixture: Send + Sync + 'static {
    async fn create() -> Self;

    /// A unit of work of its own, as another process would have it, with at most `sessions` sessions.
    fn unit_of_work(&self, sessions: usize) -> Arc<dyn UnitOfWork>;

    /// The ids and outcomes (`applied` or `recorded`) of the committed events, by id.
    async fn processed(&self) -> Vec<(String, &'static str)>;

    /// The committed payments' ids, amounts and revisions, by id.
    async fn payments(&self) -> Vec<(String, i64, i64)>;

    /// Ids, reasons and bytes of what is recorded, by id.
    async fn recorded(&self) -> Vec<(String, String, Vec<u8>)>;

    /// How many transactions are open in the store, by its own account.
    async fn open_transactions(&self) -> usize;

    /// Adds a unique rule to the payments that is not the store's own: no amount twice.
    async fn forbid_equal_amounts(&self);
}

/// A new payment.
pub fn payment(id: &str, minor_units: i64) -> Payment {
    Payment {
        key: payment_key(id),
        state: PaymentState::Succeeded,
        amount: Money::new(minor_units, Currency::parse("USD").unwrap()),
        last_event: EventId::parse("evt_1").unwrap(),
        revision: 1,
    }
}

pub fn payment_key(id: &str) -> PaymentKey {
    PaymentKey { source: source_name(), payment_id: PaymentId::parse(id).unwrap() }
}

/// Stores new payments in a unit of their own.
pub async fn save(store: &dyn UnitOfWork, payments: &[Payment]) -> Result<(), StoreError> {
    let mut transaction = store.begin().await?;
    transaction.save_payments(payments).await?;
    transaction.commit().await
}

/// A unit that must be had.
pub async fn begin(store: &dyn UnitOfWork) -> Box<dyn Transaction> {
    store.begin().await.expect("the store is there")
}
