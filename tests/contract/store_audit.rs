//! What every store must do as [`application::ports::store_audit::StoreAudit`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod sqlite;

use adapters::outbound::postgres::{PostgresAudit, PostgresUnitOfWork};
use application::ports::store_audit::{StoreAudit, StoreTotals, Violation};
use application::ports::unit_of_work::{RecordedEvent, UnitOfWork};
use application::testing::{succeeded, without_effect};
use bytes::Bytes;
use domain::{ConsumerName, Decision, PaymentEvent, RecordReason, decide};
use harness::postgres::TestDatabase;

struct Store {
    database: TestDatabase,
    audit: PostgresAudit,
}

impl Store {
    /// Two applied events and one that is recorded.
    async fn create() -> Self {
        let database = TestDatabase::create().await;
        let consumer = ConsumerName::parse("payments").unwrap();
        let unit_of_work = PostgresUnitOfWork::new(database.pool(1), consumer.clone());
        let events =
            [succeeded("evt_1", "pi_1", 5), succeeded("evt_2", "pi_2", 6), without_effect("other_1")];
        let recorded = RecordedEvent {
            event: events[2].clone(),
            reason: RecordReason::NoEffect,
            payload: Bytes::from_static(b"{}"),
        };
        let payments: Vec<_> = events[..2].iter().map(applied).collect();
        let mut unit = unit_of_work.begin().await.unwrap();
        unit.claim(&events).await.unwrap();
        unit.save_payments(&payments).await.unwrap();
        unit.record(&[recorded]).await.unwrap();
        unit.commit().await.unwrap();
        let audit = PostgresAudit::new(database.pool(1), consumer);
        Self { database, audit }
    }

    async fn violations(&self) -> Vec<Violation> {
        self.audit.violations(10).await.unwrap()
    }
}

fn applied(event: &PaymentEvent) -> domain::Payment {
    match decide(None, event) {
        Ok(Decision::Apply(payment)) => payment,
        other => panic!("not applied: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_in_order_has_no_violation() {
    let store = Store::create().await;
    assert_eq!(store.violations().await, []);
    // And again: the session was left in order.
    assert_eq!(store.violations().await, []);
}

/// Breaks the store, and expects the audit to name `detail` under `invariant`.
async fn expect(invariant: &str, detail: &str, broken_by: &str) {
    let store = Store::create().await;
    store.database.client().await.batch_execute(broken_by).await.unwrap();
    let violations = store.violations().await;
    let found = violations
        .iter()
        .any(|violation| violation.invariant == invariant && violation.detail.contains(detail));
    assert!(found, "{invariant}: {violations:?}");
}

macro_rules! fires {
    ($($test:ident: $invariant:literal, $detail:literal, $broken_by:literal;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            expect($invariant, $detail, $broken_by).await;
        }
    )*};
}

fires! {
    an_event_that_is_processed_twice_is_found:
        "no event is processed twice", "payment/evt_1 is processed 2 times",
        "ALTER TABLE processed_events DROP CONSTRAINT processed_events_pkey CASCADE; \
         INSERT INTO processed_events SELECT * FROM processed_events WHERE event_id = 'evt_1'";
    an_applied_event_without_its_payment_is_found:
        "every applied event has its payment", "payment/evt_1",
        "DELETE FROM payments WHERE payment_id = 'pi_1'";
    an_applied_event_that_names_no_payment_is_found:
        "every applied event has its payment", "(none named)",
        "UPDATE processed_events SET payment_id = NULL WHERE event_id = 'evt_1'";
    a_payment_that_no_event_has_made_is_found:
        "every payment was last changed by an applied event", "payment/pi_1",
        "DELETE FROM processed_events WHERE event_id = 'evt_1'";
    a_payment_that_a_recorded_event_has_made_is_found:
        "every payment was last changed by an applied event", "payment/pi_1",
        "UPDATE processed_events SET outcome = 2 WHERE event_id = 'evt_1'";
    a_lost_update_is_found:
        "every payment has as many revisions as applied events", "payment/pi_1 has revision 1 and 2 applied",
        "UPDATE processed_events SET payment_id = 'pi_1' WHERE event_id = 'evt_2'";
    a_recorded_event_without_its_bytes_is_found:
        "every recorded event has its bytes", "payment/other_1",
        "DELETE FROM recorded_events";
    bytes_of_an_event_that_is_not_recorded_are_found:
        "bytes are kept of recorded events only", "payment/other_1",
        "UPDATE processed_events SET outcome = 1, payment_id = 'pi_1' WHERE event_id = 'other_1'";
    a_negative_amount_is_found:
        "no amount is negative and every revision is at least 1", "-5 USD",
        "ALTER TABLE payments DROP CONSTRAINT payments_amount_minor_check; \
         UPDATE payments SET amount_minor = -5 WHERE payment_id = 'pi_1'";
    a_revision_of_zero_is_found:
        "no amount is negative and every revision is at least 1", "revision 0",
        "ALTER TABLE payments DROP CONSTRAINT payments_revision_check; \
         UPDATE payments SET revision = 0 WHERE payment_id = 'pi_1'";
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn violations_are_limited_for_each_invariant() {
    let store = Store::create().await;
    let broken_by = "DELETE FROM payments; DELETE FROM recorded_events";
    store.database.client().await.batch_execute(broken_by).await.unwrap();
    assert_eq!(store.violations().await.len(), 3);
    assert_eq!(store.audit.violations(1).await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn totals_are_counted_by_outcome_and_by_prefix() {
    let store = Store::create().await;
    let totals = |applied, recorded| StoreTotals { applied, recorded };
    assert_eq!(store.audit.totals(None).await.unwrap(), totals(2, 1));
    assert_eq!(store.audit.totals(Some("evt")).await.unwrap(), totals(2, 0));
    assert_eq!(store.audit.totals(Some("evt_2")).await.unwrap(), totals(1, 0));
    assert_eq!(store.audit.totals(Some("other_1")).await.unwrap(), totals(0, 1));
    // Not a wild card.
    assert_eq!(store.audit.totals(Some("evt%")).await.unwrap(), totals(0, 0));
    assert_eq!(store.audit.totals(Some("e_t")).await.unwrap(), totals(0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_consumers_events_are_not_counted() {
    let store = Store::create().await;
    let other = ConsumerName::parse("other").unwrap();
    let audit = PostgresAudit::new(store.database.pool(1), other);
    assert_eq!(audit.totals(None).await.unwrap(), StoreTotals::default());
}
