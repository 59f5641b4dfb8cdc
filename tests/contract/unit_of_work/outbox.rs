//! What the rest of the company is to hear.

use application::ports::unit_of_work::{OutboxMessage, StoreError, UnitOfWork};
use domain::{Fact, PaymentEvent};

use super::effects::{Effects, captured, event, of_merchant, usd};
use super::fixture::{StoreFixture, begin};

fn messages(events: &[PaymentEvent]) -> Vec<OutboxMessage> {
    events.iter().flat_map(|event| Effects::of(event).messages).collect()
}

fn paid(event_id: &str, payment: &str) -> PaymentEvent {
    event(event_id, payment, &[captured(usd(5))])
}

async fn enqueue(store: &dyn UnitOfWork, messages: &[OutboxMessage]) -> Result<(), StoreError> {
    let mut unit = begin(store).await;
    unit.enqueue_messages(messages).await?;
    unit.commit().await
}

pub async fn a_message_is_there_only_after_the_commit(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut unit = begin(&*unit_of_work).await;
    unit.enqueue_messages(&messages(&[paid("evt_1", "pi_1")])).await.unwrap();
    assert_eq!(store.messages().await, [""; 0]);
    unit.commit().await.unwrap();
    assert_eq!(store.messages().await, ["payment/pi_1/captured:single"]);
}

pub async fn a_message_keeps_all_that_it_says(store: impl StoreFixture) {
    let paid = of_merchant("acct_1", paid("evt_1", "pi_1"));
    let canceled = event("evt_2", "pi_2", &[Fact::Canceled]);
    enqueue(&*store.unit_of_work(1), &messages(&[paid, canceled])).await.unwrap();
    let all = "SELECT consumer || ' ' || id || ' ' || kind || ' ' || source || ' ' || payment_id || ' ' || account \
                 || ' ' || fact || ' ' || coalesce(amount_minor, -1) || ' ' || coalesce(currency, '-') || ' ' \
                 || event_id \
               FROM outbox ORDER BY seq";
    let expected = [
        "payments payment/pi_1/captured:single payment.succeeded payment pi_1 payment:acct_1 captured:single 5 \
         USD evt_1",
        "payments payment/pi_2/canceled payment.canceled payment pi_2 payment canceled -1 - evt_2",
    ];
    assert_eq!(store.texts(all).await, expected);
}

/// The relay reads them by their numbers, and a payment's messages are to be heard as they came.
pub async fn messages_are_numbered_as_they_were_enqueued(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    let mut expected = Vec::new();
    for batch in [["pi_z", "pi_a"], ["pi_m", "pi_b"]] {
        let events: Vec<PaymentEvent> = (0..40)
            .flat_map(|number| batch.map(|payment| paid("evt_1", &format!("{payment}_{}", 99 - number))))
            .collect();
        let messages = messages(&events);
        expected.extend(messages.iter().map(|message| message.announcement.id()));
        enqueue(&*unit_of_work, &messages).await.unwrap();
    }
    assert_eq!(store.messages().await, expected);
}

pub async fn a_message_is_not_stored_twice(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    enqueue(&*unit_of_work, &messages(&[paid("evt_1", "pi_1")])).await.unwrap();
    let mut unit = begin(&*unit_of_work).await;
    let lost = unit.enqueue_messages(&messages(&[paid("evt_3", "pi_3"), paid("evt_2", "pi_1")])).await;
    assert!(matches!(lost, Err(StoreError::Transient(_))), "{lost:?}");
    assert!(unit.commit().await.is_err(), "a unit that lost is committed");
    assert_eq!(store.messages().await, ["payment/pi_1/captured:single"]);
}
