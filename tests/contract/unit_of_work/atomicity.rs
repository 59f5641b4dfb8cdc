//! All of a unit or nothing, and nothing left open.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use application::ports::unit_of_work::{RecordedEvent, StoreError, UnitOfWork};
use application::testing::{succeeded, without_effect};
use bytes::Bytes;
use domain::{Fact, PaymentEvent, RecordReason};

use super::effects::{Effects, apply_one, captured, event, fact_id, usd};
use super::fixture::{CONSUMER, StoreFixture, begin, payment, payment_key, save};

/// Where something is stored.
const TABLES: [&str; 7] = [
    "processed_events",
    "payments",
    "payment_facts",
    "outbox",
    "recorded_events",
    "ledger_entries",
    "account_balances",
];

pub async fn a_committed_unit_is_stored(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    unit.save_payments(&[payment("pi_1", 5)]).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.processed().await, [("evt_1".to_owned(), "applied")]);
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}

pub async fn a_dropped_unit_leaves_nothing_and_no_open_session(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    unit.save_payments(&[payment("pi_1", 5)]).await.unwrap();
    drop(unit);
    wait_until_nothing_is_open(&store).await;
    assert_eq!(store.processed().await, []);
    assert_eq!(store.payments().await, []);
    // The only session is free again.
    save(&*unit_of_work, &[payment("pi_2", 5)]).await.unwrap();
}

/// However far a unit has come when it is dropped.
pub async fn a_unit_that_is_dropped_after_any_step_leaves_nothing(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let events = [event("evt_1", "pi_1", &[captured(usd(5))]), without_effect("evt_2")];
    for steps in 1..=TABLES.len() {
        drop(unit_after(&*unit_of_work, &events, steps).await);
        wait_until_nothing_is_open(&store).await;
        for table in TABLES {
            let rows = store.texts(&format!("SELECT '' || count(*) FROM {table}")).await;
            assert_eq!(rows, ["0"], "{table} after {steps} steps");
        }
    }
    // And all of it is stored when it is committed.
    unit_after(&*unit_of_work, &events, TABLES.len()).await.commit().await.unwrap();
    for table in TABLES {
        let rows = store.texts(&format!("SELECT '' || count(*) FROM {table}")).await;
        assert_ne!(rows, ["0"], "{table}");
    }
}

/// A unit that has done the first of its steps.
async fn unit_after(
    store: &dyn UnitOfWork,
    events: &[PaymentEvent; 2],
    steps: usize,
) -> Box<dyn application::ports::unit_of_work::Transaction> {
    let [applied, recorded] = events;
    let effects = Effects::of(applied);
    let payload = Bytes::from_static(b"{}");
    let recorded = RecordedEvent { event: recorded.clone(), reason: RecordReason::NoEffect, payload };
    let mut unit = begin(store).await;
    for step in 1..=steps {
        match step {
            1 => drop(unit.claim(events).await.unwrap()),
            2 => unit.save_payments(&effects.payments).await.unwrap(),
            3 => unit.establish_facts(&effects.facts).await.unwrap(),
            4 => unit.enqueue_messages(&effects.messages).await.unwrap(),
            5 => unit.record(std::slice::from_ref(&recorded)).await.unwrap(),
            6 => unit.post_entries(&effects.entries).await.unwrap(),
            _ => {}
        }
    }
    unit
}

pub async fn a_unit_that_is_dropped_in_mid_statement_leaves_nothing(store: impl StoreFixture) {
    save(&*store.unit_of_work(1), &[payment("pi_1", 5)]).await.unwrap();
    let other = store.unit_of_work(1);
    let mut holder = begin(&*other).await;
    holder.lock_payments(&[payment_key("pi_1")]).await.unwrap();

    let unit_of_work = store.unit_of_work(1);
    let waiting = tokio::time::timeout(Duration::from_millis(300), async {
        let mut unit = begin(&*unit_of_work).await;
        unit.claim(&[succeeded("evt_1", "pi_2", 5)]).await.unwrap();
        unit.lock_payments(&[payment_key("pi_1")]).await.unwrap();
        unit.commit().await.unwrap();
    });
    assert!(waiting.await.is_err(), "it does not wait for the lock");
    drop(holder);
    wait_until_nothing_is_open(&store).await;
    assert_eq!(store.processed().await, []);
    save(&*unit_of_work, &[payment("pi_3", 5)]).await.unwrap();
}

