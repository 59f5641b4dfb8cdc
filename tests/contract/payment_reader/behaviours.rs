//! What a reader sees.

use application::ports::clock::Clock;
use application::ports::payment_reader::{Balance, TimelineEntry, TimelineItem};
use domain::{
    Currency, EstablishedFact, Fact, LedgerAccount, Money, PaymentEvent, PaymentKey, PaymentState, SourceName,
};

use crate::unit_of_work::effects::{Effects, apply, captured, event, fact_id, of_merchant, usd};
use crate::unit_of_work::fixture::{CONSUMER, StoreFixture, begin, payment_key};

/// More than any history here has.
const ALL: u32 = 100;

fn paid(event_id: &str, payment: &str, amount: Money) -> PaymentEvent {
    event(event_id, payment, &[captured(amount)])
}

fn refunded(event_id: &str, payment: &str, minor_units: i64) -> PaymentEvent {
    event(event_id, payment, &[Fact::Refunded { refund: fact_id(event_id), amount: usd(minor_units) }])
}

pub async fn a_payment_that_nobody_has_heard_of_is_not_there(store: impl StoreFixture) {
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_1", usd(5))]).await;
    let reader = store.reader_of(CONSUMER);
    let elsewhere = PaymentKey { source: SourceName::parse("elsewhere").unwrap(), ..payment_key("pi_1") };
    for key in [payment_key("pi_2"), elsewhere] {
        assert_eq!(reader.payment(&key).await.unwrap(), None);
        assert_eq!(reader.timeline(&key, ALL).await.unwrap(), []);
    }
    assert_eq!(reader.balances("nobody").await.unwrap(), []);
}

pub async fn a_payment_is_read_as_it_is_now(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let of = |event| of_merchant("acct_1", event);
    apply(&*unit_of_work, &[of(paid("evt_1", "pi_1", usd(5))), of(refunded("evt_2", "pi_1", 2))]).await;
    let view = store.reader_of(CONSUMER).payment(&payment_key("pi_1")).await.unwrap().unwrap();
    let locked = begin(&*unit_of_work).await.lock_payments(&[payment_key("pi_1")]).await.unwrap();
    assert_eq!([view.payment], *locked);
    assert_eq!(locked[0].state(), PaymentState::PartlyRefunded);
    assert_eq!(locked[0].account().to_string(), "payment:acct_1");
}

pub async fn a_payment_was_created_by_its_first_event_and_changed_by_its_last(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let reader = store.reader_of(CONSUMER);
    apply(&*unit_of_work, &[paid("evt_1", "pi_1", usd(5))]).await;
    let first = reader.payment(&payment_key("pi_1")).await.unwrap().unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    apply(&*unit_of_work, &[refunded("evt_2", "pi_1", 2)]).await;
    let second = reader.payment(&payment_key("pi_1")).await.unwrap().unwrap();
    assert_eq!(second.created_at, first.created_at);
    assert!(second.updated_at > first.updated_at, "{second:?}");
    // Our own moments, which are of this age.
    let now = adapters::clock::SystemClock.now();
    let age = now.as_micros() - second.updated_at.as_micros();
    assert!(age.abs() < 3_600_000_000, "{age} microseconds old");
}

pub async fn what_is_not_committed_is_not_seen(store: impl StoreFixture) {
    let reader = store.reader_of(CONSUMER);
    let paid = paid("evt_1", "pi_1", usd(5));
    let mut unit = begin(&*store.unit_of_work(1)).await;
    unit.claim(std::slice::from_ref(&paid)).await.unwrap();
    Effects::of(&paid).store(&mut *unit).await.unwrap();
    assert_eq!(reader.payment(&payment_key("pi_1")).await.unwrap(), None);
    assert_eq!(reader.timeline(&payment_key("pi_1"), ALL).await.unwrap(), []);
    assert_eq!(reader.balances("payment").await.unwrap(), []);
    unit.commit().await.unwrap();
    assert!(reader.payment(&payment_key("pi_1")).await.unwrap().is_some());
}

fn told(entries: &[TimelineEntry]) -> Vec<(&str, Option<&str>, TimelineItem)> {
    entries
        .iter()
        .map(|entry| {
            let kind = entry.kind.as_ref().map(domain::EventKind::as_str);
            (entry.event_id.as_str(), kind, entry.item.clone())
        })
        .collect()
}

fn fact(fact: &Fact) -> TimelineItem {
    TimelineItem::Fact(EstablishedFact { key: fact.key(None), amount: fact.amount() })
}

