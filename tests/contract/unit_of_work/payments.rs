//! The rows that events change.

use application::ports::unit_of_work::StoreError;
use application::testing::succeeded;
use domain::{
    Currency, EventId, MerchantId, Money, Payment, PaymentState, Stage, Standing, Timestamp, Totals,
};

use super::fixture::{StoreFixture, begin, payment, payment_key, save};

pub async fn a_payment_comes_back_as_it_was_saved(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let first = payment("pi_1", 5);
    save(&*unit_of_work, std::slice::from_ref(&first)).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.lock_payments(&[payment_key("pi_1")]).await.unwrap(), std::slice::from_ref(&first));
    let second = Payment { last_event: EventId::parse("evt_2").unwrap(), revision: 2, ..first };
    unit.save_payments(std::slice::from_ref(&second)).await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.lock_payments(&[payment_key("pi_1")]).await.unwrap(), [second]);
}

/// Payments that have everything that a payment can have, or nothing.
fn of_every_kind() -> Vec<Payment> {
    let bare = Payment {
        currency: None,
        standing: None,
        totals: Totals::default(),
        captures_closed: false,
        ..payment("pi_bare", 0)
    };
    let full = Payment {
        merchant: Some(MerchantId::parse("acct_é \u{1F600}").unwrap()),
        currency: Some(Currency::parse("KWD").unwrap()),
        totals: Totals {
            authorised: 2,
            captured: 1_000,
            charged: 3,
            refunded_singly: 40,
            refunded_in_all: 50,
            refunds_failed: 6,
            disputes_opened: 700,
            disputes_won: 80,
            disputes_lost: 9,
        },
        captures_closed: false,
        ..payment("pi_full", 0)
    };
    let ranks = [10, 20, 30, 40, 50, 60, 100, 110, 120, 130, 140];
    let micros = [0, 1, -1, 1_700_000_000_123_456, -2_208_988_800_000_001, 32_503_680_000_000_000];
    let mut payments: Vec<Payment> = ranks
        .into_iter()
        .flat_map(|rank| micros.map(|micros| (rank, micros)))
        .map(|(rank, micros)| Payment {
            key: payment_key(&format!("pi_{rank}_{micros}")),
            standing: Some(Standing {
                at: Timestamp::from_micros(micros),
                stage: Stage::from_rank(rank).unwrap(),
            }),
            ..full.clone()
        })
        .collect();
    payments.extend([bare, full]);
    payments.sort_by(|one, other| one.key.cmp(&other.key));
    payments
}

pub async fn all_of_a_payment_comes_back_when_it_is_created_and_when_it_is_changed(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let created = of_every_kind();
    let keys: Vec<_> = created.iter().map(|payment| payment.key.clone()).collect();
    save(&*unit_of_work, &created).await.unwrap();
    assert_eq!(begin(&*unit_of_work).await.lock_payments(&keys).await.unwrap(), created);

    // Each becomes what its neighbour was.
    let mut changed = created.clone();
    changed.rotate_left(1);
    for (changed, key) in changed.iter_mut().zip(&keys) {
        changed.key = key.clone();
        changed.revision = 2;
    }
    save(&*unit_of_work, &changed).await.unwrap();
    assert_eq!(begin(&*unit_of_work).await.lock_payments(&keys).await.unwrap(), changed);
}

/// People and programs ask the table, too.
pub async fn what_follows_from_the_sums_is_stored_with_them(store: impl StoreFixture) {
    let payments = of_every_kind();
    save(&*store.unit_of_work(1), &payments).await.unwrap();
    let derived = "SELECT payment_id || ' ' || state || ' ' || amount_minor || ' ' || refunded_minor || ' ' \
                     || disputed_minor \
                   FROM payments";
    let mut stored = store.texts(derived).await;
    stored.sort();
    let mut expected: Vec<String> = payments
        .iter()
        .map(|payment| {
            let (id, state) = (&payment.key.payment_id, payment.state().as_str());
            let amount = payment.amount().map_or(0, Money::minor_units);
            format!("{id} {state} {amount} {} {}", payment.refunded(), payment.disputed())
        })
        .collect();
    expected.sort();
    assert_eq!(stored, expected);
    assert!(payments.iter().any(|payment| payment.state() == PaymentState::DisputeOpened));
}

