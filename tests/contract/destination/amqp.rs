//! RabbitMQ: the contract, and what only a broker can do.

use std::sync::Arc;
use std::time::Duration;

use adapters::outbound::amqp::AmqpAnnouncer;
use application::cloud_event;
use application::ports::destination::{DeliveryOutcome, Destination};
use async_trait::async_trait;
use harness::rabbitmq::{AmqpProxy, TestVhost};
use lapin::options::{ExchangeDeclareOptions, ExchangeDeleteOptions, QueueBindOptions};
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::{BasicProperties, ExchangeKind};

use super::{DestinationFixture, destination_contract, message};

destination_contract!(contract, crate::destination::amqp::AmqpFixture);

const EXCHANGE: &str = "payonce.events";
const QUEUE: &str = "heard";
const TIMEOUT: Duration = Duration::from_secs(5);

pub struct AmqpFixture {
    vhost: TestVhost,
    proxy: AmqpProxy,
}

fn announcer(vhost: &TestVhost) -> AmqpAnnouncer {
    AmqpAnnouncer::new(vhost.settings(), TIMEOUT)
}

/// A queue that hears what `pattern` says.
async fn listen(vhost: &TestVhost, queue: &str, pattern: &str, arguments: FieldTable) {
    vhost.declare_queue(queue, arguments).await;
    let channel = vhost.channel().await;
    let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
    let declared =
        channel.exchange_declare(EXCHANGE.into(), ExchangeKind::Topic, options, FieldTable::default());
    declared.await.unwrap();
    let options = QueueBindOptions::default();
    let bound =
        channel.queue_bind(queue.into(), EXCHANGE.into(), pattern.into(), options, FieldTable::default());
    bound.await.unwrap();
}

#[async_trait]
impl DestinationFixture for AmqpFixture {
    async fn create() -> Self {
        let vhost = TestVhost::create().await;
        listen(&vhost, QUEUE, "#", FieldTable::default()).await;
        let proxy = AmqpProxy::start(vhost.address()).await;
        Self { vhost, proxy }
    }

    fn destination(&self) -> Arc<dyn Destination> {
        let mut settings = self.vhost.settings();
        settings.url = self.vhost.url_by_port(self.proxy.port()).into();
        settings.connect_timeout = Duration::from_secs(1);
        Arc::new(AmqpAnnouncer::new(settings, Duration::from_secs(1)))
    }

    async fn arrived(&self) -> Vec<Vec<u8>> {
        let heard: Vec<(BasicProperties, Vec<u8>)> = self.vhost.get_all(QUEUE).await;
        heard.into_iter().map(|(_, body)| body).collect()
    }

    async fn take_away(&mut self) {
        // Connections are accepted, and nothing is heard of them any more.
        self.proxy.stall(true);
    }