pub async fn a_history_tells_facts_and_what_had_no_effect_the_latest_first(store: impl StoreFixture) {
    let fee = Fact::Charged { fee: fact_id("fee_1"), amount: usd(1) };
    let events = [
        event("evt_1", "pi_1", &[Fact::Failed { attempt: fact_id("ch_0") }]),
        event("evt_2", "pi_1", &[captured(usd(5)), fee.clone()]),
        paid("evt_3", "pi_2", usd(9)),
        paid("evt_4", "pi_1", usd(5)),
    ];
    apply(&*store.unit_of_work(1), &events).await;
    let history = store.reader_of(CONSUMER).timeline(&payment_key("pi_1"), ALL).await.unwrap();
    let known = TimelineItem::Recorded("fact_already_known".to_owned());
    let mut told = told(&history);
    // Facts of one event may have one moment.
    told[1..3].sort_by_key(|(_, _, item)| format!("{item:?}").contains("charged"));
    let expected = [
        ("evt_4", Some("payment_intent.succeeded"), known),
        ("evt_2", None, fact(&captured(usd(5)))),
        ("evt_2", None, fact(&fee)),
        ("evt_1", None, fact(&Fact::Failed { attempt: fact_id("ch_0") })),
    ];
    assert_eq!(told, expected);
    assert!(history.is_sorted_by(|one, other| one.at >= other.at), "{history:?}");
}

pub async fn a_history_is_limited_to_the_latest(store: impl StoreFixture) {
    let mut events = vec![paid("evt_1", "pi_1", usd(5))];
    events.extend((2..=9).map(|number| refunded(&format!("evt_{number}"), "pi_1", 0)));
    apply(&*store.unit_of_work(1), &events).await;
    let reader = store.reader_of(CONSUMER);
    let latest = reader.timeline(&payment_key("pi_1"), 3).await.unwrap();
    let ids: Vec<&str> = latest.iter().map(|entry| entry.event_id.as_str()).collect();
    assert_eq!(ids, ["evt_9", "evt_8", "evt_7"]);
    assert_eq!(reader.timeline(&payment_key("pi_1"), 0).await.unwrap(), []);
}

pub async fn balances_are_read_in_order_and_by_account(store: impl StoreFixture) {
    let euro = |minor_units| Money::new(minor_units, Currency::parse("EUR").unwrap());
    let events = [
        paid("evt_1", "pi_1", usd(i64::MAX)),
        refunded("evt_2", "pi_1", 2),
        paid("evt_3", "pi_2", euro(3)),
        of_merchant("acct_1", paid("evt_4", "pi_3", usd(9))),
    ];
    apply(&*store.unit_of_work(1), &events).await;
    let reader = store.reader_of(CONSUMER);
    let balance = |ledger, amount| Balance { ledger, amount };
    let expected = [
        balance(LedgerAccount::ProviderClearing, euro(3)),
        balance(LedgerAccount::ProviderClearing, usd(i64::MAX - 2)),
        balance(LedgerAccount::Merchant, euro(-3)),
        balance(LedgerAccount::Merchant, usd(-i64::MAX)),
        balance(LedgerAccount::Refunds, usd(2)),
    ];
    assert_eq!(reader.balances("payment").await.unwrap(), expected);
    let of_merchant =
        [balance(LedgerAccount::ProviderClearing, usd(9)), balance(LedgerAccount::Merchant, usd(-9))];
    assert_eq!(reader.balances("payment:acct_1").await.unwrap(), of_merchant);
}

pub async fn another_consumers_payments_are_not_seen(store: impl StoreFixture) {
    apply(
        &*store.unit_of_work_of("other", 1),
        &[paid("evt_1", "pi_1", usd(5)), paid("evt_2", "pi_1", usd(5))],
    )
    .await;
    let reader = store.reader_of(CONSUMER);
    assert_eq!(reader.payment(&payment_key("pi_1")).await.unwrap(), None);
    assert_eq!(reader.timeline(&payment_key("pi_1"), ALL).await.unwrap(), []);
    assert_eq!(reader.balances("payment").await.unwrap(), []);
    assert_eq!(store.reader_of("other").timeline(&payment_key("pi_1"), ALL).await.unwrap().len(), 2);
}

pub async fn reading_holds_nobody_up_and_leaves_nothing_open(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    apply(&*unit_of_work, &[paid("evt_1", "pi_1", usd(5))]).await;
    let reader = store.reader_of(CONSUMER);
    let mut unit = begin(&*unit_of_work).await;
    unit.lock_payments(&[payment_key("pi_1")]).await.unwrap();
    reader.payment(&payment_key("pi_1")).await.unwrap();
    reader.timeline(&payment_key("pi_1"), ALL).await.unwrap();
    reader.balances("payment").await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(store.open_transactions().await, 0);
}
