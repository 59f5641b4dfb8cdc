//! Two consumers of the same events.

use application::ports::unit_of_work::Claim;
use domain::Fact;

use super::effects::{apply, captured, event, fact_id, usd};
use super::fixture::{StoreFixture, begin, payment_key};

pub async fn each_consumer_has_its_own_effects(store: impl StoreFixture) {
    let events = [
        event("evt_1", "pi_1", &[captured(usd(5))]),
        event("evt_2", "pi_1", &[Fact::Refunded { refund: fact_id("re_1"), amount: usd(2) }]),
    ];
    let (one, other) = (store.unit_of_work_of("one", 1), store.unit_of_work_of("other", 1));
    apply(&*one, &events).await;
    apply(&*other, &events[..1]).await;

    let by_consumer =
        |table: &str| format!("SELECT consumer || ' ' || count(*) FROM {table} GROUP BY consumer");
    for (table, counts) in [
        ("processed_events", ["one 2", "other 1"]),
        ("payments", ["one 1", "other 1"]),
        ("payment_facts", ["one 2", "other 1"]),
        ("ledger_entries", ["one 4", "other 2"]),
        ("outbox", ["one 2", "other 1"]),
    ] {
        let mut found = store.texts(&by_consumer(table)).await;
        found.sort();
        assert_eq!(found, counts, "{table}");
    }
    let held =
        "SELECT consumer || ' ' || balance_minor FROM account_balances WHERE ledger = 'provider_clearing'";
    let mut held = store.texts(held).await;
    held.sort();
    assert_eq!(held, ["one 3", "other 5"]);
}

pub async fn a_consumer_sees_nothing_of_another_ones_payments(store: impl StoreFixture) {
    let paid = event("evt_1", "pi_1", &[captured(usd(5))]);
    apply(&*store.unit_of_work_of("one", 1), std::slice::from_ref(&paid)).await;
    let mut unit = begin(&*store.unit_of_work_of("other", 1)).await;
    assert_eq!(unit.claim(std::slice::from_ref(&paid)).await.unwrap(), [Claim::Fresh]);
    assert_eq!(unit.lock_payments(&[payment_key("pi_1")]).await.unwrap(), []);
    let asked = [(payment_key("pi_1"), captured(usd(5)).key(None))];
    assert_eq!(unit.known_facts(&asked).await.unwrap(), []);
}
