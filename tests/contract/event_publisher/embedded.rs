//! What can go wrong with a disk in between.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use adapters::outbound::embedded::{DataFolderInUse, LOCK_FILE, lock_data_folder};
use application::ports::event_publisher::{EventPublisher, PublishError};
use application::ports::event_queue::{Action, QueueInspector};
use application::ports::readiness::ReadinessCheck;
use application::testing::envelope;
use bytes::Bytes;
use harness::embedded::{TestDataFolder, open_queue};

use crate::event_queue::embedded::EmbeddedFixture;
use crate::event_queue::{Fixture, Setup, all, id, next, payload, publish, settle, subscribe, take};

crate::event_publisher_contract!(contract, crate::event_queue::embedded::EmbeddedFixture);

async fn one(fixture: &EmbeddedFixture, n: usize) -> Result<(), PublishError> {
    fixture.publisher.publish(vec![envelope(&format!("evt_{n}"), payload(n))]).await.remove(0)
}

fn refused(answer: Result<(), PublishError>) -> String {
    match answer {
        Err(PublishError::Unavailable(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

/// Keeps others from writing until it is dropped.
fn lock_file(fixture: &EmbeddedFixture) -> rusqlite::Connection {
    let tool = rusqlite::Connection::open(fixture.folder.queue()).expect("opened");
    tool.execute_batch("BEGIN IMMEDIATE").expect("locked");
    tool
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_together_is_committed_together() {
    let fixture = EmbeddedFixture::new(Setup { unsettled_max: 2_000, ..Setup::default() }).await;
    let before = fixture.broker.commits();
    let calls = (0..1_000).map(|n| one(&fixture, n));
    for answer in futures::future::join_all(calls).await {
        answer.expect("published");
    }
    let commits = fixture.broker.commits() - before;
    assert!(commits <= 100, "{commits} commits for 1000 envelopes");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_disk_is_full_nothing_is_accepted_and_nothing_is_lost() {
    let fixture = EmbeddedFixture::with(Setup::default(), |settings| {
        settings.bytes_max = Some(512 * 1024);
    })
    .await;
    let large = Bytes::from(vec![b'x'; 10_000]);
    let mut accepted = 0;
    let reason = loop {
        let three = (0..3).map(|n| envelope(&format!("evt_{accepted}_{n}"), large.clone())).collect();
        let answers = fixture.publisher.publish(three).await;
        match answers.iter().filter(|answer| answer.is_ok()).count() {
            3 => accepted += 3,
            0 => break refused(answers.into_iter().next().expect("answered")),
            some => panic!("{some} of 3 that belong together"),
        }
        assert!(accepted < 100, "the file has no bound");
    };
    assert!(reason.contains("full"), "{reason}");
    assert!(accepted > 10);
    let not_ready = fixture.publisher.check().await.expect_err("it is of no use");
    assert!(not_ready.contains("full"), "{not_ready}");
    let depths = fixture.inspector.depths().await.expect("counted");
    assert_eq!(depths.main, accepted);

    // Consuming makes room, though publishers keep knocking.
    let mut subscription = subscribe(&fixture).await;
    let mut seen = 0;
    let mut knocked = false;
    while seen < accepted {
        let batch = next(&mut *subscription).await;
        seen += batch.len() as u64;
        let settled = subscription.settle(all(batch, &Action::Acknowledge));
        if knocked {
            settled.await.expect("settled");
            continue;
        }
        // Too much even for an empty file.
        let knocking = (0..100).map(|n| envelope(&format!("evt_late_{n}"), large.clone())).collect();
        let (settled, answers) = futures::join!(settled, fixture.publisher.publish(knocking));
        settled.expect("settled");
        assert!(answers.into_iter().all(|answer| refused(answer).contains("full")));
        knocked = true;
    }
    one(&fixture, 1).await.expect("there is room again");
    assert_eq!(fixture.publisher.check().await, Ok(()));
    assert_eq!(fixture.inspector.depths().await.expect("counted").main, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_becomes_ready_again_without_anybody_publishing() {
    let fixture = EmbeddedFixture::new(Setup::default()).await;
    let tool = lock_file(&fixture);
    refused(one(&fixture, 0).await);
    assert!(fixture.publisher.check().await.is_err());
    drop(tool);
    assert_eq!(fixture.publisher.check().await, Ok(()));
    one(&fixture, 0).await.expect("published");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_moved_away_is_not_written_to() {
    let fixture = EmbeddedFixture::new(Setup::default()).await;
    one(&fixture, 0).await.expect("published");
    let (queue, away) = (fixture.folder.queue(), fixture.folder.path().join("away"));
    std::fs::rename(&queue, &away).expect("moved");
    let reason = refused(one(&fixture, 1).await);
    assert!(reason.contains("queue.db"), "{reason}");
    std::fs::write(&queue, b"not a database").expect("written");
    let reason = refused(one(&fixture, 1).await);
    assert!(reason.contains("another file"), "{reason}");
    std::fs::rename(&away, &queue).expect("moved back");
    one(&fixture, 2).await.expect("published");
    assert_eq!(fixture.inspector.depths().await.expect("counted").main, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_may_wait_is_refused_at_once() {
    let fixture = EmbeddedFixture::with(Setup::default(), |settings| {
        settings.publish_waiting_max = 10;
    })
    .await;
    let tool = lock_file(&fixture);
    // The writer has this one in hand, and waits for the file.
    let first = tokio::spawn({
        let publisher = fixture.publisher();
        async move { publisher.publish(vec![envelope("evt_first", payload(0))]).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let eight = (0..8).map(|n| envelope(&format!("evt_{n}"), payload(n))).collect();
    let started = Instant::now();
    let waiting = fixture.publisher.publish(eight);
    let refusing = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let five = (8..13).map(|n| envelope(&format!("evt_{n}"), payload(n))).collect();
        fixture.publisher.publish(five).await
    };
    let overloaded = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let answer = one(&fixture, 13).await;
        assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
        drop(tool);
        answer
    };
    let (eight, five, none) = futures::join!(waiting, refusing, overloaded);
    assert!(matches!(none, Err(PublishError::Overloaded { limit: 10 })), "{none:?}");
    assert!(eight.iter().all(Result::is_ok), "{eight:?}");
    assert!(five[..2].iter().all(Result::is_ok), "{five:?}");
    assert!(five[2..].iter().all(|answer| matches!(answer, Err(PublishError::Overloaded { .. }))));
    assert!(first.await.expect("ended").remove(0).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_within_its_deadline() {
    let fixture = EmbeddedFixture::with(Setup::default(), |settings| {
        settings.publish_timeout = Duration::from_millis(100);
    })
    .await;
    let _tool = lock_file(&fixture);
    let answer = one(&fixture, 0).await;
    assert!(matches!(answer, Err(PublishError::TimedOut(_))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn once_it_is_closed_nothing_is_accepted() {
    let fixture = EmbeddedFixture::new(Setup::default()).await;
    publish(&fixture, 0..3).await;
    fixture.broker.close().await;
    assert!(refused(one(&fixture, 3).await).contains("stopping"));
    let fixture = fixture.restart().await;
    assert_eq!(fixture.inspector.depths().await.expect("counted").main, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_owns_the_folder() {
    let folder = TestDataFolder::create();
    let broker = open_queue(&folder.settings()).await;
    let Err(error) = lock_data_folder(folder.path()) else { panic!("it is locked") };
    assert!(matches!(error, DataFolderInUse::Locked { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(&folder.path().display().to_string()), "{text}");
    assert!(text.contains(&format!("process {}", std::process::id())), "{text}");
    assert!(text.contains("stop that process"), "{text}");
    broker.close().await;
    let lock = lock_data_folder(folder.path()).expect("it was let go");
    assert!(folder.path().join(LOCK_FILE).exists());
    drop(lock);
}

const FOLDER: &str = "PAYONCE_TEST_QUEUE";

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_loses_nothing_that_was_answered() {
    let folder = TestDataFolder::create();
    let fill = "event_publisher::embedded::publishes_until_it_is_killed";
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args([fill, "--exact", "--ignored", "--nocapture", "--quiet"])
        .env(FOLDER, folder.queue())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    tokio::time::sleep(Duration::from_millis(700)).await;
    child.kill().expect("killed");
    let output = child.wait_with_output().expect("ended");
    let text = String::from_utf8(output.stdout).expect("text");
    // The last line may be cut.
    let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let answered: Vec<&str> = complete.lines().filter(|line| line.starts_with("evt_")).collect();
    assert!(answered.len() > 50, "{text}");
    let broker = open_queue(&folder.settings()).await;
    let depths = broker.inspector().depths().await.expect("counted");
    assert!(depths.main >= answered.len() as u64, "{depths:?}, {} answered", answered.len());
    let tool = rusqlite::Connection::open(folder.queue()).expect("opened");
    for event in answered {
        let found =
            tool.query_row("SELECT count(*) FROM events WHERE event_id = ?", [event], |row| row.get(0));
        assert_eq!(found, Ok(1), "{event}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the child of another test"]
async fn publishes_until_it_is_killed() {
    use std::io::Write;
    let path = std::env::var_os(FOLDER).expect("run by the other test");
    let broker = open_queue(&adapters::outbound::embedded::EmbeddedSettings::at(path)).await;
    let publisher = broker.publisher();
    let callers = (0..16).map(|caller| {
        let publisher = publisher.clone();
        tokio::spawn(async move {
            for n in 0.. {
                let event = format!("evt_{caller}_{n}");
                let answer = publisher.publish(vec![envelope(&event, payload(n))]).await.remove(0);
                answer.expect("published");
                writeln!(std::io::stdout(), "{event}").expect("told");
            }
        })
    });
    futures::future::join_all(callers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_the_answers_is_the_order_of_the_queue() {
    let fixture = EmbeddedFixture::new(Setup::default()).await;
    for n in 0..20 {
        one(&fixture, n).await.expect("published");
    }
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 20).await;
    let expected: Vec<_> = (0..20).map(|n| format!("evt_{n}")).collect();
    assert_eq!(taken.iter().map(id).collect::<Vec<_>>(), expected);
    settle(&mut *subscription, taken, &Action::Acknowledge).await;
}
