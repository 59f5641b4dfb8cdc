//! Double entry.

use std::sync::Arc;

use application::ports::unit_of_work::{StoreError, UnitOfWork};
use domain::{Currency, LedgerAccount, LedgerEntry, Money, PaymentEvent};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::effects::{Effects, captured, event, of_merchant, usd};
use super::fixture::{StoreFixture, begin};

fn entries(events: &[PaymentEvent]) -> Vec<LedgerEntry> {
    events.iter().flat_map(|event| Effects::of(event).entries).collect()
}

async fn post(store: &dyn UnitOfWork, entries: &[LedgerEntry]) -> Result<(), StoreError> {
    let mut unit = store.begin().await?;
    unit.post_entries(entries).await?;
    unit.commit().await
}

pub async fn entries_are_kept_and_change_the_balances(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    post(&*unit_of_work, &entries(&[event("evt_1", "pi_1", &[captured(usd(5))])])).await.unwrap();
    post(&*unit_of_work, &entries(&[event("evt_2", "pi_2", &[captured(usd(7))])])).await.unwrap();
    let expected = [
        "evt_1 payment merchant -5 USD",
        "evt_1 payment provider_clearing 5 USD",
        "evt_2 payment merchant -7 USD",
        "evt_2 payment provider_clearing 7 USD",
    ];
    assert_eq!(store.entries().await, expected);
    assert_eq!(store.balances().await, ["payment merchant -12 USD", "payment provider_clearing 12 USD"]);
}

pub async fn every_account_and_currency_has_a_balance_of_its_own(store: impl StoreFixture) {
    let euros = Money::new(3, Currency::parse("EUR").unwrap());
    let events = [
        event("evt_1", "pi_1", &[captured(usd(5))]),
        event("evt_2", "pi_2", &[captured(euros)]),
        of_merchant("acct_1", event("evt_3", "pi_3", &[captured(usd(9))])),
    ];
    post(&*store.unit_of_work(1), &entries(&events)).await.unwrap();
    let expected = [
        "payment merchant -3 EUR",
        "payment merchant -5 USD",
        "payment provider_clearing 3 EUR",
        "payment provider_clearing 5 USD",
        "payment:acct_1 merchant -9 USD",
        "payment:acct_1 provider_clearing 9 USD",
    ];
    assert_eq!(store.balances().await, expected);
}

pub async fn balances_are_the_sums_of_many_entries(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    // More than one statement takes, and over several units.
    for batch in 0..3 {
        let events: Vec<PaymentEvent> = (batch * 100..(batch + 1) * 100)
            .map(|number| {
                let (event_id, payment) = (format!("evt_{number}"), format!("pi_{number}"));
                let event = event(&event_id, &payment, &[captured(usd(number + 1))]);
                of_merchant(&format!("acct_{}", number % 70), event)
            })
            .collect();
        post(&*unit_of_work, &entries(&events)).await.unwrap();
    }
    let sums = "SELECT account || ' ' || ledger || ' ' || sum(amount_minor) || ' ' || currency \
                FROM ledger_entries GROUP BY account, ledger, currency";
    let mut sums = store.texts(sums).await;
    sums.sort();
    assert_eq!(sums.len(), 140);
    assert_eq!(store.balances().await, sums);
    let total = "SELECT '' || sum(balance_minor) FROM account_balances WHERE ledger = 'provider_clearing'";
    assert_eq!(store.texts(total).await, ["45150"]);
}

pub async fn balances_are_exact_to_the_last_minor_unit(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    // Beyond 2^53 a float would round.
    for (event_id, amount) in [("evt_1", 9_007_199_254_740_993), ("evt_2", i64::MAX - 9_007_199_254_740_993)]
    {
        post(&*unit_of_work, &entries(&[event(event_id, event_id, &[captured(usd(amount))])])).await.unwrap();
    }
    let max = i64::MAX;
    let expected = [format!("payment merchant -{max} USD"), format!("payment provider_clearing {max} USD")];
    assert_eq!(store.balances().await, expected);
}

pub async fn a_batch_that_does_not_fit_is_refused_for_good(store: impl StoreFixture) {
    let too_much = entries(&[
        event("evt_1", "pi_1", &[captured(usd(i64::MAX))]),
        event("evt_2", "pi_2", &[captured(usd(1))]),
    ]);
    let mut unit = begin(&*store.unit_of_work(1)).await;
    let refused = unit.post_entries(&too_much).await;
    assert!(matches!(refused, Err(StoreError::Permanent(_))), "{refused:?}");
    assert!(unit.commit().await.is_err());
    assert_eq!(store.entries().await, [""; 0]);
}

