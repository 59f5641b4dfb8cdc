//! What only a broker can do to a publisher.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::outbound::amqp::topology::Queues;
use adapters::outbound::amqp::{AmqpPublisher, AmqpSettings, Audience, PublisherSettings, topology};
use application::ports::event_publisher::{EventPublisher, PublishError};
use application::ports::readiness::ReadinessCheck;
use application::testing::envelope;
use domain::ConsumerName;
use harness::rabbitmq::{AmqpProxy, TestVhost};
use lapin::types::{AMQPValue, FieldTable};

use crate::event_queue::payload;

const SOON: Duration = Duration::from_secs(10);

/// What counts as "at once" on a busy machine.
const AT_ONCE: Duration = Duration::from_millis(500);

fn patient(confirm_timeout: Duration) -> PublisherSettings {
    PublisherSettings { confirm_timeout, ..PublisherSettings::default() }
}

async fn serving(settings: AmqpSettings, publisher: PublisherSettings) -> Arc<AmqpPublisher> {
    let publisher = AmqpPublisher::start(settings, publisher);
    assert!(publisher.wait_until_serving(SOON).await, "{:?}", publisher.check().await);
    publisher
}

async fn through_proxy(vhost: &TestVhost, confirm_timeout: Duration) -> (AmqpProxy, Arc<AmqpPublisher>) {
    let proxy = AmqpProxy::start(vhost.address()).await;
    let settings = AmqpSettings { url: vhost.url_by_port(proxy.port()).into(), ..vhost.settings() };
    let publisher = serving(settings, patient(confirm_timeout)).await;
    (proxy, publisher)
}

async fn publish(publisher: &AmqpPublisher, n: usize) -> Result<(), PublishError> {
    let sent = vec![envelope(&format!("evt_{n}"), payload(n))];
    publisher.publish(sent).await.remove(0)
}

