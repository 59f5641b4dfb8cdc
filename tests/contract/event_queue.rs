//! What every [`EventQueue`] must do, and what can go wrong with a broker in between.
//!
//! A behaviour is a function over a [`Fixture`]; `event_queue_contract!` stamps all of them for one
//! implementation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use application::disposition::DeadLetterReason;
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{
    Action, Delivery, EventQueue, QueueInspector, Settlement, Subscription,
};
use application::retry_policy::AttemptFailure;
use application::testing::envelope;
use async_trait::async_trait;
use bytes::Bytes;
use domain::Timestamp;

/// How the queue under test shall behave.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// How many deliveries may be unsettled.
    pub unsettled_max: u16,
    /// The most deliveries in a batch.
    pub batch_max: usize,
    /// How long a batch waits for more.
    pub linger: Duration,
}

impl Default for Setup {
    fn default() -> Self {
        Self { unsettled_max: 100, batch_max: 50, linger: Duration::from_millis(50) }
    }
}

/// One empty queue, and all that may be done with it. Its retry delay is [`RETRY_DELAY`].
#[async_trait]
pub trait Fixture: Send + Sync + Sized {
    /// An empty queue.
    async fn new(setup: Setup) -> Self;
    /// What publishes to it, ready to do so.
    fn publisher(&self) -> Arc<dyn EventPublisher>;
    /// What consumes from it.
    fn queue(&self) -> Arc<dyn EventQueue>;
    /// What counts it.
    fn inspector(&self) -> Arc<dyn QueueInspector>;
}

/// The delay of the one retry tier.
pub const RETRY_DELAY: Duration = Duration::from_millis(200);

/// Far longer than anything takes that works.
const SOON: Duration = Duration::from_secs(10);

pub async fn publish<F: Fixture>(fixture: &F, ids: impl Iterator<Item = usize> + Send) {
    let envelopes = ids.map(|n| envelope(&format!("evt_{n}"), payload(n))).collect();
    for answer in fixture.publisher().publish(envelopes).await {
        answer.expect("published");
    }
}

/// Not text, and different for every event.
pub fn payload(n: usize) -> Bytes {
    Bytes::from(format!("\u{0}{{\"n\": {n:04}.0e0 }}\r\n").into_bytes())
}

pub async fn subscribe<F: Fixture>(fixture: &F) -> Box<dyn Subscription> {
    fixture.queue().subscribe().await.expect("subscribed")
}

pub async fn next(subscription: &mut dyn Subscription) -> Vec<Delivery> {
    let batch = tokio::time::timeout(SOON, subscription.next_batch()).await;
    batch.expect("a batch comes soon").expect("the subscription lives")
}

/// Exactly `count` deliveries, in as many batches as it takes.
pub async fn take(subscription: &mut dyn Subscription, count: usize) -> Vec<Delivery> {
    let mut taken = Vec::new();
    while taken.len() < count {
        taken.extend(next(subscription).await);
    }
    assert_eq!(taken.len(), count);
    taken
}

async fn nothing_comes(subscription: &mut dyn Subscription) {
    let waited = tokio::time::timeout(Duration::from_millis(400), subscription.next_batch()).await;
    assert!(waited.is_err(), "{waited:?}");
}

pub fn all(deliveries: Vec<Delivery>, action: &Action) -> Vec<Settlement> {
    deliveries.into_iter().map(|delivery| Settlement { delivery, action: action.clone() }).collect()
}

pub async fn settle(subscription: &mut dyn Subscription, deliveries: Vec<Delivery>, action: &Action) {
    let report = subscription.settle(all(deliveries, action)).await.expect("settled");
    assert_eq!(report.acks_lost, 0);
}

pub fn id(delivery: &Delivery) -> String {
    let envelope = delivery.content.as_ref().expect("readable");
    envelope.key.event_id.as_str().to_owned()
}

fn ids(deliveries: &[Delivery]) -> Vec<String> {
    deliveries.iter().map(id).collect()
}

pub fn history() -> Vec<AttemptFailure> {
    vec![AttemptFailure {
        at: Timestamp::from_micros(1),
        class: "transient".to_owned(),
        error: "boom: \"é\"".to_owned(),
    }]
}

pub fn retry() -> Action {
    retry_number(1)
}

fn retry_number(failed_attempts: u32) -> Action {
    Action::RetryAfter { delay: RETRY_DELAY, failed_attempts, history: history() }
}