/// Trying again would not help, so it is refused for good, and it says which account it is.
pub async fn a_balance_that_does_not_fit_is_refused_for_good(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    post(&*unit_of_work, &entries(&[event("evt_1", "pi_1", &[captured(usd(i64::MAX))])])).await.unwrap();
    let before = store.balances().await;
    let mut unit = begin(&*unit_of_work).await;
    let refused = unit.post_entries(&entries(&[event("evt_2", "pi_2", &[captured(usd(1))])])).await;
    let Err(StoreError::Permanent(cause)) = refused else { panic!("{refused:?}") };
    assert_eq!(cause.to_string(), "the balance USD provider_clearing of payment would not fit 64 bits");
    assert!(unit.commit().await.is_err());
    assert_eq!(store.balances().await, before);
    assert_eq!(store.entries().await.len(), 2);
}

pub async fn a_balance_may_go_to_either_end_of_64_bits(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut moves = entries(&[event("evt_1", "pi_1", &[captured(usd(i64::MAX))])]);
    post(&*unit_of_work, &moves).await.unwrap();
    // The merchant's is a credit, which has room for one more.
    for (entry, amount) in moves.iter_mut().zip([0, -1]) {
        entry.event = application::testing::event_key("evt_2");
        entry.amount = usd(amount);
    }
    moves.retain(|entry| entry.amount.minor_units() != 0);
    post(&*unit_of_work, &moves).await.unwrap();
    let ends =
        [format!("payment merchant {} USD", i64::MIN), format!("payment provider_clearing {} USD", i64::MAX)];
    assert_eq!(store.balances().await, ends);
    for entry in &mut moves {
        entry.event = application::testing::event_key("evt_3");
    }
    let refused = post(&*unit_of_work, &moves).await;
    assert!(matches!(refused, Err(StoreError::Permanent(_))), "{refused:?}");
    assert_eq!(store.balances().await, ends);
}

pub async fn an_event_posts_to_an_account_once(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let entries = entries(&[event("evt_1", "pi_1", &[captured(usd(5))])]);
    post(&*unit_of_work, &entries).await.unwrap();
    let refused = post(&*unit_of_work, &entries).await;
    assert!(matches!(refused, Err(StoreError::Permanent(_))), "{refused:?}");
    assert_eq!(store.balances().await, ["payment merchant -5 USD", "payment provider_clearing 5 USD"]);
}

pub async fn an_entry_of_nothing_is_refused(store: impl StoreFixture) {
    let mut entries = entries(&[event("evt_1", "pi_1", &[captured(usd(5))])]);
    for entry in &mut entries {
        entry.amount = usd(0);
    }
    let refused = post(&*store.unit_of_work(1), &entries).await;
    assert!(matches!(refused, Err(StoreError::Permanent(_))), "{refused:?}");
}

pub async fn entries_that_cancel_out_are_kept_and_change_no_balance(store: impl StoreFixture) {
    let there = entries(&[event("evt_1", "pi_1", &[captured(usd(5))])]);
    let back = there.iter().map(|entry| LedgerEntry {
        event: application::testing::event_key("evt_2"),
        amount: usd(-entry.amount.minor_units()),
        ..entry.clone()
    });
    let both: Vec<LedgerEntry> = there.iter().cloned().chain(back).collect();
    post(&*store.unit_of_work(1), &both).await.unwrap();
    assert_eq!(store.entries().await.len(), 4);
    assert_eq!(store.balances().await, [""; 0]);
}

/// By whoever: the store itself refuses it.
pub async fn an_entry_is_never_changed_or_removed(store: impl StoreFixture) {
    post(&*store.unit_of_work(1), &entries(&[event("evt_1", "pi_1", &[captured(usd(5))])])).await.unwrap();
    let before = store.entries().await;
    for statement in [
        "UPDATE ledger_entries SET amount_minor = amount_minor + 1",
        "DELETE FROM ledger_entries",
        "DELETE FROM ledger_entries WHERE ledger = 'merchant'",
    ] {
        let refused = store.execute(statement).await.unwrap_err();
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
    assert_eq!(store.entries().await, before);
}

/// Every unit shares all its balances with the others, and comes to them in an order of its own.
pub async fn units_that_share_balances_lose_no_change_and_wait_in_no_circle(store: impl StoreFixture) {
    let start = Arc::new(Barrier::new(4));
    let mut units = JoinSet::new();
    for worker in 0..4 {
        let (unit_of_work, start) = (store.unit_of_work(1), start.clone());
        units.spawn(async move {
            start.wait().await;
            for round in 0..15 {
                let mut events: Vec<PaymentEvent> = (0..20)
                    .map(|number| {
                        let id = format!("{worker}_{round}_{number}");
                        of_merchant(&format!("acct_{number}"), event(&id, &id, &[captured(usd(1))]))
                    })
                    .collect();
                if worker % 2 == 1 {
                    events.reverse();
                }
                post(&*unit_of_work, &entries(&events)).await.expect("nothing stands in its way for long");
            }
        });
    }
    units.join_all().await;
    let balances = store.balances().await;
    assert_eq!(balances.len(), 40);
    let wrong: Vec<&String> = balances
        .iter()
        .filter(|balance| {
            let clearing = balance.contains(LedgerAccount::ProviderClearing.as_str());
            !balance.ends_with(if clearing { " 60 USD" } else { " -60 USD" })
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
