//! Events that wait for another attempt at the broker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::clock::SystemClock;
use adapters::inbound::amqp::{AmqpQueue, ConsumeSettings};
use adapters::outbound::amqp::{AmqpSettings, topology};
use application::ports::event_queue::{Action, EventQueue, Settlement, Subscription};

use super::amqp_fixture::AmqpFixture;
use super::{Fixture, RETRY_DELAY, Setup, history, id, publish, retry, settle, subscribe, take};

/// Longer than any test of the other waits takes.
const LONG: Duration = Duration::from_mins(1);

fn after(delay: Duration) -> Action {
    Action::RetryAfter { delay, failed_attempts: 1, history: history() }
}

async fn subscribe_with_tiers(fixture: &AmqpFixture, tiers: &[Duration]) -> Box<dyn Subscription> {
    let settings = AmqpSettings { retry_tiers: tiers.to_vec(), ..fixture.vhost.settings() };
    let queue = AmqpQueue::new(settings, ConsumeSettings::default(), Arc::new(SystemClock));
    queue.subscribe().await.expect("subscribed")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_wait_is_not_held_up_by_a_long_one() {
    let fixture = AmqpFixture::new(Setup::default()).await;
    let mut subscription = subscribe_with_tiers(&fixture, &[RETRY_DELAY, LONG]).await;
    publish(&fixture, 0..1).await;
    let long = take(&mut *subscription, 1).await;
    settle(&mut *subscription, long, &after(LONG)).await;
    publish(&fixture, 1..2).await;
    let short = take(&mut *subscription, 1).await;
    settle(&mut *subscription, short, &after(RETRY_DELAY)).await;
    let back = take(&mut *subscription, 1).await;
    assert_eq!(id(&back[0]), "evt_1");
    assert_eq!(fixture.vhost.depth(&topology::Queues::first().retry(LONG)).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn within_one_queue_an_event_waits_behind_none_for_much_longer_than_asked() {
    let tier = Duration::from_secs(3);
    let fixture = AmqpFixture::new(Setup::default()).await;
    let mut subscription = subscribe_with_tiers(&fixture, &[tier]).await;
    publish(&fixture, 0..2).await;
    let asked = [tier, tier.mul_f32(0.8)];
    let settlements = take(&mut *subscription, 2)
        .await
        .into_iter()
        .zip(asked)
        .map(|(delivery, delay)| Settlement { delivery, action: after(delay) })
        .collect();
    let since = Instant::now();
    subscription.settle(settlements).await.expect("settled");
    take(&mut *subscription, 2).await;
    assert!(since.elapsed() < tier * 2, "{:?}", since.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_by_other_settings_comes_home_all_the_same() {
    let old_delay = Duration::from_secs(1);
    let fixture = AmqpFixture::new(Setup::default()).await;
    let mut before = subscribe_with_tiers(&fixture, &[old_delay]).await;
    publish(&fixture, 0..3).await;
    let taken = take(&mut *before, 3).await;
    settle(&mut *before, taken, &after(old_delay)).await;
    before.close().await.expect("closed");
    // The delay is configured otherwise now; the queue of before is known to nobody.
    let mut since = subscribe_with_tiers(&fixture, &[RETRY_DELAY]).await;
    let back = take(&mut *since, 3).await;
    assert!(back.iter().all(|delivery| delivery.failed_attempts == 1));
    settle(&mut *since, back, &Action::Acknowledge).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_waited_and_then_ends_every_subscription_is_never_lost() {
    let fixture = AmqpFixture::new(Setup::default()).await;
    publish(&fixture, 0..1).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 1).await;
    settle(&mut *subscription, taken, &retry()).await;
    for _ in 0..=topology::MAIN_DELIVERY_LIMIT {
        let back = take(&mut *subscription, 1).await;
        assert_eq!(back[0].failed_attempts, 1, "a return is no attempt");
        subscription.close().await.expect("closed");
        subscription = subscribe(&fixture).await;
    }
    fixture.vhost.wait_for_depth(topology::DEAD_LETTER_QUEUE, 1).await;
    assert_eq!(fixture.vhost.depth(topology::MAIN_QUEUE).await, 0);
}