/// Whatever the domain says, the store itself does not take it.
pub async fn more_refunded_than_captured_is_refused_by_the_store(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    save(&*unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let too_much = [
        Totals { captured: 5, refunded_singly: 6, ..Totals::default() },
        Totals { captured: 5, refunded_in_all: 6, ..Totals::default() },
        Totals { captured: 5, refunded_singly: 7, refunds_failed: 1, ..Totals::default() },
        Totals { captured: 5, refunds_failed: 1, ..Totals::default() },
        Totals { captured: 5, disputes_opened: 5, disputes_won: 3, disputes_lost: 3, ..Totals::default() },
    ];
    for totals in too_much {
        for payment in
            [Payment { totals, revision: 2, ..payment("pi_1", 5) }, Payment { totals, ..payment("pi_2", 5) }]
        {
            let refused = save(&*unit_of_work, &[payment]).await;
            assert!(matches!(refused, Err(StoreError::Permanent(_))), "{totals:?}: {refused:?}");
        }
    }
    store.execute("UPDATE payments SET refunded_singly_minor = 6").await.unwrap_err();
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}

pub async fn amounts_are_exact_to_the_last_minor_unit(store: impl StoreFixture) {
    // Beyond 2^53 a float would round.
    let amounts = [0, 9_007_199_254_740_993, i64::MAX];
    let payments = amounts.map(|amount| payment(&format!("pi_{amount}"), amount));
    let unit_of_work = store.unit_of_work(1);
    save(&*unit_of_work, &payments).await.unwrap();
    let keys = payments.clone().map(|payment| payment.key);
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.lock_payments(&keys).await.unwrap(), payments);
}

pub async fn only_existing_payments_are_loaded_in_key_order(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let stored = ["pi_B", "pi_a", "pi_é"].map(|id| payment(id, 5));
    save(&*unit_of_work, &stored).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    let keys = ["pi_é", "pi_none", "pi_a", "pi_B"].map(payment_key);
    assert_eq!(unit.lock_payments(&keys).await.unwrap(), stored);
}

pub async fn a_payment_that_was_created_meanwhile_is_not_overwritten(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(2);
    let mut unit = begin(&*unit_of_work).await;
    assert_eq!(unit.lock_payments(&[payment_key("pi_1")]).await.unwrap(), []);
    drop(unit);
    save(&*unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    let lost = unit.save_payments(&[payment("pi_0", 7), payment("pi_1", 7)]).await;
    assert!(matches!(lost, Err(StoreError::Transient(_))), "{lost:?}");
    assert!(unit.commit().await.is_err(), "a unit that lost is committed");
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}

pub async fn a_payment_that_does_not_exist_is_not_changed(store: impl StoreFixture) {
    let changed = Payment { revision: 2, ..payment("pi_1", 5) };
    let lost = save(&*store.unit_of_work(1), &[changed]).await;
    assert!(matches!(lost, Err(StoreError::Transient(_))), "{lost:?}");
    assert_eq!(store.payments().await, []);
}

pub async fn a_stale_change_is_not_saved(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    save(&*unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let stale = Payment { revision: 3, ..payment("pi_1", 7) };
    let lost = save(&*unit_of_work, &[stale]).await;
    assert!(matches!(lost, Err(StoreError::Transient(_))), "{lost:?}");
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}

/// F053: breaking a rule that is not ours is neither a duplicate nor something to try again.
pub async fn breaking_a_business_rule_is_permanent(store: impl StoreFixture) {
    store.forbid_equal_amounts().await;
    let unit_of_work = store.unit_of_work(1);
    save(&*unit_of_work, &[payment("pi_1", 5)]).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    unit.claim(&[succeeded("evt_2", "pi_2", 5)]).await.unwrap();
    let refused = unit.save_payments(&[payment("pi_2", 5)]).await;
    assert!(matches!(refused, Err(StoreError::Permanent(_))), "{refused:?}");
    assert!(unit.commit().await.is_err());
    assert_eq!(store.processed().await, []);
    assert_eq!(store.payments().await, [("pi_1".to_owned(), 5, 1)]);
}