pub fn dead_letter() -> Action {
    Action::DeadLetter {
        failed_attempts: 3,
        reason: DeadLetterReason::Untranslatable("no such field".to_owned()),
        history: history(),
    }
}

pub async fn a_delivery_is_what_was_published<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    let mut sent = envelope("evt_1", payload(1));
    sent.headers = vec![("x-signature".to_owned(), "t=1,v1=é".to_owned())];
    sent.trace.traceparent = Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned());
    fixture.publisher().publish(vec![sent.clone()]).await.remove(0).expect("published");
    let mut subscription = subscribe(&fixture).await;
    let delivery = take(&mut *subscription, 1).await.remove(0);
    assert_eq!((delivery.failed_attempts, delivery.history.len()), (0, 0));
    assert_eq!(delivery.content.expect("readable"), sent);
}

pub async fn a_batch_is_full_before_the_linger_time<F: Fixture>() {
    let fixture = F::new(Setup { batch_max: 4, linger: SOON, ..Setup::default() }).await;
    publish(&fixture, 0..8).await;
    let mut subscription = subscribe(&fixture).await;
    let started = Instant::now();
    assert_eq!(next(&mut *subscription).await.len(), 4);
    assert_eq!(next(&mut *subscription).await.len(), 4);
    assert!(started.elapsed() < SOON / 2);
}

pub async fn a_batch_is_handed_out_after_the_linger_time<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    let mut subscription = subscribe(&fixture).await;
    publish(&fixture, 0..1).await;
    assert_eq!(next(&mut *subscription).await.len(), 1);
}

pub async fn what_is_acknowledged_is_gone<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    publish(&fixture, 0..20).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 20).await;
    settle(&mut *subscription, taken, &Action::Acknowledge).await;
    subscription.close().await.expect("closed");
    let mut again = subscribe(&fixture).await;
    nothing_comes(&mut *again).await;
}

pub async fn what_is_not_settled_comes_again<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    publish(&fixture, 0..20).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 20).await;
    subscription.close().await.expect("closed");
    let mut again = subscribe(&fixture).await;
    let after = take(&mut *again, 20).await;
    let set = |deliveries: &[Delivery]| ids(deliveries).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(set(&after), set(&taken));
}

pub async fn settling_some_leaves_the_others<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    publish(&fixture, 0..10).await;
    let mut subscription = subscribe(&fixture).await;
    let (held, done): (Vec<_>, Vec<_>) = take(&mut *subscription, 10)
        .await
        .into_iter()
        .partition(|delivery| ["evt_0", "evt_4"].contains(&id(delivery).as_str()));
    settle(&mut *subscription, done, &Action::Acknowledge).await;
    let (mut first, last): (Vec<_>, Vec<_>) = held.into_iter().partition(|delivery| id(delivery) == "evt_0");
    settle(&mut *subscription, last, &Action::Acknowledge).await;
    assert_eq!(first.len(), 1);
    first.clear();
    subscription.close().await.expect("closed");
    let mut again = subscribe(&fixture).await;
    assert_eq!(ids(&take(&mut *again, 1).await), ["evt_0"]);
    nothing_comes(&mut *again).await;
}

pub async fn what_is_held_can_be_settled_after_later_ones<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    publish(&fixture, 0..2).await;
    let mut subscription = subscribe(&fixture).await;
    let held = take(&mut *subscription, 2).await;
    publish(&fixture, 2..4).await;
    let later = take(&mut *subscription, 2).await;
    settle(&mut *subscription, later, &Action::Acknowledge).await;
    settle(&mut *subscription, held, &Action::Acknowledge).await;
    subscription.close().await.expect("closed");
    let mut again = subscribe(&fixture).await;
    nothing_comes(&mut *again).await;
}

pub async fn a_retry_comes_back_after_its_delay<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    publish(&fixture, 7..8).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 1).await;
    let started = Instant::now();
    settle(&mut *subscription, taken, &retry()).await;
    let back = take(&mut *subscription, 1).await.remove(0);
    assert!(started.elapsed() >= RETRY_DELAY, "{:?}", started.elapsed());
    assert_eq!((back.failed_attempts, &back.history), (1, &history()));
    assert_eq!(back.content.as_ref().expect("readable"), &envelope("evt_7", payload(7)));
    settle(&mut *subscription, vec![back], &retry_number(2)).await;
    assert_eq!(take(&mut *subscription, 1).await[0].failed_attempts, 2);
}

