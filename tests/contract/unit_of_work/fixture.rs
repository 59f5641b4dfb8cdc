//! A store that behaviours are tried on, and an independent look into it.

use std::sync::Arc;
use std::time::Duration;

use application::ports::dead_letters::DeadLetters;
use application::ports::event_reader::EventReader;
use application::ports::event_retention::EventRetention;
use application::ports::outbox::Outbox;
use application::ports::payment_reader::PaymentReader;
use application::ports::store_audit::StoreAudit;
use application::ports::unit_of_work::{StoreError, Transaction, UnitOfWork};
use application::testing::source_name;
use async_trait::async_trait;
use domain::{Currency, EventId, Payment, PaymentId, PaymentKey, Stage, Standing, Timestamp, Totals};

/// The consumer of [`StoreFixture::unit_of_work`].
pub const CONSUMER: &str = "payments";

/// A fresh store.
#[async_trait]
pub trait StoreFixture: Send + Sync + 'static {
    async fn create() -> Self;

    /// Goes back to the first step of the schema, stores what that release would have, and does the others again.
    async fn as_the_first_release_left_it(&self);

    /// A unit of work of its own, as another process would have it, with at most `sessions` sessions.
    fn unit_of_work(&self, sessions: usize) -> Arc<dyn UnitOfWork> {
        self.unit_of_work_of(CONSUMER, sessions)
    }

    /// The same for another consumer.
    fn unit_of_work_of(&self, consumer: &str, sessions: usize) -> Arc<dyn UnitOfWork>;

    /// What reads the payments of a consumer.
    fn reader_of(&self, consumer: &str) -> Arc<dyn PaymentReader>;

    /// What finds the events of a consumer.
    fn events_of(&self, consumer: &str) -> Arc<dyn EventReader>;

    /// What removes the old events of a consumer.
    fn retention_of(&self, consumer: &str) -> Arc<dyn EventRetention>;

    /// The dead letters of a consumer.
    fn letters_of(&self, consumer: &str) -> Arc<dyn DeadLetters>;

    /// The outbox of a consumer.
    fn outbox_of(&self, consumer: &str) -> Arc<dyn Outbox>;

    /// This long ago, in SQL.
    fn ago(&self, time: Duration) -> String;

    /// What checks what the events of a consumer have done.
    fn audit_of(&self, consumer: &str) -> Arc<dyn StoreAudit>;

    /// The ids and outcomes (`applied` or `recorded`) of the committed events, by id.
    async fn processed(&self) -> Vec<(String, &'static str)>;

    /// The committed payments' ids, amounts and revisions, by id.
    async fn payments(&self) -> Vec<(String, i64, i64)>;

    /// Ids, reasons and bytes of what is recorded, by id.
    async fn recorded(&self) -> Vec<(String, String, Vec<u8>)>;

    /// What a query finds that gives one text for each row, in words that every store understands.
    async fn texts(&self, query: &str) -> Vec<String>;

    /// Runs statements from outside, or says why they are refused.
    async fn execute(&self, statements: &str) -> Result<(), String>;

    /// Runs statements from outside, while no check, trigger or key of the events is in their way.
    async fn tamper(&self, statements: &str);

    /// How many transactions are open in the store, by its own account.
    async fn open_transactions(&self) -> usize;

    /// Adds a unique rule to the payments that is not the store's own: no amount twice.
    async fn forbid_equal_amounts(&self) {
        self.execute("CREATE UNIQUE INDEX no_amount_twice ON payments (amount_minor)").await.unwrap();
    }

    /// The committed entries, as `event account ledger amount currency`, sorted.
    async fn entries(&self) -> Vec<String> {
        let entry = "event_id || ' ' || account || ' ' || ledger || ' ' || amount_minor || ' ' || currency";
        sorted(self.texts(&format!("SELECT {entry} FROM ledger_entries")).await)
    }

    /// The committed balances, as `account ledger amount currency`, sorted.
    async fn balances(&self) -> Vec<String> {
        let balance = "account || ' ' || ledger || ' ' || balance_minor || ' ' || currency";
        sorted(self.texts(&format!("SELECT {balance} FROM account_balances")).await)
    }

    /// The committed facts, as `payment fact event amount currency`, sorted.
    async fn facts(&self) -> Vec<String> {
        let fact = "payment_id || ' ' || fact || ' ' || event_id || ' ' || coalesce(amount_minor, 0) || ' ' \
                    || coalesce(currency, '-')";
        sorted(self.texts(&format!("SELECT {fact} FROM payment_facts")).await)
    }

    /// The ids of the committed messages, in the order of their numbers.
    async fn messages(&self) -> Vec<String> {
        self.texts("SELECT id FROM outbox ORDER BY seq").await
    }
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// A new payment that was paid in full.
pub fn payment(id: &str, minor_units: i64) -> Payment {
    Payment {
        key: payment_key(id),
        merchant: None,
        currency: Some(Currency::parse("USD").unwrap()),
        standing: Some(Standing { at: Timestamp::from_micros(0), stage: Stage::Captured }),
        totals: Totals { captured: minor_units, ..Totals::default() },
        captures_closed: true,
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
