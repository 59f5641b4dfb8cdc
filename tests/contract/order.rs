//! The business state does not depend on the order, number and grouping of deliveries, nor on how many workers
//! there are: for generated histories and for those that Stripe really sends, on every store.
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod chance;
mod history;
mod postgres;
mod run;
mod sqlite;
mod stripe;

use std::collections::BTreeSet;
use std::sync::Arc;

use application::ports::store_audit::StoreAudit;
use application::ports::unit_of_work::UnitOfWork;
use async_trait::async_trait;

use chance::Chance;
use history::History;

/// How many histories each store is tried with.
const HISTORIES: u64 = 6;
/// In how many orders each history is delivered, apart from its own.
const ORDERS: u64 = 3;

/// A fresh store.
#[async_trait]
pub trait OrderedStore: Send + Sync + Sized + 'static {
    async fn create() -> Self;

    /// A unit of work of its own, as another worker would have it.
    fn unit_of_work(&self) -> Arc<dyn UnitOfWork>;

    fn audit(&self) -> Arc<dyn StoreAudit>;

    /// One text for each row that a query gives, which has one column of text.
    async fn lines(&self, query: &str) -> BTreeSet<String>;

    /// Payments, balances and outbox, without what tells the order of arrival.
    async fn outcome(&self) -> BTreeSet<String> {
        let mut outcome = BTreeSet::new();
        for query in [
            "SELECT 'payment ' || source || '/' || payment_id || ' ' || state || ' ' || amount_minor || ' ' \
             || coalesce(currency, '-') || ' refunded ' || refunded_minor || ' disputed ' || disputed_minor \
             || ' of ' || coalesce(merchant, '-') FROM payments",
            "SELECT 'balance ' || account || ' ' || ledger || ' ' || currency || ' ' || balance_minor \
             FROM account_balances WHERE balance_minor <> 0",
            "SELECT 'message ' || id || ' ' || kind || ' ' || account || ' ' || coalesce(amount_minor, 0) \
             FROM outbox",
        ] {
            outcome.extend(self.lines(query).await);
        }
        outcome
    }
}

async fn every_order_ends_in_the_same_state<S: OrderedStore>() {
    for seed in 1..=HISTORIES {
        let mut chance = Chance::of(seed);
        let history = History::generate(&mut chance);
        let in_order = S::create().await;
        run::deliver(&in_order, &history, history.in_order(), 1, &mut chance).await;
        let expected = in_order.outcome().await;
        assert!(expected.len() > 10, "history {seed} says too little: {expected:?}");
        for order in 1..=ORDERS {
            let store = S::create().await;
            let workers = 1 + chance.below(4);
            let deliveries = history.shuffled_with_copies(&mut chance);
            run::deliver(&store, &history, deliveries, workers, &mut chance).await;
            let found = store.outcome().await;
            let differs: Vec<_> = expected.symmetric_difference(&found).collect();
            assert!(differs.is_empty(), "history {seed}, order {order}, {workers} workers: {differs:#?}");
            assert_eq!(store.audit().violations(10).await.unwrap(), []);
        }
    }
}

/// Eight workers on three accounts, all at once: nothing deadlocks for good and no update is lost.
async fn workers_that_share_accounts_lose_nothing<S: OrderedStore>() {
    let mut chance = Chance::of(99);
    let history = History::of_captures(&mut chance, 400);
    let store = S::create().await;
    let deliveries = history.shuffled_with_copies(&mut chance);
    run::deliver(&store, &history, deliveries, 8, &mut chance).await;
    let expected: BTreeSet<String> = history.captured_by_account();
    let query =
        "SELECT account || ' ' || balance_minor FROM account_balances WHERE ledger = 'provider_clearing'";
    assert_eq!(store.lines(query).await, expected);
    assert_eq!(store.audit().violations(10).await.unwrap(), []);
}
