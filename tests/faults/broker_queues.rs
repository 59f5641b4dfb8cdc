use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::inbound::amqp::{AmqpQueue, ConsumeSettings};
use adapters::outbound::amqp::topology::{DEAD_LETTER_QUEUE, MAIN_QUEUE, Queues};
use adapters::outbound::amqp::{AmqpPublisher, AmqpSettings, PublisherSettings};
use application::disposition::DeadLetterReason;
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{Action, EventQueue, Settlement};
use application::testing::envelope;
use harness::rabbitmq::TestVhost;
use harness::services::control;

/// How many events are in each of the queues.
const EACH: usize = 1000;

/// So long that nothing comes back while the test runs.
const WAIT: Duration = Duration::from_mins(10);

const PERSISTENT: u8 = 2;

async fn publish(publisher: &AmqpPublisher, name: &str) {
    let envelopes = (0..EACH).map(|n| envelope(&format!("evt_{name}_{n}"), "{}")).collect();
    for answer in publisher.publish(envelopes).await {
        answer.expect("published");
    }
}

/// Settles everything that is in the main queue.
async fn settle_all(settings: AmqpSettings, action: &Action) {
    let queue = AmqpQueue::new(settings, ConsumeSettings::default(), Arc::new(SystemClock));
    let mut subscription = queue.subscribe().await.expect("subscribed");
    let mut left = EACH;
    while left > 0 {
        let batch = subscription.next_batch().await.expect("a batch");
        left -= batch.len();
        let settlements =
            batch.into_iter().map(|delivery| Settlement { delivery, action: action.clone() }).collect();
        subscription.settle(settlements).await.expect("settled");
    }
    subscription.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn full_queues_survive_a_restart_of_the_broker() {
    let mut vhost = TestVhost::create().await;
    let settings = AmqpSettings { retry_tiers: vec![WAIT], ..vhost.settings() };
    let publisher = AmqpPublisher::start(settings.clone(), PublisherSettings::default());
    assert!(publisher.wait_until_serving(Duration::from_secs(20)).await);
    publish(&publisher, "retry").await;
    let retry = Action::RetryAfter { delay: WAIT, failed_attempts: 1, history: Vec::new() };
    settle_all(settings.clone(), &retry).await;
    publish(&publisher, "dead").await;
    let reason = DeadLetterReason::Untranslatable("no such field".to_owned());
    settle_all(settings.clone(), &Action::DeadLetter { reason, failed_attempts: 0, history: Vec::new() })
        .await;
    publish(&publisher, "main").await;
    publisher.close().await;
    let queues = [
        (MAIN_QUEUE.to_owned(), "main"),
        (Queues::first().retry(WAIT), "retry"),
        (DEAD_LETTER_QUEUE.to_owned(), "dead"),
    ];
    control("stop", "rabbitmq").await;
    control("start", "rabbitmq").await;
    vhost.reconnect().await;
    for (queue, name) in queues {
        let messages = vhost.get_all(&queue).await;
        assert!(
            messages.iter().all(|(properties, _)| *properties.delivery_mode() == Some(PERSISTENT)),
            "{queue}"
        );
        let ids: BTreeSet<String> = messages
            .iter()
            .filter_map(|(properties, _)| properties.message_id().as_ref())
            .map(|id| id.as_str().to_owned())
            .collect();
        let sent: BTreeSet<String> = (0..EACH).map(|n| format!("evt_{name}_{n}")).collect();
        assert!(ids == sent, "{queue} has {} events", ids.len());
    }
}
