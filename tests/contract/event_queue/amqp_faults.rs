//! What only a broker can do to a queue.

use std::time::Duration;

use adapters::outbound::amqp::{topology, wire};
use application::error_chain::describe;
use application::ports::event_queue::{Action, EventQueue, QueueError, Subscription};
use application::ports::readiness::ReadinessCheck;
use application::testing::envelope;
use bytes::Bytes;
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldArray, FieldTable};

use super::amqp_fixture::AmqpFixture;
use super::{
    Fixture, RETRY_DELAY, Setup, all, dead_letter, id, payload, publish, retry, settle, subscribe, take,
};

async fn fixture() -> AmqpFixture {
    AmqpFixture::new(Setup::default()).await
}

async fn fails(subscription: &mut dyn Subscription) -> QueueError {
    let waited = tokio::time::timeout(Duration::from_secs(10), subscription.next_batch()).await;
    waited.expect("it fails, and does not wait").expect_err("it has ended")
}

fn header(properties: &BasicProperties, name: &str) -> String {
    match properties.headers().as_ref().and_then(|headers| headers.inner().get(name)) {
        Some(AMQPValue::LongString(text)) => text.to_string(),
        other => format!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_says_why_and_keeps_its_bytes() {
    let fixture = fixture().await;
    publish(&fixture, 1..2).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 1).await;
    settle(&mut *subscription, taken, &dead_letter()).await;
    let (properties, bytes) = fixture.vhost.get(topology::DEAD_LETTER_QUEUE).await.expect("a dead letter");
    assert_eq!(bytes, payload(1));
    assert_eq!(*properties.delivery_mode(), Some(2));
    assert_eq!(header(&properties, wire::HEADER_REASON), "untranslatable");
    assert_eq!(header(&properties, wire::HEADER_DETAIL), "no such field");
    assert_eq!(header(&properties, wire::HEADER_QUEUE), "events.main");
    assert!(header(&properties, wire::HEADER_HISTORY).contains("boom"));
    let again = wire::read(1, &properties, Bytes::from(bytes));
    assert_eq!(again.content.expect("still an envelope"), envelope("evt_1", payload(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_someone_else_can_be_dead_lettered_with_its_bytes() {
    let fixture = fixture().await;
    fixture.vhost.put(topology::MAIN_QUEUE, BasicProperties::default(), b"\xff not ours").await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 1).await;
    assert_eq!(taken[0].content.as_ref().expect_err("not ours").payload, &b"\xff not ours"[..]);
    settle(&mut *subscription, taken, &dead_letter()).await;
    let (_, bytes) = fixture.vhost.get(topology::DEAD_LETTER_QUEUE).await.expect("a dead letter");
    assert_eq!(bytes, b"\xff not ours");
    assert_eq!(fixture.vhost.depth(topology::MAIN_QUEUE).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_brokers_headers_count_for_nothing() {
    let fixture = fixture().await;
    let properties = wire::properties(&envelope("evt_1", payload(1))).expect("it fits");
    let mut headers = properties.headers().clone().unwrap_or_default();
    let mut death = FieldTable::default();
    death.insert("count".into(), AMQPValue::LongLongInt(99));
    let deaths = FieldArray::from(vec![AMQPValue::FieldTable(death)]);
    headers.insert("x-death".into(), AMQPValue::FieldArray(deaths));
    fixture.vhost.put(topology::MAIN_QUEUE, properties.with_headers(headers), &payload(1)).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 1).await;
    assert_eq!(taken[0].failed_attempts, 0);
    // Through a real dead-lettering of the broker, which adds `x-death` of its own.
    settle(&mut *subscription, taken, &retry()).await;
    let back = take(&mut *subscription, 1).await;
    assert_eq!(back[0].failed_attempts, 1);
    settle(&mut *subscription, back, &dead_letter()).await;
    let (properties, _) = fixture.vhost.get(topology::DEAD_LETTER_QUEUE).await.expect("a dead letter");
    assert_eq!(header(&properties, "x-death"), "None");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_ends_when_its_queue_is_deleted() {
    let fixture = fixture().await;
    let mut subscription = subscribe(&fixture).await;
    fixture.queue.check().await.expect("subscribed");
    fixture.vhost.delete_queue(topology::MAIN_QUEUE).await;
    fails(&mut *subscription).await;
    fails(&mut *subscription).await;
    assert!(fixture.queue.check().await.is_err());
    subscription.close().await.ok();
    // Subscribing again puts the queue back.
    let mut again = subscribe(&fixture).await;
    publish(&fixture, 0..1).await;
    take(&mut *again, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_ends_when_its_connection_is_closed_and_the_next_one_gets_everything() {
    let fixture = fixture().await;
    publish(&fixture, 0..5).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 5).await;
    fixture.vhost.close_all_connections().await;
    fails(&mut *subscription).await;
    assert!(fixture.queue.check().await.is_err());
    // An acknowledgement that comes too late reaches nothing, and says so.
    match subscription.settle(all(taken, &Action::Acknowledge)).await {
        Ok(report) => assert_eq!(report.acks_lost, 5),
        Err(error) => drop(error),
    }
    subscription.close().await.ok();
    let mut again = subscribe(&fixture).await;
    let back = take(&mut *again, 5).await;
    settle(&mut *again, back, &Action::Acknowledge).await;
    fixture.vhost.wait_for_depth(topology::MAIN_QUEUE, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_ends_when_its_vhost_is_deleted_and_the_next_one_consumes() {
    let mut fixture = fixture().await;
    let mut subscription = subscribe(&fixture).await;
    publish(&fixture, 0..1).await;
    take(&mut *subscription, 1).await;
    fixture.vhost.recreate().await;
    fails(&mut *subscription).await;
    assert!(fixture.queue.check().await.is_err());
    subscription.close().await.ok();
    // Subscribing declares everything, as on a new broker.
    let mut again = subscribe(&fixture).await;
    fixture.queue.check().await.expect("subscribed");
    assert!(fixture.publisher.wait_until_serving(Duration::from_secs(20)).await);
    publish(&fixture, 1..2).await;
    let taken = take(&mut *again, 1).await;
    assert_eq!(id(&taken[0]), "evt_1");
    settle(&mut *again, taken, &Action::Acknowledge).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_or_dead_letter_without_a_queue_leaves_its_original() {
    for (queue, action) in [
        (topology::Queues::first().retry(RETRY_DELAY), retry()),
        (topology::DEAD_LETTER_QUEUE.to_owned(), dead_letter()),
    ] {
        let fixture = fixture().await;
        publish(&fixture, 0..3).await;
        let mut subscription = subscribe(&fixture).await;
        let mut taken = take(&mut *subscription, 3).await;
        fixture.vhost.delete_queue(&queue).await;
        let mut settlements = all(vec![taken.remove(0)], &Action::Acknowledge);
        settlements.extend(all(taken, &action));
        let error = subscription.settle(settlements).await.expect_err("there is no queue");
        assert!(describe(&error).contains(&queue), "{}", describe(&error));
        fails(&mut *subscription).await;
        subscription.close().await.ok();
        // The new subscription repairs the topology, and the two come again; the third was done.
        let mut again = subscribe(&fixture).await;
        let back = take(&mut *again, 2).await;
        settle(&mut *again, back, &action).await;
        assert_eq!(fixture.vhost.depth(topology::MAIN_QUEUE).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_argument_is_told_with_queue_and_argument() {
    let vhost = harness::rabbitmq::TestVhost::create().await;
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    for (name, value) in [
        ("x-dead-letter-exchange", topology::MAIN_EXCHANGE),
        ("x-dead-letter-routing-key", topology::MAIN_ROUTING_KEY),
        ("x-dead-letter-strategy", "at-least-once"),
        ("x-overflow", "reject-publish"),
    ] {
        arguments.insert(name.into(), AMQPValue::LongString(value.into()));
    }
    arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(1_000_000));
    arguments.insert("x-message-ttl".into(), AMQPValue::LongLongInt(1));
    let queue = topology::Queues::first().retry(RETRY_DELAY);
    vhost.declare_queue(&queue, arguments).await;
    let settings = adapters::inbound::amqp::ConsumeSettings::default();
    let clock = std::sync::Arc::new(adapters::clock::SystemClock);
    let under_test = adapters::inbound::amqp::AmqpQueue::new(vhost.settings(), settings, clock);
    let error = under_test.subscribe().await.err().expect("the arguments differ");
    let told = describe(&error);
    assert!(told.contains(&queue) && told.contains("x-message-ttl"), "{told}");
    assert!(under_test.check().await.expect_err("not subscribed").contains(&queue));
    // Everything else is declared all the same.
    assert_eq!(vhost.depth(topology::MAIN_QUEUE).await, 0);
    assert_eq!(vhost.depth(topology::DEAD_LETTER_QUEUE).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_kills_its_consumer_becomes_a_dead_letter_and_is_never_lost() {
    let fixture = fixture().await;
    publish(&fixture, 0..1).await;
    for _ in 0..=topology::MAIN_DELIVERY_LIMIT {
        let mut subscription = subscribe(&fixture).await;
        assert_eq!(id(&take(&mut *subscription, 1).await[0]), "evt_0");
        subscription.close().await.expect("closed");
    }
    fixture.vhost.wait_for_depth(topology::DEAD_LETTER_QUEUE, 1).await;
    let (properties, bytes) = fixture.vhost.get(topology::DEAD_LETTER_QUEUE).await.expect("a dead letter");
    let kept = wire::read(1, &properties, Bytes::from(bytes)).content.expect("an envelope");
    assert_eq!(kept, envelope("evt_0", payload(0)));
}
