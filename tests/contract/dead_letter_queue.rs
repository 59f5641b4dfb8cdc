//! What every [`DeadLetterQueue`] must do.
//!
//! A behaviour is a function over a [`Fixture`]; `dead_letter_queue_contract!` stamps all of them for one
//! implementation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use application::envelope::Envelope;
use application::ports::dead_letter_queue::{DeadLetterMessage, DeadLetterQueue, DeadLetterSubscription};
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{EventQueue, Settlement};
use application::testing::envelope;
use async_trait::async_trait;
use bytes::Bytes;

use crate::event_queue::{dead_letter, history, payload};

mod amqp;
mod embedded;

/// The name of the worker that gives events up.
pub const WORKER: &str = "host/7";

/// How the queue under test shall behave.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// How many letters may be in hand.
    pub in_hand_max: u16,
    /// How many bytes of them.
    pub in_hand_bytes_max: usize,
    /// The longest payload.
    pub longest_payload: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self { in_hand_max: 50, in_hand_bytes_max: 64 * 1024 * 1024, longest_payload: 1024 * 1024 }
    }
}

/// How long a batch waits for more.
pub const LINGER: Duration = Duration::from_millis(50);

/// Far longer than anything takes that works.
const SOON: Duration = Duration::from_secs(10);

/// One empty queue, and all that may be done with it.
#[async_trait]
pub trait Fixture: Send + Sync + Sized {
    /// Without events and letters.
    async fn new(setup: Setup) -> Self;
    /// What publishes events.
    fn publisher(&self) -> Arc<dyn EventPublisher>;
    /// From where events are given up.
    fn events(&self) -> Arc<dyn EventQueue>;
    /// What is under test.
    fn letters(&self) -> Arc<dyn DeadLetterQueue>;
    /// Puts a letter there that cannot be read.
    async fn put_unreadable(&self, payload: Bytes);
    /// What another process finds when this one is killed now.
    async fn killed(self) -> Self;
}

/// Has events given up by a worker.
pub async fn give_up<F: Fixture>(fixture: &F, envelopes: Vec<Envelope>) {
    let mut left = envelopes.len();
    for answer in fixture.publisher().publish(envelopes).await {
        answer.expect("published");
    }
    let mut events = fixture.events().subscribe().await.expect("subscribed");
    while left > 0 {
        let batch = tokio::time::timeout(SOON, events.next_batch()).await;
        let batch = batch.expect("a batch comes soon").expect("the subscription lives");
        left -= batch.len();
        let settlements =
            batch.into_iter().map(|delivery| Settlement { delivery, action: dead_letter() }).collect();
        events.settle(settlements).await.expect("given up");
    }
    events.close().await.expect("closed");
}

/// Has the events with these numbers given up.
pub async fn give_up_numbers<F: Fixture>(fixture: &F, numbers: impl Iterator<Item = usize> + Send) {
    give_up(fixture, numbers.map(|n| envelope(&format!("evt_{n}"), payload(n))).collect()).await;
}

pub async fn subscribe<F: Fixture>(fixture: &F) -> Box<dyn DeadLetterSubscription> {
    fixture.letters().subscribe().await.expect("subscribed")
}

/// Exactly `count` letters, in as many batches as it takes.
pub async fn take(subscription: &mut dyn DeadLetterSubscription, count: usize) -> Vec<DeadLetterMessage> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let batch = tokio::time::timeout(SOON, subscription.next_batch()).await;
        let batch = batch.expect("a batch comes soon").expect("the subscription lives");
        assert!(!batch.is_empty());
        taken.extend(batch);
    }
    assert_eq!(taken.len(), count);
    taken
}

pub async fn nothing_comes(subscription: &mut dyn DeadLetterSubscription) {
    let waited = tokio::time::timeout(Duration::from_millis(400), subscription.next_batch()).await;
    assert!(waited.is_err(), "{waited:?}");
}

pub async fn acknowledge(subscription: &mut dyn DeadLetterSubscription, letters: &[DeadLetterMessage]) {
    let tokens = letters.iter().map(|letter| letter.token).collect();
    subscription.acknowledge(tokens).await.expect("acknowledged");
}

pub fn ids(letters: &[DeadLetterMessage]) -> BTreeSet<String> {
    let id = |letter: &DeadLetterMessage| {
        letter.content.as_ref().expect("readable").key.event_id.as_str().to_owned()
    };
    letters.iter().map(id).collect()
}

fn numbers(range: std::ops::Range<usize>) -> BTreeSet<String> {
    range.map(|n| format!("evt_{n}")).collect()
}