pub async fn a_dead_letter_is_kept_and_not_handed_out<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    publish(&fixture, 0..3).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 3).await;
    settle(&mut *subscription, taken, &dead_letter()).await;
    nothing_comes(&mut *subscription).await;
    let depths = fixture.inspector().depths().await.expect("counted");
    assert_eq!((depths.main, depths.retry, depths.dead_letters), (0, 0, 3));
}

pub async fn a_batch_may_be_settled_in_different_ways<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    publish(&fixture, 0..9).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 9).await;
    let settlements = taken
        .into_iter()
        .map(|delivery| {
            let action = match id(&delivery).as_str() {
                "evt_0" | "evt_3" | "evt_6" => Action::Acknowledge,
                "evt_1" | "evt_4" | "evt_7" => retry(),
                _ => dead_letter(),
            };
            Settlement { delivery, action }
        })
        .collect();
    assert_eq!(subscription.settle(settlements).await.expect("settled").acks_lost, 0);
    let back = take(&mut *subscription, 3).await;
    let expected = ["evt_1", "evt_4", "evt_7"].map(str::to_owned);
    assert_eq!(ids(&back).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(expected));
    assert_eq!(fixture.inspector().depths().await.expect("counted").dead_letters, 3);
}

pub async fn dropping_a_wait_loses_nothing<F: Fixture>() {
    let fixture = F::new(Setup { unsettled_max: 500, ..Setup::default() }).await;
    let mut subscription = subscribe(&fixture).await;
    let publishing = publish(&fixture, 0..200);
    let consuming = async {
        let mut seen = Vec::new();
        for round in 0..2_000_u64 {
            let patience = Duration::from_micros(round * 137 % 5_000);
            if let Ok(batch) = tokio::time::timeout(patience, subscription.next_batch()).await {
                seen.extend(ids(&batch.expect("the subscription lives")));
            }
            if seen.len() == 200 {
                break;
            }
        }
        seen
    };
    let (seen, ()) = futures::join!(consuming, publishing);
    assert_eq!(seen.len(), 200);
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>().len(), 200);
}

pub async fn no_more_is_handed_out_than_the_bound<F: Fixture>() {
    let fixture = F::new(Setup { unsettled_max: 5, ..Setup::default() }).await;
    publish(&fixture, 0..12).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 5).await;
    nothing_comes(&mut *subscription).await;
    settle(&mut *subscription, taken, &Action::Acknowledge).await;
    take(&mut *subscription, 5).await;
}

pub async fn two_subscriptions_share_the_work<F: Fixture>() {
    let fixture = F::new(Setup { unsettled_max: 5, ..Setup::default() }).await;
    publish(&fixture, 0..10).await;
    let (mut one, mut other) = (subscribe(&fixture).await, subscribe(&fixture).await);
    let mut seen = ids(&take(&mut *one, 5).await);
    seen.extend(ids(&take(&mut *other, 5).await));
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>().len(), 10);
}

pub async fn what_waits_is_counted<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    publish(&fixture, 0..4).await;
    let depths = fixture.inspector().depths().await.expect("counted");
    assert_eq!((depths.main, depths.retry, depths.dead_letters), (4, 0, 0));
}

/// Stamps every behaviour for one implementation.
#[macro_export]
macro_rules! event_queue_contract {
    ($module:ident, $fixture:ty) => {
        mod $module {
            $crate::event_queue_contract!(@stamp $fixture:
                a_delivery_is_what_was_published
                a_batch_is_full_before_the_linger_time
                a_batch_is_handed_out_after_the_linger_time
                what_is_acknowledged_is_gone
                what_is_not_settled_comes_again
                settling_some_leaves_the_others
                what_is_held_can_be_settled_after_later_ones
                a_retry_comes_back_after_its_delay
                a_dead_letter_is_kept_and_not_handed_out
                a_batch_may_be_settled_in_different_ways
                dropping_a_wait_loses_nothing
                no_more_is_handed_out_than_the_bound
                two_subscriptions_share_the_work
                what_waits_is_counted
            );
        }
    };
    (@stamp $fixture:ty: $($behaviour:ident)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $behaviour() {
            $crate::event_queue::$behaviour::<$fixture>().await;
        }
    )*};
}

event_queue_contract!(amqp, crate::event_queue::amqp_fixture::AmqpFixture);

mod amqp_faults;
pub mod amqp_fixture;
mod amqp_poison;
mod amqp_waiting;
pub mod embedded;