    async fn bring_back(&mut self) {
        self.proxy.stall(false);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_survives_the_broker_and_says_what_it_is() {
    let vhost = TestVhost::create().await;
    listen(&vhost, QUEUE, "payment.*", FieldTable::default()).await;
    listen(&vhost, "others", "payout.*", FieldTable::default()).await;
    let outcomes = announcer(&vhost).deliver(&[message(1, "pi_1")]).await;
    assert_eq!(outcomes, [DeliveryOutcome::Delivered]);
    let (properties, _) = vhost.get(QUEUE).await.unwrap();
    assert_eq!(*properties.delivery_mode(), Some(2));
    assert_eq!(properties.message_id().as_ref().map(ShortString::as_str), Some("payment/pi_1/fact:1"));
    assert_eq!(properties.content_type().as_ref().map(ShortString::as_str), Some(cloud_event::CONTENT_TYPE));
    assert_eq!(*properties.correlation_id(), None);
    assert_eq!(vhost.depth("others").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_has_to_listen() {
    let vhost = TestVhost::create().await;
    let outcomes = announcer(&vhost).deliver(&[message(1, "pi_1"), message(2, "pi_2")]).await;
    assert_eq!(outcomes, vec![DeliveryOutcome::Delivered; 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_a_full_queue_refuses_is_not_overtaken_by_the_next_of_its_payment() {
    let vhost = TestVhost::create().await;
    let mut full = FieldTable::default();
    full.insert("x-max-length".into(), AMQPValue::LongInt(1));
    full.insert("x-overflow".into(), AMQPValue::LongString("reject-publish".into()));
    listen(&vhost, QUEUE, "#", full).await;
    let announcer = announcer(&vhost);
    assert_eq!(announcer.deliver(&[message(1, "pi_1")]).await, [DeliveryOutcome::Delivered]);
    let messages = [message(2, "pi_1"), message(3, "pi_1")];
    let outcomes = announcer.deliver(&messages).await;
    assert!(matches!(outcomes[0], DeliveryOutcome::Unavailable { retry_after: None, .. }), "{outcomes:?}");
    assert_eq!(outcomes[1], DeliveryOutcome::NotTried);
    vhost.purge(QUEUE).await;
    assert_eq!(announcer.deliver(&messages[..1]).await, [DeliveryOutcome::Delivered]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_its_connection_was_closed_it_announces_again() {
    let vhost = TestVhost::create().await;
    listen(&vhost, QUEUE, "#", FieldTable::default()).await;
    let announcer = announcer(&vhost);
    announcer.deliver(&[message(1, "pi_1")]).await;
    vhost.close_all_connections().await;
    let mut outcome = announcer.deliver(&[message(2, "pi_1")]).await.remove(0);
    // The loss may be noticed only by the next delivery.
    if outcome != DeliveryOutcome::Delivered {
        assert!(matches!(outcome, DeliveryOutcome::Unavailable { retry_after: Some(_), .. }), "{outcome:?}");
        outcome = announcer.deliver(&[message(2, "pi_1")]).await.remove(0);
    }
    assert_eq!(outcome, DeliveryOutcome::Delivered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exchange_that_was_deleted_is_declared_again() {
    let vhost = TestVhost::create().await;
    let announcer = announcer(&vhost);
    announcer.deliver(&[message(1, "pi_1")]).await;
    let deleted = vhost.channel().await;
    deleted.exchange_delete(EXCHANGE.into(), ExchangeDeleteOptions::default()).await.unwrap();
    let outcomes = announcer.deliver(&[message(2, "pi_1")]).await;
    assert!(matches!(outcomes[0], DeliveryOutcome::Unavailable { .. }), "{outcomes:?}");
    assert_eq!(announcer.deliver(&[message(2, "pi_1")]).await, [DeliveryOutcome::Delivered]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exchange_of_another_kind_is_named() {
    let vhost = TestVhost::create().await;
    let channel = vhost.channel().await;
    let options = ExchangeDeclareOptions::default();
    let declared =
        channel.exchange_declare(EXCHANGE.into(), ExchangeKind::Fanout, options, FieldTable::default());
    declared.await.unwrap();
    let outcomes = announcer(&vhost).deliver(&[message(1, "pi_1")]).await;
    let [DeliveryOutcome::Unavailable { error, .. }] = &outcomes[..] else {
        panic!("{outcomes:?}");
    };
    assert!(error.contains("payonce.events"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_broker_blocks_publishers_nothing_is_sent() {
    let fixture = AmqpFixture::create().await;
    let destination = fixture.destination();
    assert_eq!(destination.deliver(&[message(1, "pi_1")]).await, [DeliveryOutcome::Delivered]);
    fixture.proxy.block();
    let mut outcomes = vec![DeliveryOutcome::Delivered];
    for _ in 0..100 {
        outcomes = destination.deliver(&[message(2, "pi_1")]).await;
        if outcomes != [DeliveryOutcome::Delivered] {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(matches!(outcomes[..], [DeliveryOutcome::Unavailable { .. }]), "{outcomes:?}");
    fixture.proxy.unblock();
    for _ in 0..100 {
        if destination.deliver(&[message(2, "pi_1")]).await == [DeliveryOutcome::Delivered] {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it stays blocked");
}
