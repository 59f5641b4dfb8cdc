//! An event that kills every process that has it in hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use adapters::clock::SystemClock;
use adapters::inbound::amqp::{
    ALONE_AFTER_RETURNS, AmqpDeadLetterQueue, AmqpQueue, ConsumeSettings, DeadLetterSettings,
};
use adapters::outbound::amqp::{AmqpSettings, topology};
use application::ports::dead_letter_queue::DeadLetterQueue;
use application::ports::event_queue::{Action, EventQueue, Subscription};
use harness::rabbitmq::{AmqpProxy, TestVhost};
use tokio_util::sync::CancellationToken;

use super::amqp_fixture::AmqpFixture;
use super::{Fixture, Setup, all, dead_letter, id, ids, next, publish, settle, subscribe, take};

const CULPRIT: &str = "evt_30";

/// What a commit takes; longer than the culprit needs to kill.
const COMMIT: Duration = Duration::from_millis(5);

/// Everything that waits is in one batch with the culprit.
const PROCESS: ConsumeSettings = ConsumeSettings {
    prefetch: 200,
    batch_max: 200,
    linger: Duration::from_millis(20),
    confirm_timeout: Duration::from_secs(5),
};

/// What has happened so far, over all processes.
#[derive(Default)]
struct Story {
    done: BTreeSet<String>,
    /// How many events were handed out together with the culprit, itself included, each time.
    company: Vec<usize>,
}

/// One process: subscriptions side by side, on connections that end all at once.
async fn live_and_die(vhost: &TestVhost, story: &Arc<Mutex<Story>>, stop: &CancellationToken) {
    let proxy = AmqpProxy::start(vhost.address()).await;
    let through = AmqpSettings { url: vhost.url_by_port(proxy.port()).into(), ..vhost.settings() };
    let queue = AmqpQueue::new(through, PROCESS, Arc::new(SystemClock));
    let death = stop.child_token();
    let consume = async || {
        let Ok(mut subscription) = queue.subscribe().await else {
            return;
        };
        death.run_until_cancelled(consume_until_death(&mut *subscription, story, &death)).await;
        // Nothing is said to the broker any more: the connection just ends.
        proxy.cut();
    };
    futures::join!(consume(), consume());
}

async fn consume_until_death(
    subscription: &mut dyn Subscription,
    story: &Mutex<Story>,
    death: &CancellationToken,
) {
    while let Ok(batch) = subscription.next_batch().await {
        let batch_ids = ids(&batch);
        if batch_ids.iter().any(|id| id == CULPRIT) {
            story.lock().expect("no test panics with it").company.push(batch.len());
            death.cancel();
            return;
        }
        tokio::time::sleep(COMMIT).await;
        if subscription.settle(all(batch, &Action::Acknowledge)).await.is_err() {
            return;
        }
        story.lock().expect("no test panics with it").done.extend(batch_ids);
    }
}