async fn until_it_works(publisher: &AmqpPublisher) {
    let started = Instant::now();
    while let Err(error) = publish(publisher, 9_999).await {
        assert!(started.elapsed() < SOON, "still {error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    publisher.check().await.expect("ready");
}

async fn until_not_ready(publisher: &AmqpPublisher) -> String {
    let started = Instant::now();
    loop {
        if let Err(reason) = publisher.check().await {
            return reason;
        }
        assert!(started.elapsed() < SOON, "still ready");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_persistent_and_carries_the_event_id() {
    let vhost = TestVhost::create().await;
    let publisher = serving(vhost.settings(), PublisherSettings::default()).await;
    publish(&publisher, 1).await.expect("published");
    let (properties, bytes) = vhost.get(topology::MAIN_QUEUE).await.expect("a message");
    assert_eq!(bytes, payload(1));
    assert_eq!(*properties.delivery_mode(), Some(2));
    assert_eq!(properties.message_id().as_ref().map(lapin::types::ShortString::as_str), Some("evt_1"));
    assert_eq!(
        properties.content_type().as_ref().map(lapin::types::ShortString::as_str),
        Some("application/json")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_for_one_consumer_alone_gets_to_no_other() {
    let vhost = TestVhost::create().await;
    let other = Queues::of(&ConsumerName::parse("analytics").unwrap());
    for own in [Queues::first(), other.clone()] {
        let consumers = vec![Queues::first(), other.clone()];
        let settings = AmqpSettings { queues: own.clone(), consumers: consumers.clone(), ..vhost.settings() };
        let audience = Audience::OwnConsumer;
        let publisher =
            serving(settings, PublisherSettings { audience, ..PublisherSettings::default() }).await;
        publish(&publisher, 1).await.expect("published");
        for queues in consumers {
            let message = vhost.get(&queues.main()).await;
            assert_eq!(message.is_some(), queues == own, "{}", queues.main());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_broker_it_fails_at_once_and_says_so() {
    let url = "amqp://guest:hunter2@127.0.0.1:1/%2f".into();
    let settings = AmqpSettings::new(url, "test".to_owned(), Duration::from_secs(5), vec![]);
    let publisher = AmqpPublisher::start(settings, PublisherSettings::default());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let started = Instant::now();
    let error = publish(&publisher, 1).await.expect_err("nothing listens there");
    assert!(matches!(error, PublishError::Unavailable(_)), "{error:?}");
    assert!(started.elapsed() < AT_ONCE);
    let reason = publisher.check().await.expect_err("not ready");
    assert!(reason.contains("127.0.0.1:1") && !reason.contains("hunter2"), "{reason}");
    tokio::time::timeout(SOON, publisher.close()).await.expect("it closes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_or_vhost_is_told() {
    let vhost = TestVhost::create().await;
    for url in [vhost.url().replace(":guest@", ":hunter2@"), format!("{}-none", vhost.url())] {
        let settings = AmqpSettings { url: url.into(), ..vhost.settings() };
        let publisher = AmqpPublisher::start(settings, PublisherSettings::default());
        let started = Instant::now();
        while publisher.check().await == Err("not connected yet".to_owned()) {
            assert!(started.elapsed() < SOON, "no reason is given");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let reason = publisher.check().await.expect_err("not ready");
        assert!(!reason.contains("hunter2"), "{reason}");
        assert!(publish(&publisher, 1).await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_works_again_after_the_connection_was_closed() {
    let vhost = TestVhost::create().await;
    let publisher = serving(vhost.settings(), PublisherSettings::default()).await;
    for _ in 0..2 {
        publish(&publisher, 1).await.expect("published");
        vhost.close_all_connections().await;
        until_it_works(&publisher).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_finds_no_queue_is_not_accepted_and_the_topology_is_repaired() {
    let vhost = TestVhost::create().await;
    let publisher = serving(vhost.settings(), PublisherSettings::default()).await;
    vhost.unbind_main().await;
    let calls = (0..10).map(|n| publish(&publisher, n));
    for answer in futures::future::join_all(calls).await {
        assert!(matches!(answer, Err(PublishError::Unroutable(_))), "{answer:?}");
    }
    assert_eq!(vhost.depth(topology::MAIN_QUEUE).await, 0);
    until_it_works(&publisher).await;
    vhost.delete_queue(topology::MAIN_QUEUE).await;
    assert!(publish(&publisher, 1).await.is_err());
    until_it_works(&publisher).await;
    assert_eq!(vhost.depth(topology::MAIN_QUEUE).await, 1);
}

/// The binding goes and comes while thousands are in flight: what was confirmed is in the queue, and what is
/// not in the queue was not confirmed. Had one confirm been taken for another's, the two would differ.
#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_right_while_routing_comes_and_goes() {
    let vhost = TestVhost::create().await;
    let publisher = serving(vhost.settings(), PublisherSettings::default()).await;
    let publishing = async {
        let mut confirmed = BTreeSet::new();
        let mut unroutable = 0;
        for round in 0..8 {
            let numbers = round * 500..(round + 1) * 500;
            let calls = numbers.map(async |n| (n, publish(&publisher, n).await));
            for (n, answer) in futures::future::join_all(calls).await {
                match answer {
                    Ok(()) => drop(confirmed.insert(format!("evt_{n}"))),
                    Err(PublishError::Unroutable(_)) => unroutable += 1,
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
        (confirmed, unroutable)
    };
    let meddling = async {
        for _ in 0..20 {
            vhost.unbind_main().await;
            tokio::time::sleep(Duration::from_millis(3)).await;
            vhost.bind_main().await;
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    };
    let ((confirmed, unroutable), ()) = futures::join!(publishing, meddling);
    let mut queued = BTreeSet::new();
    for (properties, _) in vhost.get_all(topology::MAIN_QUEUE).await {
        let id = properties.message_id().as_ref().map(|id| id.as_str().to_owned());
        queued.insert(id.expect("a message id"));
    }
    assert!(unroutable > 0, "the meddling had no effect");
    assert_eq!(confirmed.len() + unroutable, 4_000);
    assert_eq!(confirmed, queued);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_in_flight_ends_when_the_exchange_is_deleted() {
    let vhost = TestVhost::create().await;
    let publisher = serving(vhost.settings(), PublisherSettings::default()).await;
    vhost.delete_main_exchange().await;
    let started = Instant::now();
    let answers = futures::future::join_all((0..100).map(|n| publish(&publisher, n))).await;
    assert!(answers.iter().all(Result::is_err));
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    until_it_works(&publisher).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_in_flight_ends_when_the_connection_is_cut() {
    let vhost = TestVhost::create().await;
    let (proxy, publisher) = through_proxy(&vhost, Duration::from_secs(5)).await;
    proxy.stall(true);
    let started = Instant::now();
    let cutting = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        proxy.cut();
        proxy.stall(false);
    };
    let publishing = futures::future::join_all((0..100).map(|n| publish(&publisher, n)));
    let (answers, ()) = futures::join!(publishing, cutting);
    assert!(answers.iter().all(Result::is_err));
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    until_it_works(&publisher).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_says_nothing_is_given_up_at_the_deadline() {
    let vhost = TestVhost::create().await;
    let (proxy, publisher) = through_proxy(&vhost, Duration::from_millis(500)).await;
    proxy.stall(true);
    let started = Instant::now();
    let answers = futures::future::join_all((0..100).map(|n| publish(&publisher, n))).await;
    let timed_out = |answer: &Result<(), PublishError>| matches!(answer, Err(PublishError::TimedOut(_)));
    assert!(answers.iter().any(timed_out), "{answers:?}");
    assert!(answers.iter().all(Result::is_err));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    until_not_ready(&publisher).await;
    proxy.stall(false);
    until_it_works(&publisher).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_blocks_publishers_is_told_at_once() {
    let vhost = TestVhost::create().await;
    let (proxy, publisher) = through_proxy(&vhost, Duration::from_secs(5)).await;
    proxy.block();
    assert!(until_not_ready(&publisher).await.contains("low on memory"));
    let started = Instant::now();
    let answers = futures::future::join_all((0..100).map(|n| publish(&publisher, n))).await;
    for answer in answers {
        assert!(matches!(answer, Err(PublishError::Unavailable(_))), "{answer:?}");
    }
    assert!(started.elapsed() < AT_ONCE);
    proxy.unblock();
    until_it_works(&publisher).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_may_wait_is_refused_at_once() {
    let vhost = TestVhost::create().await;
    let proxy = AmqpProxy::start(vhost.address()).await;
    let settings = AmqpSettings { url: vhost.url_by_port(proxy.port()).into(), ..vhost.settings() };
    let tight = PublisherSettings {
        confirm_timeout: Duration::from_secs(1),
        waiting_max: 10,
        group_max: 5,
        channels: 1,
        ..PublisherSettings::default()
    };
    let publisher = serving(settings, tight).await;
    proxy.stall(true);
    let started = Instant::now();
    let calls = (0..100).map(async |n| (publish(&publisher, n).await, started.elapsed()));
    let mut refused = 0;
    for (answer, took) in futures::future::join_all(calls).await {
        match answer {
            Err(PublishError::Overloaded { limit: 10 }) => {
                assert!(took < AT_ONCE, "{took:?}");
                refused += 1;
            }
            Err(_) => assert!(took < Duration::from_secs(2), "{took:?}"),
            Ok(()) => panic!("nothing came through"),
        }
    }
    assert!(refused >= 80, "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_argument_makes_it_unready_and_it_still_publishes() {
    let vhost = TestVhost::create().await;
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(3));
    vhost.declare_queue(topology::MAIN_QUEUE, arguments).await;
    let publisher = serving(vhost.settings(), PublisherSettings::default()).await;
    publish(&publisher, 1).await.expect("published all the same");
    let reason = publisher.check().await.expect_err("the arguments differ");
    assert!(reason.contains(topology::MAIN_QUEUE), "{reason}");
    assert!(reason.contains("x-delivery-limit") || reason.contains("x-dead-letter"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_brings_what_waits_to_its_end() {
    let vhost = TestVhost::create().await;
    let publisher = serving(vhost.settings(), PublisherSettings::default()).await;
    let calls = futures::future::join_all((0..300).map(|n| publish(&publisher, n)));
    let closing = async {
        tokio::task::yield_now().await;
        publisher.close().await;
    };
    let (answers, ()) = futures::join!(calls, closing);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert!(matches!(publish(&publisher, 1).await, Err(PublishError::Unavailable(_))));
    vhost.wait_for_depth(topology::MAIN_QUEUE, 300).await;
}
