//! What a queue owes to being a file.

use std::time::Duration;

use adapters::outbound::embedded::EmbeddedInspector;
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{Action, EventQueue, QueueDepths, QueueInspector, Settlement};
use application::ports::readiness::ReadinessCheck;
use application::testing::envelope;
use bytes::Bytes;
use harness::embedded::TestDataFolder;

use super::super::{
    Fixture, Setup, all, dead_letter, history, id, ids, next, payload, publish, retry, settle, subscribe,
    take,
};
use super::EmbeddedFixture;

async fn fixture() -> EmbeddedFixture {
    EmbeddedFixture::new(Setup::default()).await
}

fn depths(main: u64, retry: u64, dead_letters: u64) -> QueueDepths {
    QueueDepths { main, retry, dead_letters }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_what_is_not_settled_comes_again_in_its_order() {
    let fixture = EmbeddedFixture::new(Setup { batch_max: 4, ..Setup::default() }).await;
    publish(&fixture, 0..10).await;
    let mut subscription = subscribe(&fixture).await;
    let mut taken = take(&mut *subscription, 8).await;
    let done = vec![taken.remove(1), taken.remove(4)];
    assert_eq!(ids(&done), ["evt_1", "evt_5"]);
    settle(&mut *subscription, done, &Action::Acknowledge).await;
    let fixture = fixture.killed().await;
    let mut subscription = subscribe(&fixture).await;
    let again = take(&mut *subscription, 8).await;
    assert_eq!(ids(&again), [0, 2, 3, 4, 6, 7, 8, 9].map(|n| format!("evt_{n}")));
    assert!(again.iter().all(|delivery| delivery.failed_attempts == 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_and_dead_letters_outlive_the_process() {
    let fixture = fixture().await;
    publish(&fixture, 0..3).await;
    let mut subscription = subscribe(&fixture).await;
    let settlements = take(&mut *subscription, 3)
        .await
        .into_iter()
        .zip([Action::Acknowledge, retry(), dead_letter()])
        .map(|(delivery, action)| Settlement { delivery, action })
        .collect();
    subscription.settle(settlements).await.expect("settled");
    let fixture = fixture.killed().await;
    let mut subscription = subscribe(&fixture).await;
    let back = take(&mut *subscription, 1).await.remove(0);
    assert_eq!((id(&back), back.failed_attempts), ("evt_1".to_owned(), 1));
    assert_eq!(back.history, history());
    assert_eq!(fixture.inspector.depths().await.expect("counted"), depths(1, 0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_come_back_in_the_order_in_which_they_are_due() {
    let fixture = fixture().await;
    publish(&fixture, 0..3).await;
    let mut subscription = subscribe(&fixture).await;
    let delays = [600, 200, 400].map(Duration::from_millis);
    let settlements = take(&mut *subscription, 3)
        .await
        .into_iter()
        .zip(delays)
        .map(|(delivery, delay)| Settlement {
            delivery,
            action: Action::RetryAfter { delay, failed_attempts: 1, history: history() },
        })
        .collect();
    subscription.settle(settlements).await.expect("settled");
    assert_eq!(fixture.inspector.depths().await.expect("counted"), depths(0, 3, 0));
    let back = take(&mut *subscription, 3).await;
    assert_eq!(ids(&back), ["evt_1", "evt_2", "evt_0"]);
    assert_eq!(fixture.inspector.depths().await.expect("counted"), depths(3, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_subscription_gives_back_goes_to_the_other_in_its_order() {
    let fixture = EmbeddedFixture::new(Setup { unsettled_max: 4, ..Setup::default() }).await;
    publish(&fixture, 0..12).await;
    let (mut one, mut other) = (subscribe(&fixture).await, subscribe(&fixture).await);
    assert_eq!(take(&mut *one, 4).await.len(), 4);
    let taken = take(&mut *other, 4).await;
    one.close().await.expect("closed");
    settle(&mut *other, taken, &Action::Acknowledge).await;
    let given_back = take(&mut *other, 4).await;
    assert_eq!(ids(&given_back), ["evt_0", "evt_1", "evt_2", "evt_3"]);
    settle(&mut *other, given_back, &Action::Acknowledge).await;
    assert_eq!(ids(&take(&mut *other, 4).await), ["evt_8", "evt_9", "evt_10", "evt_11"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_says_why_and_keeps_its_bytes() {
    let fixture = fixture().await;
    publish(&fixture, 1..2).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 1).await;
    settle(&mut *subscription, taken, &dead_letter()).await;
    let letter = fixture.inspector.dead_letters(0, 10).await.expect("read").remove(0);
    assert_eq!((letter.source.as_str(), letter.event_id.as_str()), ("payment", "evt_1"));
    assert_eq!(letter.payload, payload(1));
    assert_eq!((letter.reason.as_str(), letter.detail.as_str()), ("untranslatable", "no such field"));
    assert_eq!(letter.history, history());
    assert!(letter.dead_lettered_at > letter.received_at);
    assert!(!letter.release.is_empty());
    assert!(fixture.inspector.dead_letters(letter.id, 10).await.expect("read").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_no_envelope_is_unreadable_and_can_be_given_up() {
    let fixture = fixture().await;
    publish(&fixture, 0..2).await;
    let tool = rusqlite::Connection::open(fixture.folder.queue()).expect("opened");
    tool.execute("UPDATE events SET source = 'No Such/Name' WHERE event_id = 'evt_0'", []).expect("changed");
    let mut subscription = subscribe(&fixture).await;
    let mut taken = take(&mut *subscription, 2).await;
    assert_eq!(id(&taken[1]), "evt_1");
    let odd = taken.remove(0);
    let unreadable = odd.content.as_ref().expect_err("unreadable");
    assert_eq!(unreadable.payload, payload(0));
    assert!(unreadable.reason.contains("source"), "{}", unreadable.reason);
    settle(&mut *subscription, vec![odd], &dead_letter()).await;
    let letter = fixture.inspector.dead_letters(0, 10).await.expect("read").remove(0);
    assert_eq!((letter.source.as_str(), letter.payload), ("No Such/Name", payload(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_is_settled_once_and_by_its_subscription() {
    let fixture = fixture().await;
    publish(&fixture, 0..2).await;
    let (mut one, mut other) = (subscribe(&fixture).await, subscribe(&fixture).await);
    let taken = take(&mut *one, 2).await;
    let error = other.settle(all(taken, &Action::Acknowledge)).await;
    assert!(error.is_err(), "{error:?}");
    assert!(other.next_batch().await.is_err(), "it has ended");
    drop(one);
    assert_eq!(fixture.inspector.depths().await.expect("counted"), depths(2, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_queue_ends_the_subscriptions() {
    let fixture = fixture().await;
    assert_eq!(fixture.queue.check().await, Err("nothing is subscribed".to_owned()));
    let mut subscription = subscribe(&fixture).await;
    assert_eq!(fixture.queue.check().await, Ok(()));
    let (ended, ()) = futures::join!(subscription.next_batch(), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        fixture.broker.close().await;
    });
    assert!(ended.is_err(), "{ended:?}");
    assert!(fixture.queue.subscribe().await.is_err());
    assert!(fixture.queue.check().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn others_may_count_while_the_owner_works_and_when_there_is_none() {
    let fixture = fixture().await;
    publish(&fixture, 0..4).await;
    let beside = EmbeddedInspector::open_read_only(&fixture.folder.queue()).expect("opened");
    assert_eq!(beside.depths().await.expect("counted"), depths(4, 0, 0));
    publish(&fixture, 4..5).await;
    assert_eq!(beside.depths().await.expect("counted"), depths(5, 0, 0));
    drop(beside);
    fixture.broker.close().await;
    let alone = EmbeddedInspector::open_read_only(&fixture.folder.queue()).expect("opened");
    assert_eq!(alone.depths().await.expect("counted"), depths(5, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn counting_creates_no_file() {
    let folder = TestDataFolder::create();
    let opened = EmbeddedInspector::open_read_only(&folder.queue());
    let error = opened.err().expect("there is no queue");
    assert!(error.to_string().contains("queue.db"), "{error}");
    assert!(!folder.queue().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_large_payloads_is_handed_out_before_it_fills_the_memory() {
    let fixture = fixture().await;
    let large = Bytes::from(vec![b'x'; 1024 * 1024]);
    for n in 0..20 {
        let sent = vec![envelope(&format!("evt_{n}"), large.clone())];
        fixture.publisher.publish(sent).await.remove(0).expect("published");
    }
    let mut subscription = subscribe(&fixture).await;
    for expected in [8, 8, 4] {
        assert_eq!(next(&mut *subscription).await.len(), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_do_not_hold_up_the_log() {
    let fixture = EmbeddedFixture::new(Setup { unsettled_max: 2, ..Setup::default() }).await;
    publish(&fixture, 0..5).await;
    let mut subscription = subscribe(&fixture).await;
    take(&mut *subscription, 2).await;
    fixture.inspector.depths().await.expect("counted");
    let tool = rusqlite::Connection::open(fixture.folder.queue()).expect("opened");
    let held_up = tool.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    assert_eq!(held_up, Ok(0));
    let log = fixture.folder.path().join("queue.db-wal");
    assert_eq!(log.metadata().expect("the log").len(), 0);
}
