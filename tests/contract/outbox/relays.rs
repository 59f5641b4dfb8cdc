//! Whole relays over a store, and destinations that remember what they got.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use application::ports::destination::{DeliveryOutcome, Destination, RenderedMessage};
use application::ports::outbox::Start;
use application::ports::relay_observer::MockRelayObserver;
use application::use_cases::{KindFilter, RelayOutbox, RelaySettings, Route};
use async_trait::async_trait;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::fixture::OutboxFixture;

/// How long messages may take, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_mins(1);

/// A destination that keeps the ids of what it was sent, by payment.
#[derive(Default)]
struct Received {
    by_payment: Mutex<BTreeMap<String, Vec<String>>>,
    behaviour: Behaviour,
}

#[derive(Default)]
enum Behaviour {
    #[default]
    Takes,
    /// Takes, and is slow at it.
    TakesSlowly(Duration),
    /// Nothing is to be had of it.
    IsAway,
    /// Refuses what is about this payment.
    Refuses(&'static str),
}

impl Received {
    fn that(behaviour: Behaviour) -> Arc<Self> {
        Arc::new(Self { behaviour, ..Self::default() })
    }

    fn count(&self) -> usize {
        self.by_payment.lock().unwrap().values().map(Vec::len).sum()
    }

    /// Waits until it has got `count` messages, copies included.
    async fn wait_for(&self, count: usize) {
        let since = Instant::now();
        while self.count() < count {
            assert!(since.elapsed() < PATIENCE, "{} of {count} messages", self.count());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Of each payment all messages have come, in order, when copies are left aside.
    fn assert_complete_and_in_order(&self, payments: usize, each: usize) {
        let by_payment = self.by_payment.lock().unwrap();
        assert_eq!(by_payment.len(), payments);
        for (payment, ids) in by_payment.iter() {
            let mut first_times: Vec<&String> = Vec::new();
            for id in ids {
                if !first_times.contains(&id) {
                    first_times.push(id);
                }
            }
            let number = |id: &&String| id.rsplit('/').next().and_then(|n| n.parse::<u32>().ok());
            assert_eq!(first_times.len(), each, "{payment}: {ids:?}");
            assert!(first_times.is_sorted_by_key(number), "{payment}: {ids:?}");
        }
    }
}

#[async_trait]
impl Destination for Received {
    async fn deliver(&self, messages: &[RenderedMessage]) -> Vec<DeliveryOutcome> {
        let mut outcomes = Vec::new();
        let mut stuck = Vec::new();
        for message in messages {
            let payment = &message.payment.1;
            let outcome = match self.behaviour {
                Behaviour::IsAway => {
                    DeliveryOutcome::Unavailable { error: "nobody there".to_owned(), retry_after: None }
                }
                _ if stuck.contains(&payment) => DeliveryOutcome::NotTried,
                Behaviour::Refuses(refused) if payment == refused => {
                    stuck.push(payment);
                    DeliveryOutcome::Refused { error: "HTTP 400".to_owned() }
                }
                Behaviour::TakesSlowly(time) => {
                    tokio::time::sleep(time).await;
                    self.keep(message)
                }
                Behaviour::Takes | Behaviour::Refuses(_) => self.keep(message),
            };
            outcomes.push(outcome);
        }
        outcomes
    }
}

impl Received {
    fn keep(&self, message: &RenderedMessage) -> DeliveryOutcome {
        let mut by_payment = self.by_payment.lock().unwrap();
        by_payment.entry(message.payment.1.clone()).or_default().push(message.id.clone());
        DeliveryOutcome::Delivered
    }
}

const LEASE: Duration = Duration::from_secs(2);

/// Runs a relay of its own process, so to say, to the destination of that name.
fn start(
    store: &impl OutboxFixture,
    name: &str,
    owner: &str,
    destination: Arc<Received>,
    stop: &CancellationToken,
) -> JoinHandle<()> {
    let mut observer = MockRelayObserver::new();
    observer.expect_leading().return_const(());
    observer.expect_delivered().return_const(());
    observer.expect_retried().return_const(());
    observer.expect_failed().return_const(());
    observer.expect_away().return_const(());
    let route = Route {
        name: name.to_owned(),
        kinds: KindFilter::default(),
        start: Start::Oldest,
        attempts_max: 2,
        max_age: Duration::from_hours(1),
        retry_delay: Duration::from_millis(50),
    };
    let settings = RelaySettings {
        batch_max: 20,
        lease: LEASE,
        poll: Duration::from_millis(20),
        backoff_max: Duration::from_millis(200),
    };
    let relay =
        RelayOutbox::new(store.outbox(), destination, Arc::new(observer), route, owner.to_owned(), settings);
    let stop = stop.clone();
    tokio::spawn(async move { relay.run(&stop).await })
}

/// Adds `rounds` messages to each of ten payments.
async fn add_rounds(store: &impl OutboxFixture, rounds: usize) {
    let payments: Vec<String> = (0..10).map(|number| format!("pi_{number}")).collect();
    let payments: Vec<&str> = payments.iter().map(String::as_str).collect();
    for _ in 0..rounds {
        store.add(&payments).await;
    }
}

pub async fn two_relays_deliver_each_message_once_and_a_payments_in_order(store: impl OutboxFixture) {
    let (received, stop) = (Received::that(Behaviour::Takes), CancellationToken::new());
    let relays = ["one", "other"].map(|owner| start(&store, "shop", owner, received.clone(), &stop));
    add_rounds(&store, 30).await;
    received.wait_for(300).await;
    stop.cancel();
    for relay in relays {
        relay.await.unwrap();
    }
    received.assert_complete_and_in_order(10, 30);
    assert_eq!(received.count(), 300, "a message was delivered twice");
}

pub async fn when_a_relay_is_killed_another_goes_on_and_nothing_is_lost(store: impl OutboxFixture) {
    add_rounds(&store, 20).await;
    let received = Received::that(Behaviour::TakesSlowly(Duration::from_millis(10)));
    let stop = CancellationToken::new();
    let first = start(&store, "shop", "one", received.clone(), &stop);
    received.wait_for(25).await;
    // In the middle of a batch, and without a word: its lease has to run out.
    first.abort();
    let second = start(&store, "shop", "other", received.clone(), &stop);
    received.wait_for(200).await;
    let since = Instant::now();
    while store.outbox().depths().await.unwrap()[0].behind > 0 {
        assert!(since.elapsed() < PATIENCE, "it never comes to the end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    second.await.unwrap();
    received.assert_complete_and_in_order(10, 20);
    assert!(received.count() <= 200 + 20, "more than a batch came twice: {}", received.count());
}

pub async fn a_destination_that_takes_nothing_holds_back_no_other(store: impl OutboxFixture) {
    let (received, stop) = (Received::that(Behaviour::Takes), CancellationToken::new());
    let relays = [
        start(&store, "away", "one", Received::that(Behaviour::IsAway), &stop),
        start(&store, "shop", "one", received.clone(), &stop),
    ];
    add_rounds(&store, 10).await;
    received.wait_for(100).await;
    stop.cancel();
    for relay in relays {
        relay.await.unwrap();
    }
    received.assert_complete_and_in_order(10, 10);
    assert!(store.kept("away").await.is_empty(), "an attempt was counted while it was away");
}

pub async fn a_message_that_is_refused_holds_back_its_payment_alone(store: impl OutboxFixture) {
    let (received, stop) = (Received::that(Behaviour::Refuses("pi_3")), CancellationToken::new());
    let relay = start(&store, "shop", "one", received.clone(), &stop);
    add_rounds(&store, 5).await;
    received.wait_for(45).await;
    // Each of its messages has its turn, is tried twice and given up.
    let since = Instant::now();
    while store.kept("shop").await != ["pi_3 failed 2"; 5] {
        assert!(since.elapsed() < PATIENCE, "{:?}", store.kept("shop").await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    relay.await.unwrap();
    received.assert_complete_and_in_order(9, 5);
}