/// Everything that tells a letter, apart from its token.
fn told(letter: &DeadLetterMessage) -> String {
    let DeadLetterMessage { token: _, content, reason, detail, broker_reason, .. } = letter;
    let DeadLetterMessage { failed_attempts, history, dead_lettered_at, worker, release, .. } = letter;
    format!(
        "{content:?} {reason:?} {detail:?} {broker_reason:?} {failed_attempts} {history:?} \
         {dead_lettered_at:?} {worker:?} {release:?}"
    )
}

pub async fn a_letter_comes_with_everything<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    let mut sent = envelope("evt_1", payload(1));
    sent.headers = vec![("x-signature".to_owned(), "t=1,v1=é".to_owned())];
    sent.trace.traceparent = Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned());
    give_up(&fixture, vec![sent.clone()]).await;
    let mut subscription = subscribe(&fixture).await;
    let letter = take(&mut *subscription, 1).await.remove(0);
    assert_eq!(letter.reason.as_deref(), Some("untranslatable"));
    assert_eq!(letter.detail.as_deref(), Some("no such field"));
    assert_eq!(letter.broker_reason, None);
    assert_eq!((letter.failed_attempts, &letter.history), (3, &history()));
    assert!(letter.dead_lettered_at.expect("a moment") > sent.received_at);
    assert_eq!(letter.worker.as_deref(), Some(WORKER));
    assert!(letter.release.is_some());
    assert_eq!(letter.content.expect("readable"), sent);
}

pub async fn a_letter_that_cannot_be_read_comes_with_its_bytes<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    let bytes = Bytes::from_static(b"\xff\x00 not ours");
    fixture.put_unreadable(bytes.clone()).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 1).await;
    let unreadable = taken[0].content.as_ref().expect_err("not ours");
    assert_eq!(unreadable.payload, bytes);
    assert!(!unreadable.reason.is_empty());
    acknowledge(&mut *subscription, &taken).await;
    subscription.close().await.expect("closed");
    nothing_comes(&mut *subscribe(&fixture).await).await;
}

pub async fn the_longest_payload_and_one_without_bytes_come_whole<F: Fixture>() {
    let setup = Setup::default();
    let fixture = F::new(setup).await;
    let noise = |n: usize| u8::try_from(n.wrapping_mul(0x9e37_79b9) >> 7 & 0xff).expect("one byte");
    let longest: Vec<u8> = (0..setup.longest_payload).map(noise).collect();
    let sent = vec![envelope("evt_long", longest), envelope("evt_empty", Bytes::new())];
    give_up(&fixture, sent.clone()).await;
    let mut subscription = subscribe(&fixture).await;
    for letter in take(&mut *subscription, 2).await {
        let came = letter.content.expect("readable");
        assert!(sent.contains(&came), "{} came with {} bytes", came.key, came.payload.len());
    }
}

pub async fn what_is_not_acknowledged_comes_again_and_is_the_same<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    give_up_numbers(&fixture, 0..10).await;
    let mut first = subscribe(&fixture).await;
    let all = |letters: Vec<DeadLetterMessage>| letters.iter().map(told).collect::<BTreeSet<_>>();
    let taken = all(take(&mut *first, 10).await);
    first.close().await.expect("closed");
    let mut second = subscribe(&fixture).await;
    assert_eq!(all(take(&mut *second, 10).await), taken);
    drop(second);
    let mut third = subscribe(&fixture).await;
    assert_eq!(all(take(&mut *third, 10).await), taken);
    drop(third);
    let fixture = fixture.killed().await;
    assert_eq!(all(take(&mut *subscribe(&fixture).await, 10).await), taken);
}

pub async fn what_is_acknowledged_is_gone_and_nothing_else<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    give_up_numbers(&fixture, 0..10).await;
    let mut subscription = subscribe(&fixture).await;
    let (kept, done): (Vec<_>, Vec<_>) = take(&mut *subscription, 10)
        .await
        .into_iter()
        .partition(|letter| ids(std::slice::from_ref(letter)).contains("evt_3"));
    acknowledge(&mut *subscription, &done).await;
    drop(kept);
    subscription.close().await.expect("closed");
    let fixture = fixture.killed().await;
    let mut again = subscribe(&fixture).await;
    assert_eq!(ids(&take(&mut *again, 1).await), BTreeSet::from(["evt_3".to_owned()]));
    nothing_comes(&mut *again).await;
}