pub async fn the_commit_of_a_failed_unit_fails_and_stores_nothing(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    let refused = unit.save_payments(&[payment("pi_1", -1)]).await;
    assert!(matches!(refused, Err(StoreError::Permanent(_))), "{refused:?}");
    assert!(unit.commit().await.is_err(), "a failed unit is committed");
    wait_until_nothing_is_open(&store).await;
    assert_eq!(store.processed().await, []);
    save(&*unit_of_work, &[payment("pi_2", 5)]).await.unwrap();
}

/// F054: wherever a unit was when it was cancelled, all of it is stored or nothing, and the next unit is not
/// touched by it. Each round comes one step further, from BEGIN until after COMMIT.
pub async fn a_cancelled_unit_costs_no_session(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut next = 0;
    loop {
        // Leaves an idle session, on which the round begins.
        apply(&*unit_of_work, &format!("next_{next:03}")).await.unwrap();
        let id = format!("cancelled_{next:03}");
        next += 1;
        if cancel_after_polls(next, apply(&*unit_of_work, &id)).await {
            break;
        }
        assert!(next < 400, "it never comes to its end");
    }
    for _ in 0..20 {
        apply(&*unit_of_work, &format!("next_{next:03}")).await.unwrap();
        next += 1;
    }
    wait_until_nothing_is_open(&store).await;
    let events: Vec<String> = store.processed().await.into_iter().map(|(id, _)| id).collect();
    let payments: Vec<String> = store.payments().await.into_iter().map(|(id, ..)| id).collect();
    assert_eq!(events, payments, "half of a unit is stored");
    for (table, rows_each) in [("payment_facts", 1), ("outbox", 1), ("ledger_entries", 2)] {
        let rows = store.texts(&format!("SELECT '' || count(*) FROM {table}")).await;
        assert_eq!(rows, [(events.len() * rows_each).to_string()], "half of a unit is in {table}");
    }
    let held = "SELECT '' || balance_minor FROM account_balances WHERE ledger = 'provider_clearing'";
    assert_eq!(store.texts(held).await, [(events.len() * 5).to_string()], "a balance has half of a unit");
    let nexts = events.iter().filter(|id| id.starts_with("next_")).count();
    assert_eq!(nexts, next, "a unit is lost");
}

/// The same for a unit that changes what is there: a payment, its facts and balances that others share. Each round
/// comes one step further.
pub async fn a_change_that_is_cancelled_anywhere_is_stored_whole_or_not_at_all(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    apply_one(&*unit_of_work, &event("evt", "pi_1", &[captured(usd(1_000))])).await.unwrap();
    let audit = store.audit_of(CONSUMER);
    for polls in 1.. {
        assert!(polls < 400, "it never comes to its end");
        let id = format!("re_{polls}");
        let refund = event(&id, "pi_1", &[Fact::Refunded { refund: fact_id(&id), amount: usd(1) }]);
        let is_done = cancel_after_polls(polls, apply_one(&*unit_of_work, &refund)).await;
        wait_until_nothing_is_open(&store).await;
        assert_eq!(audit.violations(10).await.unwrap(), [], "cancelled after {polls} polls");
        let processed = i64::try_from(store.processed().await.len()).unwrap();
        assert_eq!(store.payments().await, [("pi_1".to_owned(), 1_000, processed)], "after {polls} polls");
        if is_done {
            break;
        }
    }
}

async fn apply(store: &dyn UnitOfWork, id: &str) -> Result<(), StoreError> {
    apply_one(store, &event(id, id, &[captured(usd(5))])).await
}

/// Drops `unit` when it has been polled that often. Says whether it came to its end before.
async fn cancel_after_polls(polls: usize, unit: impl Future<Output = Result<(), StoreError>> + Send) -> bool {
    let mut unit = pin!(unit);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        unit.as_mut().poll(context).map(|result| {
            result.expect("a unit that is not cancelled is committed");
            true
        })
    })
    .await
}

pub async fn a_store_in_order_can_be_written_to(store: impl StoreFixture) {
    store.unit_of_work(1).probe().await.unwrap();
}

async fn wait_until_nothing_is_open(store: &impl StoreFixture) {
    let since = Instant::now();
    loop {
        let open = store.open_transactions().await;
        if open == 0 {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(5), "{open} transactions stay open");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
