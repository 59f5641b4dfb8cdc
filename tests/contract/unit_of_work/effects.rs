//! Events with all their effects, as a worker stores them.

use application::ports::unit_of_work::{
    Claim, NewFact, OutboxMessage, RecordedEvent, StoreError, Transaction, UnitOfWork,
};
use application::testing::succeeded;
use bytes::Bytes;
use domain::{
    Change, Currency, Decision, Effect, EstablishedFact, Fact, FactId, FactKey, LedgerEntry, MerchantId,
    Money, Payment, PaymentChange, PaymentEvent, PaymentId, PaymentKey, decide,
};

/// US cents.
pub fn usd(minor_units: i64) -> Money {
    Money::new(minor_units, Currency::parse("USD").unwrap())
}

pub fn fact_id(text: &str) -> FactId {
    FactId::parse(text).unwrap()
}

/// Everything that was captured, in one capture.
pub fn captured(amount: Money) -> Fact {
    Fact::Captured { capture: fact_id("single"), amount, last: true }
}

/// An event that tells `facts` of `payment`.
pub fn event(id: &str, payment: &str, facts: &[Fact]) -> PaymentEvent {
    let payment = PaymentId::parse(payment).unwrap();
    let change = PaymentChange { payment, merchant: None, facts: facts.to_vec() };
    PaymentEvent { effect: Effect::Change(change), ..succeeded(id, "unused", 0) }
}

/// The same event, about a payment of that merchant.
pub fn of_merchant(merchant: &str, mut event: PaymentEvent) -> PaymentEvent {
    if let Effect::Change(change) = &mut event.effect {
        change.merchant = Some(MerchantId::parse(merchant).unwrap());
    }
    event
}

/// What an event changes.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    pub payments: Vec<Payment>,
    pub facts: Vec<NewFact>,
    pub messages: Vec<OutboxMessage>,
    pub entries: Vec<LedgerEntry>,
}

impl Effects {
    /// What `event` changes where its payment is not known yet.
    pub fn of(event: &PaymentEvent) -> Self {
        match decide(None, |_| None, event) {
            Ok(Decision::Apply(change)) => Self::from(*change, event),
            other => panic!("{} is not applied: {other:?}", event.key),
        }
    }

    fn from(change: Change, event: &PaymentEvent) -> Self {
        let Change { payment, facts, entries, announcements } = change;
        let key = payment.key.clone();
        let fact = |fact| NewFact { payment: key.clone(), fact, event: event.key.clone() };
        let message = |announcement| OutboxMessage { announcement, event: event.key.clone() };
        Self {
            facts: facts.into_iter().map(fact).collect(),
            messages: announcements.into_iter().map(message).collect(),
            entries,
            payments: vec![payment],
        }
    }

    /// Stores them.
    pub async fn store(&self, unit: &mut dyn Transaction) -> Result<(), StoreError> {
        unit.save_payments(&self.payments).await?;
        unit.establish_facts(&self.facts).await?;
        unit.enqueue_messages(&self.messages).await?;
        unit.post_entries(&self.entries).await
    }
}

/// Applies each event in a unit of its own.
pub async fn apply(store: &dyn UnitOfWork, events: &[PaymentEvent]) {
    for event in events {
        apply_one(store, event).await.unwrap_or_else(|error| panic!("{}: {error:?}", event.key));
    }
}

/// Applies an event in a unit of its own; what is processed already has no effect.
pub async fn apply_one(store: &dyn UnitOfWork, event: &PaymentEvent) -> Result<(), StoreError> {
    let mut unit = store.begin().await?;
    if unit.claim(std::slice::from_ref(event)).await? == [Claim::Fresh] {
        match decision(&mut *unit, event).await? {
            Decision::Apply(change) => Effects::from(*change, event).store(&mut *unit).await?,
            Decision::Record(reason) => {
                let payload = Bytes::from_static(b"{}");
                unit.record(&[RecordedEvent { event: event.clone(), reason, payload }]).await?;
            }
            Decision::NotReady(waits_for) => panic!("{} waits: {waits_for}", event.key),
        }
    }
    unit.commit().await
}

async fn decision(unit: &mut dyn Transaction, event: &PaymentEvent) -> Result<Decision, StoreError> {
    let keys: Vec<PaymentKey> = event.payment_key().into_iter().collect();
    let payments = unit.lock_payments(&keys).await?;
    let facts: Vec<(PaymentKey, FactKey)> = keys
        .iter()
        .zip(event.change())
        .flat_map(|(key, change)| change.facts.iter().map(move |fact| (key.clone(), fact)))
        .map(|(key, fact)| (key, fact.key(event.occurred_at)))
        .collect();
    let known = unit.known_facts(&facts).await?;
    let known = |key: &FactKey| -> Option<EstablishedFact> {
        known.iter().find(|(_, fact)| fact.key == *key).map(|(_, fact)| fact.clone())
    };
    Ok(decide(payments.first(), known, event).expect("an event that is possible"))
}