pub async fn letters_of_one_event_are_letters_of_their_own<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    give_up_numbers(&fixture, 1..2).await;
    give_up_numbers(&fixture, 1..2).await;
    let mut subscription = subscribe(&fixture).await;
    let mut taken = take(&mut *subscription, 2).await;
    assert_ne!(taken[0].dead_lettered_at, taken[1].dead_lettered_at);
    acknowledge(&mut *subscription, &[taken.remove(0)]).await;
    subscription.close().await.expect("closed");
    take(&mut *subscribe(&fixture).await, 1).await;
}

pub async fn a_letter_comes_to_whoever_waits_for_it<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    let mut subscription = subscribe(&fixture).await;
    let giving_up = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        give_up_numbers(&fixture, 0..1).await;
    };
    let (taken, ()) = futures::join!(take(&mut *subscription, 1), giving_up);
    assert_eq!(ids(&taken), numbers(0..1));
}

pub async fn dropping_a_wait_loses_nothing<F: Fixture>() {
    let fixture = F::new(Setup { in_hand_max: 500, longest_payload: 1024, ..Setup::default() }).await;
    let mut subscription = subscribe(&fixture).await;
    let consuming = async {
        let mut seen = Vec::new();
        for round in 0..4_000_u64 {
            let patience = Duration::from_micros(round * 137 % 5_000);
            if let Ok(batch) = tokio::time::timeout(patience, subscription.next_batch()).await {
                seen.extend(batch.expect("the subscription lives"));
            }
            if seen.len() == 200 {
                break;
            }
        }
        seen
    };
    let (seen, ()) = futures::join!(consuming, give_up_numbers(&fixture, 0..200));
    assert_eq!((seen.len(), ids(&seen)), (200, numbers(0..200)));
}

pub async fn no_more_letters_are_in_hand_than_the_bound<F: Fixture>() {
    let fixture = F::new(Setup { in_hand_max: 5, ..Setup::default() }).await;
    give_up_numbers(&fixture, 0..12).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 5).await;
    nothing_comes(&mut *subscription).await;
    acknowledge(&mut *subscription, &taken).await;
    take(&mut *subscription, 5).await;
}

pub async fn no_more_bytes_are_in_hand_than_the_bound<F: Fixture>() {
    const PAYLOAD: usize = 1000;
    let setup = Setup { in_hand_bytes_max: 3 * PAYLOAD, longest_payload: PAYLOAD, ..Setup::default() };
    let fixture = F::new(setup).await;
    let sent = (0..8).map(|n| envelope(&format!("evt_{n}"), vec![b'x'; PAYLOAD])).collect();
    give_up(&fixture, sent).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 3).await;
    nothing_comes(&mut *subscription).await;
    acknowledge(&mut *subscription, &taken).await;
    take(&mut *subscription, 3).await;
}

pub async fn two_subscriptions_share_the_letters<F: Fixture>() {
    let fixture = F::new(Setup { in_hand_max: 5, ..Setup::default() }).await;
    give_up_numbers(&fixture, 0..10).await;
    let (mut one, mut other) = (subscribe(&fixture).await, subscribe(&fixture).await);
    let mut seen = ids(&take(&mut *one, 5).await);
    seen.extend(ids(&take(&mut *other, 5).await));
    assert_eq!(seen, numbers(0..10));
}

pub async fn a_letter_is_acknowledged_once_and_by_its_subscription<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    give_up_numbers(&fixture, 0..2).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 2).await;
    acknowledge(&mut *subscription, &taken[..1]).await;
    assert!(subscription.acknowledge(vec![taken[0].token]).await.is_err());
    // Where it stands is known to a new one alone.
    assert!(subscription.next_batch().await.is_err());
    drop(subscription);
    take(&mut *subscribe(&fixture).await, 1).await;
}

/// Stamps every behaviour for one implementation.
#[macro_export]
macro_rules! dead_letter_queue_contract {
    ($module:ident, $fixture:ty) => {
        mod $module {
            $crate::dead_letter_queue_contract!(@stamp $fixture:
                a_letter_comes_with_everything
                a_letter_that_cannot_be_read_comes_with_its_bytes
                the_longest_payload_and_one_without_bytes_come_whole
                what_is_not_acknowledged_comes_again_and_is_the_same
                what_is_acknowledged_is_gone_and_nothing_else
                letters_of_one_event_are_letters_of_their_own
                a_letter_comes_to_whoever_waits_for_it
                dropping_a_wait_loses_nothing
                no_more_letters_are_in_hand_than_the_bound
                no_more_bytes_are_in_hand_than_the_bound
                two_subscriptions_share_the_letters
                a_letter_is_acknowledged_once_and_by_its_subscription
            );
        }
    };
    (@stamp $fixture:ty: $($behaviour:ident)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $behaviour() {
            $crate::dead_letter_queue::$behaviour::<$fixture>().await;
        }
    )*};
}
