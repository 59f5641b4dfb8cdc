//! Dead letters on a vhost of its own, and what only a broker can do to them.

use std::sync::Arc;
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::inbound::amqp::{AmqpDeadLetterQueue, AmqpQueue, ConsumeSettings, DeadLetterSettings};
use adapters::outbound::amqp::{AmqpPublisher, AmqpSettings, PublisherSettings, topology};
use application::ports::dead_letter_queue::{DeadLetterQueue, DeadLetterSubscription};
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::EventQueue;
use application::testing::envelope;
use async_trait::async_trait;
use bytes::Bytes;
use harness::rabbitmq::{AmqpProxy, TestVhost};
use lapin::BasicProperties;

use super::{
    Fixture, LINGER, SOON, Setup, WORKER, acknowledge, give_up_numbers, ids, nothing_comes, numbers,
    subscribe, take,
};
use crate::event_queue::payload;

pub struct AmqpFixture {
    vhost: TestVhost,
    publisher: Arc<AmqpPublisher>,
    events: Arc<AmqpQueue>,
    letters: Arc<AmqpDeadLetterQueue>,
    settings: DeadLetterSettings,
}

fn own_settings(vhost: &TestVhost) -> AmqpSettings {
    AmqpSettings { worker: Some(WORKER.to_owned()), ..vhost.settings() }
}

#[async_trait]
impl Fixture for AmqpFixture {
    async fn new(setup: Setup) -> Self {
        let vhost = TestVhost::create().await;
        let publisher = AmqpPublisher::start(vhost.settings(), PublisherSettings::default());
        let consume = ConsumeSettings::default();
        let events = Arc::new(AmqpQueue::new(own_settings(&vhost), consume, Arc::new(SystemClock)));
        let settings = DeadLetterSettings {
            in_hand_max: setup.in_hand_max,
            in_hand_bytes_max: setup.in_hand_bytes_max,
            payload_bytes_max: setup.longest_payload,
            linger: LINGER,
            acknowledge_timeout: Duration::from_secs(5),
        };
        let letters = Arc::new(AmqpDeadLetterQueue::new(own_settings(&vhost), settings));
        assert!(publisher.wait_until_serving(SOON).await);
        Self { vhost, publisher, events, letters, settings }
    }

    fn publisher(&self) -> Arc<dyn EventPublisher> {
        self.publisher.clone()
    }

    fn events(&self) -> Arc<dyn EventQueue> {
        self.events.clone()
    }

    fn letters(&self) -> Arc<dyn DeadLetterQueue> {
        self.letters.clone()
    }

    async fn put_unreadable(&self, payload: Bytes) {
        self.vhost.put(topology::DEAD_LETTER_QUEUE, BasicProperties::default(), &payload).await;
    }

    async fn killed(self) -> Self {
        // What a process leaves at the broker is what its connections leave.
        let letters = Arc::new(AmqpDeadLetterQueue::new(own_settings(&self.vhost), self.settings));
        Self { letters, ..self }
    }
}

crate::dead_letter_queue_contract!(contract, crate::dead_letter_queue::amqp::AmqpFixture);

async fn fixture() -> AmqpFixture {
    AmqpFixture::new(Setup::default()).await
}

async fn fails(subscription: &mut dyn DeadLetterSubscription) {
    let waited = tokio::time::timeout(SOON, subscription.next_batch()).await;
    waited.expect("it fails, and does not wait").expect_err("it has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_broker_gave_up_itself_comes_with_its_word() {
    let fixture = fixture().await;
    let sent = envelope("evt_1", payload(1));
    fixture.publisher.publish(vec![sent.clone()]).await.remove(0).expect("published");
    for _ in 0..=topology::MAIN_DELIVERY_LIMIT {
        let mut events = fixture.events.subscribe().await.expect("subscribed");
        events.next_batch().await.expect("handed out");
        events.close().await.expect("closed");
    }
    let mut subscription = subscribe(&fixture).await;
    for _ in 0..2 {
        let letter = take(&mut *subscription, 1).await.remove(0);
        assert_eq!(letter.broker_reason.as_deref(), Some("delivery_limit"));
        assert_eq!((letter.reason, letter.worker, letter.release), (None, None, None));
        assert_eq!((letter.failed_attempts, letter.dead_lettered_at), (0, None));
        assert_eq!(letter.content.expect("readable"), sent);
        subscription.close().await.expect("closed");
        subscription = subscribe(&fixture).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_ends_when_the_queue_is_deleted_and_the_next_one_puts_it_back() {
    let fixture = fixture().await;
    let mut subscription = subscribe(&fixture).await;
    fixture.vhost.delete_queue(topology::DEAD_LETTER_QUEUE).await;
    fails(&mut *subscription).await;
    fails(&mut *subscription).await;
    subscription.close().await.ok();
    let mut again = subscribe(&fixture).await;
    give_up_numbers(&fixture, 0..1).await;
    take(&mut *again, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_ends_when_its_connection_is_closed_and_the_next_one_gets_everything() {
    let fixture = fixture().await;
    give_up_numbers(&fixture, 0..5).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 5).await;
    fixture.vhost.close_all_connections().await;
    fails(&mut *subscription).await;
    // An acknowledgement that comes too late takes nothing off.
    subscription.acknowledge(taken.iter().map(|letter| letter.token).collect()).await.ok();
    subscription.close().await.ok();
    let mut again = subscribe(&fixture).await;
    let back = take(&mut *again, 5).await;
    assert_eq!(ids(&back), numbers(0..5));
    acknowledge(&mut *again, &back).await;
    again.close().await.expect("closed");
    nothing_comes(&mut *subscribe(&fixture).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledgements_that_the_broker_never_saw_cost_no_letter() {
    let fixture = fixture().await;
    give_up_numbers(&fixture, 0..5).await;
    let proxy = AmqpProxy::start(fixture.vhost.address()).await;
    let through =
        AmqpSettings { url: fixture.vhost.url_by_port(proxy.port()).into(), ..own_settings(&fixture.vhost) };
    let letters = AmqpDeadLetterQueue::new(through, fixture.settings);
    let mut subscription = letters.subscribe().await.expect("subscribed");
    let taken = take(&mut *subscription, 5).await;
    proxy.stall(true);
    acknowledge(&mut *subscription, &taken).await;
    proxy.cut();
    fails(&mut *subscription).await;
    drop(subscription);
    assert_eq!(ids(&take(&mut *subscribe(&fixture).await, 5).await), numbers(0..5));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_broker_subscribing_fails_within_its_time_out() {
    let fixture = fixture().await;
    let nowhere = AmqpSettings {
        url: fixture.vhost.url_by_port(1).into(),
        connect_timeout: Duration::from_secs(1),
        ..own_settings(&fixture.vhost)
    };
    let letters = AmqpDeadLetterQueue::new(nowhere, fixture.settings);
    let subscribed = tokio::time::timeout(SOON, letters.subscribe()).await.expect("it answers");
    assert!(subscribed.is_err());
}
