//! What an earlier release has stored is still right after all steps.

use application::testing::succeeded;
use domain::{Fact, Payment};

use super::effects::{apply, event, fact_id, usd};
use super::fixture::{CONSUMER, StoreFixture, begin, payment, payment_key};

pub async fn payments_of_the_first_release_are_whole(store: impl StoreFixture) {
    store.as_the_first_release_left_it().await;
    let expected = |id: &str, event: &str, minor_units| Payment {
        last_event: domain::EventId::parse(event).unwrap(),
        ..payment(id, minor_units)
    };
    let unit_of_work = store.unit_of_work(1);
    let keys = ["pi_1", "pi_2", "pi_3", "pi_4"].map(payment_key);
    let found = begin(&*unit_of_work).await.lock_payments(&keys).await.unwrap();
    assert_eq!(found, [expected("pi_1", "evt_1", 5), expected("pi_2", "evt_2", 0)]);
    assert_eq!(store.audit_of(CONSUMER).violations(10).await.unwrap(), []);

    // Each belongs to whoever has processed its event; where nobody knows, to the one that was the default.
    let owners = "SELECT payment_id || ' ' || consumer FROM payments ORDER BY payment_id";
    assert_eq!(store.texts(owners).await, ["pi_1 payments", "pi_2 payments", "pi_3 main", "pi_4 other"]);
    let history = store.reader_of(CONSUMER).timeline(&payment_key("pi_1"), 10).await.unwrap();
    let ids: Vec<&str> = history.iter().map(|entry| entry.event_id.as_str()).collect();
    assert_eq!(history.len(), 2, "{ids:?}");
}

pub async fn payments_of_the_first_release_go_on(store: impl StoreFixture) {
    store.as_the_first_release_left_it().await;
    let refund = event("evt_9", "pi_1", &[Fact::Refunded { refund: fact_id("re_1"), amount: usd(2) }]);
    apply(&*store.unit_of_work(1), &[succeeded("evt_8", "pi_1", 5), refund]).await;
    assert_eq!(store.payments().await[0], ("pi_1".to_owned(), 5, 2));
    assert_eq!(store.messages().await, ["payment/pi_1/refunded:re_1"]);
    let balances = store.reader_of(CONSUMER).balances("payment").await.unwrap();
    let minor_units: Vec<i64> = balances.iter().map(|balance| balance.amount.minor_units()).collect();
    assert_eq!(minor_units, [3, -5, 2]);
    assert_eq!(store.audit_of(CONSUMER).violations(10).await.unwrap(), []);
}
