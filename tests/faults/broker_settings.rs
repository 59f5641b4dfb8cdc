//! What RabbitMQ does only after minutes, in seconds.

use std::sync::Arc;
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::inbound::amqp::{AmqpQueue, ConsumeSettings};
use adapters::outbound::amqp::topology::Queues;
use adapters::outbound::amqp::{AmqpPublisher, PublisherSettings};
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{Action, EventQueue, Settlement};
use application::testing::{envelope, succeeded_payload};
use harness::rabbitmq::TestVhost;
use harness::services::set_in_broker;
use harness::world::{World, wait_until_ready};

/// The broker's own values, in milliseconds.
const CONSUMER_TIMEOUT: (&str, u32) = ("consumer_timeout", 1_800_000);
const CHANNEL_CHECK: (&str, u32) = ("channel_tick_interval", 60_000);
const DEAD_LETTER_AGAIN: (&str, u32) = ("dead_letter_worker_publisher_confirm_timeout", 180_000);

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_the_broker_timed_out_consumes_again_and_applies_each_event_once() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    set_in_broker(CONSUMER_TIMEOUT.0, 2_000).await;
    set_in_broker(CHANNEL_CHECK.0, 500).await;
    let mut worker = world.worker().await;
    wait_until_ready(&worker.ops).await;
    receiver.client.deliver(succeeded_payload("evt_1", "pi_1", 1)).await;
    world.wait_until_settled(1).await;
    // The channels that are open keep their time-out, and are checked as often as is set now.
    set_in_broker(CONSUMER_TIMEOUT.0, CONSUMER_TIMEOUT.1).await;
    let holder = world.database.client().await;
    holder.batch_execute("BEGIN; SELECT * FROM payments FOR UPDATE").await.unwrap();
    receiver.client.deliver(succeeded_payload("evt_2", "pi_1", 1)).await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    holder.batch_execute("ROLLBACK").await.unwrap();
    worker.process.wait_for_line("the subscription ended; subscribing again").await;
    set_in_broker(CHANNEL_CHECK.0, CHANNEL_CHECK.1).await;
    // It was committed before the broker was told, so it comes again.
    worker.process.wait_for_line("duplicate payment/evt_2").await;
    receiver.client.deliver(succeeded_payload("evt_3", "pi_3", 1)).await;
    world.wait_until_settled(3).await;
    wait_until_ready(&worker.ops).await;
    world.audit(3).await;
    worker.process.assert_no_panic();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_an_exchange_that_was_deleted_comes_home_when_it_is_back() {
    set_in_broker(DEAD_LETTER_AGAIN.0, 1_000).await;
    let vhost = TestVhost::create().await;
    let publisher = AmqpPublisher::start(vhost.settings(), PublisherSettings::default());
    assert!(publisher.wait_until_serving(Duration::from_secs(20)).await);
    let queue = AmqpQueue::new(vhost.settings(), ConsumeSettings::default(), Arc::new(SystemClock));
    let mut subscription = queue.subscribe().await.expect("subscribed");
    publisher.publish(vec![envelope("evt_1", "{}")]).await.remove(0).expect("published");
    set_in_broker(DEAD_LETTER_AGAIN.0, DEAD_LETTER_AGAIN.1).await;
    let delivery = subscription.next_batch().await.expect("a batch").remove(0);
    publisher.close().await;
    vhost.delete_main_exchange().await;
    let action =
        Action::RetryAfter { delay: Duration::from_millis(200), failed_attempts: 1, history: Vec::new() };
    let settlement = Settlement { delivery, action };
    subscription.settle(vec![settlement]).await.expect("settled");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(vhost.depth(&Queues::first().main()).await, 0, "there is no way home");
    subscription.close().await.expect("closed");
    // Subscribing puts the exchange back.
    let mut again = queue.subscribe().await.expect("subscribed");
    let back = tokio::time::timeout(Duration::from_secs(20), again.next_batch()).await;
    let back = back.expect("it comes home").expect("the subscription lives");
    assert_eq!(back[0].failed_attempts, 1);
}
