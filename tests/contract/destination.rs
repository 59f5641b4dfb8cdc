//! What every destination must do as [`application::ports::destination::Destination`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod amqp;
mod http;

use std::sync::Arc;
use std::time::Duration;

use application::cloud_event;
use application::ports::destination::{DeliveryOutcome, Destination, RenderedMessage};
use application::testing::outbox_entry;
use async_trait::async_trait;

/// A destination, and its other end.
#[async_trait]
pub trait DestinationFixture: Send + Sync + 'static {
    async fn create() -> Self;

    fn destination(&self) -> Arc<dyn Destination>;

    /// The bodies that have arrived since this was last asked, in order.
    async fn arrived(&self) -> Vec<Vec<u8>>;

    /// Takes the other end away.
    async fn take_away(&mut self);

    /// Brings it back.
    async fn bring_back(&mut self);
}

/// Stamps every behaviour for one destination: `destination_contract!(name, Fixture)`.
macro_rules! destination_contract {
    ($name:ident, $fixture:ty) => {
        mod $name {
            crate::destination::destination_contract! { @stamp $fixture:
                messages_arrive_as_they_are_and_a_payments_in_order,
                nothing_to_deliver_is_nothing_to_do,
                while_it_is_away_it_says_so_in_time_and_it_works_again_when_it_is_back,
                a_delivery_that_is_given_up_spoils_nothing,
            }
        }
    };
    (@stamp $fixture:ty: $($behaviour:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            crate::destination::$behaviour(
                <$fixture as crate::destination::DestinationFixture>::create().await,
            )
            .await;
        }
    )*};
}

use destination_contract;

/// A message about that payment.
fn message(number: i64, payment: &str) -> RenderedMessage {
    let entry = outbox_entry(number, payment);
    RenderedMessage {
        id: entry.id.clone(),
        kind: entry.kind.clone(),
        payment: (entry.source.clone(), entry.payment_id.clone()),
        body: cloud_event::render(&entry),
    }
}

fn bodies(messages: &[RenderedMessage]) -> Vec<Vec<u8>> {
    messages.iter().map(|message| message.body.to_vec()).collect()
}

async fn messages_arrive_as_they_are_and_a_payments_in_order(fixture: impl DestinationFixture) {
    let destination = fixture.destination();
    let payments = ["pi_1", "pi_2", "pi_é", "pi_1", "pi_1", "pi_2"];
    let messages: Vec<_> = (1..).zip(payments).map(|(number, payment)| message(number, payment)).collect();
    assert_eq!(destination.deliver(&messages).await, vec![DeliveryOutcome::Delivered; 6]);
    let arrived = fixture.arrived().await;
    let of = |payment: &str| {
        let messages = messages.iter().filter(|message| message.payment.1 == payment);
        messages.map(|message| message.body.to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(arrived.len(), 6);
    for payment in ["pi_1", "pi_2", "pi_é"] {
        let expected = of(payment);
        let found: Vec<_> = arrived.iter().filter(|body| expected.contains(body)).cloned().collect();
        assert_eq!(found, expected, "{payment}");
    }
    assert_eq!(destination.deliver(&messages[..1]).await, [DeliveryOutcome::Delivered]);
    assert_eq!(fixture.arrived().await, bodies(&messages[..1]));
}

async fn nothing_to_deliver_is_nothing_to_do(fixture: impl DestinationFixture) {
    assert_eq!(fixture.destination().deliver(&[]).await, []);
    assert!(fixture.arrived().await.is_empty());
}

async fn while_it_is_away_it_says_so_in_time_and_it_works_again_when_it_is_back(
    mut fixture: impl DestinationFixture,
) {
    let destination = fixture.destination();
    let messages = [message(1, "pi_1"), message(2, "pi_1"), message(3, "pi_2")];
    fixture.take_away().await;
    let asked = tokio::time::timeout(Duration::from_mins(1), destination.deliver(&messages));
    let outcomes = asked.await.expect("it answers in time");
    assert_eq!(outcomes.len(), 3);
    for outcome in outcomes {
        let unavailable = matches!(outcome, DeliveryOutcome::Unavailable { .. } | DeliveryOutcome::NotTried);
        assert!(unavailable, "{outcome:?}");
    }
    fixture.bring_back().await;
    let delivered = vec![DeliveryOutcome::Delivered; 3];
    for _ in 0..100 {
        if destination.deliver(&messages).await == delivered {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it does not work again");
}

async fn a_delivery_that_is_given_up_spoils_nothing(fixture: impl DestinationFixture) {
    let destination = fixture.destination();
    let messages = [message(1, "pi_1"), message(2, "pi_2")];
    for wait in [0, 1, 2, 5, 20] {
        let delivering = destination.deliver(&messages);
        tokio::time::timeout(Duration::from_millis(wait), delivering).await.ok();
    }
    assert_eq!(destination.deliver(&messages).await, vec![DeliveryOutcome::Delivered; 2]);
    let arrived = fixture.arrived().await;
    assert!(bodies(&messages).iter().all(|body| arrived.contains(body)));
}
