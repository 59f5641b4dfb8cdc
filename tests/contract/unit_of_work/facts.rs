//! What is known of payments.

use application::ports::unit_of_work::{NewFact, StoreError, UnitOfWork};
use application::testing::event_key;
use domain::{EstablishedFact, Fact, FactKey, PaymentKey};

use super::effects::{Effects, event, fact_id, usd};
use super::fixture::{StoreFixture, begin, payment_key};

fn refunded(refund: &str, minor_units: i64) -> EstablishedFact {
    let fact = Fact::Refunded { refund: fact_id(refund), amount: usd(minor_units) };
    EstablishedFact { key: fact.key(None), amount: fact.amount() }
}

fn canceled() -> EstablishedFact {
    EstablishedFact { key: Fact::Canceled.key(None), amount: None }
}

fn new_fact(payment: &str, fact: EstablishedFact) -> NewFact {
    NewFact { payment: payment_key(payment), fact, event: event_key("evt_1") }
}

async fn establish(store: &dyn UnitOfWork, facts: &[NewFact]) -> Result<(), StoreError> {
    let mut unit = begin(store).await;
    unit.establish_facts(facts).await?;
    unit.commit().await
}

pub async fn only_what_is_established_is_known(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let facts = [new_fact("pi_1", refunded("re_1", 5)), new_fact("pi_1", canceled())];
    establish(&*unit_of_work, &facts).await.unwrap();
    let asked: Vec<(PaymentKey, FactKey)> = [
        ("pi_1", refunded("re_2", 5)),
        ("pi_1", canceled()),
        ("pi_2", refunded("re_1", 5)),
        ("pi_1", refunded("re_1", 5)),
    ]
    .map(|(payment, fact)| (payment_key(payment), fact.key))
    .to_vec();
    let mut unit = begin(&*unit_of_work).await;
    let mut known = unit.known_facts(&asked).await.unwrap();
    known.sort_by(|(_, one), (_, other)| one.key.cmp(&other.key));
    let expected = [(payment_key("pi_1"), canceled()), (payment_key("pi_1"), refunded("re_1", 5))];
    assert_eq!(known, expected);
    assert_eq!(unit.known_facts(&[]).await.unwrap(), []);
}

pub async fn a_fact_is_known_in_its_own_unit_at_once(store: impl StoreFixture) {
    let mut unit = begin(&*store.unit_of_work(1)).await;
    unit.establish_facts(&[new_fact("pi_1", refunded("re_1", 5))]).await.unwrap();
    let asked = [(payment_key("pi_1"), refunded("re_1", 5).key)];
    assert_eq!(unit.known_facts(&asked).await.unwrap().len(), 1);
}

pub async fn amounts_of_facts_are_exact_and_zero_is_one(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let amounts = [0, 9_007_199_254_740_993, i64::MAX];
    let facts = amounts.map(|amount| refunded(&format!("re_{amount}"), amount));
    establish(&*unit_of_work, &facts.clone().map(|fact| new_fact("pi_1", fact))).await.unwrap();
    let asked = facts.clone().map(|fact| (payment_key("pi_1"), fact.key));
    let known = begin(&*unit_of_work).await.known_facts(&asked).await.unwrap();
    for fact in facts {
        assert!(known.contains(&(payment_key("pi_1"), fact.clone())), "{fact:?} is not in {known:?}");
    }
}

pub async fn many_facts_are_each_found(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let facts: Vec<EstablishedFact> =
        (0..500).map(|number| refunded(&format!("re_{number}"), number)).collect();
    let every_second: Vec<NewFact> =
        facts.iter().step_by(2).map(|fact| new_fact("pi_1", fact.clone())).collect();
    establish(&*unit_of_work, &every_second).await.unwrap();
    let asked: Vec<(PaymentKey, FactKey)> =
        facts.iter().rev().map(|fact| (payment_key("pi_1"), fact.key.clone())).collect();
    let mut known = begin(&*unit_of_work).await.known_facts(&asked).await.unwrap();
    known.sort_by_key(|(_, fact)| fact.amount.map(domain::Money::minor_units));
    let known: Vec<EstablishedFact> = known.into_iter().map(|(_, fact)| fact).collect();
    assert_eq!(known, facts.into_iter().step_by(2).collect::<Vec<_>>());
}

pub async fn a_fact_that_is_known_is_not_established_again(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    establish(&*unit_of_work, &[new_fact("pi_1", refunded("re_1", 5))]).await.unwrap();
    let again = NewFact { event: event_key("evt_2"), ..new_fact("pi_1", refunded("re_1", 7)) };
    let mut unit = begin(&*unit_of_work).await;
    let lost = unit.establish_facts(&[new_fact("pi_1", canceled()), again]).await;
    assert!(matches!(lost, Err(StoreError::Transient(_))), "{lost:?}");
    assert!(unit.commit().await.is_err(), "a unit that lost is committed");
    assert_eq!(store.facts().await, ["pi_1 refunded:re_1 evt_1 5 USD"]);
}

pub async fn an_event_may_establish_several_facts(store: impl StoreFixture) {
    let charged = Fact::Charged { fee: fact_id("ch_1"), amount: usd(1) };
    let told = event("evt_1", "pi_1", &[Fact::Authorised { amount: usd(5) }, charged]);
    let unit_of_work = store.unit_of_work(1);
    establish(&*unit_of_work, &Effects::of(&told).facts).await.unwrap();
    assert_eq!(store.facts().await, ["pi_1 authorised evt_1 5 USD", "pi_1 charged:ch_1 evt_1 1 USD"]);
}