async fn only_the_culprit_is_given_up(processes: usize) {
    const EVENTS: usize = 150;
    let fixture = AmqpFixture::new(Setup::default()).await;
    publish(&fixture, 0..60).await;
    let (story, stop) = (Arc::new(Mutex::new(Story::default())), CancellationToken::new());
    let running = futures::future::join_all((0..processes).map(async |_| {
        while !stop.is_cancelled() {
            live_and_die(&fixture.vhost, &story, &stop).await;
        }
    }));
    let watching = async {
        // Others keep coming.
        for n in 60..EVENTS {
            publish(&fixture, n..=n).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let since = Instant::now();
        loop {
            let done = story.lock().expect("no test panics with it").done.len();
            let letters = fixture.vhost.depth(topology::DEAD_LETTER_QUEUE).await;
            if done == EVENTS - 1 && letters > 0 {
                break;
            }
            assert!(letters <= 1, "{letters} dead letters, and {done} done");
            assert!(since.elapsed() < Duration::from_mins(2), "{done} done, {letters} dead letters");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        stop.cancel();
    };
    futures::join!(running, watching);
    let company = story.lock().expect("nobody panicked").company.clone();
    let companions = company.iter().filter(|together| **together > 1).count();
    assert!(companions <= usize::try_from(ALONE_AFTER_RETURNS).expect("few"), "{company:?}");
    let letters = AmqpDeadLetterQueue::new(fixture.vhost.settings(), DeadLetterSettings::default());
    let mut letters = letters.subscribe().await.expect("subscribed");
    let batch = letters.next_batch().await.expect("a dead letter");
    let told: BTreeMap<_, _> = batch
        .iter()
        .map(|letter| {
            let key = &letter.content.as_ref().expect("readable").key;
            (key.event_id.as_str().to_owned(), letter.broker_reason.clone())
        })
        .collect();
    assert_eq!(told, BTreeMap::from([(CULPRIT.to_owned(), Some("delivery_limit".to_owned()))]));
    assert_eq!(fixture.vhost.depth(topology::MAIN_QUEUE).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_becomes_a_dead_letter_and_nothing_else_does() {
    only_the_culprit_is_given_up(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_several_processes_nothing_else_becomes_a_dead_letter_either() {
    only_the_culprit_is_given_up(3).await;
}

/// A fixture whose events have come back so often that they are suspects.
async fn suspects(count: usize, setup: Setup) -> AmqpFixture {
    let fixture = AmqpFixture::new(setup).await;
    publish(&fixture, 0..count).await;
    for _ in 0..ALONE_AFTER_RETURNS {
        let mut subscription = subscribe(&fixture).await;
        take(&mut *subscription, count).await;
        subscription.close().await.expect("closed");
    }
    fixture
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_back_too_often_is_handed_out_alone_and_the_next_after_it_is_settled() {
    let fixture = suspects(5, Setup::default()).await;
    publish(&fixture, 5..10).await;
    let mut subscription = subscribe(&fixture).await;
    let mut seen = BTreeSet::new();
    for _ in 0..5 {
        let alone = next(&mut *subscription).await;
        assert_eq!(alone.len(), 1);
        seen.extend(ids(&alone));
        let more = tokio::time::timeout(Duration::from_millis(200), subscription.next_batch()).await;
        assert!(more.is_err(), "{more:?}");
        settle(&mut *subscription, alone, &Action::Acknowledge).await;
    }
    assert_eq!(seen, (0..5).map(|n| format!("evt_{n}")).collect());
    // Those that did not come back go on together.
    let together = next(&mut *subscription).await;
    assert_eq!(ids(&together), [5, 6, 7, 8, 9].map(|n| format!("evt_{n}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_subscription_of_a_process_has_a_suspect_in_hand() {
    let fixture = suspects(4, Setup::default()).await;
    let mut one = subscribe(&fixture).await;
    let alone = next(&mut *one).await;
    assert_eq!(alone.len(), 1);
    let mut other = subscribe(&fixture).await;
    let waited = tokio::time::timeout(Duration::from_millis(400), other.next_batch()).await;
    assert!(waited.is_err(), "{waited:?}");
    // The rest is at the broker, in nobody's hand.
    assert_eq!(fixture.vhost.depth(topology::MAIN_QUEUE).await, 3);
    drop(alone);
    one.close().await.expect("closed");
    assert_eq!(next(&mut *other).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspect_that_comes_in_between_waits_for_the_others_and_is_then_alone() {
    let fixture = suspects(1, Setup::default()).await;
    // It is held elsewhere while another process takes what is new.
    let mut holder = subscribe(&fixture).await;
    assert_eq!(ids(&next(&mut *holder).await), ["evt_0"]);
    let mut subscription = fixture.another_process().subscribe().await.expect("subscribed");
    publish(&fixture, 1..7).await;
    let others = take(&mut *subscription, 6).await;
    settle(&mut *subscription, others, &Action::Acknowledge).await;
    holder.close().await.expect("closed");
    publish(&fixture, 7..11).await;
    let mut seen = 0;
    while seen < 5 {
        let batch = next(&mut *subscription).await;
        assert!(
            batch.len() == 1 || batch.iter().all(|delivery| id(delivery) != "evt_0"),
            "{:?}",
            ids(&batch)
        );
        seen += batch.len();
        settle(&mut *subscription, batch, &Action::Acknowledge).await;
    }
    // It looks again, and goes on.
    publish(&fixture, 11..12).await;
    assert_eq!(ids(&take(&mut *subscription, 1).await), ["evt_11"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspect_that_is_settled_is_as_good_as_any_other_from_then_on() {
    let fixture = suspects(1, Setup::default()).await;
    publish(&fixture, 1..2).await;
    let mut subscription = subscribe(&fixture).await;
    let alone = next(&mut *subscription).await;
    assert_eq!(ids(&alone), ["evt_0"]);
    settle(&mut *subscription, alone, &super::retry()).await;
    let mut back = take(&mut *subscription, 2).await;
    back.sort_by_key(id);
    assert_eq!(ids(&back), ["evt_0", "evt_1"]);
    assert_eq!(back[0].failed_attempts, 1);
    settle(&mut *subscription, back, &dead_letter()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_its_turn_notices_that_the_connection_is_gone() {
    let fixture = AmqpFixture::new(Setup::default()).await;
    let mut one = subscribe(&fixture).await;
    let waiting = tokio::time::timeout(Duration::from_millis(100), one.next_batch()).await;
    assert!(waiting.is_err(), "it has the turn, and nothing comes: {waiting:?}");
    let mut other = subscribe(&fixture).await;
    let (ended, ()) = futures::join!(
        tokio::time::timeout(Duration::from_secs(10), other.next_batch()),
        fixture.vhost.close_all_connections()
    );
    assert!(ended.expect("it fails, and does not wait").is_err());
}
