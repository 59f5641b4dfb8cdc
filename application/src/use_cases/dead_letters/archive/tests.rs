use std::sync::Mutex;

use super::*;
use crate::ports::dead_letter_observer::MockDeadLetterObserver;
use crate::ports::dead_letter_queue::{MockDeadLetterQueue, MockDeadLetterSubscription};
use crate::ports::dead_letters::MockDeadLetters;
use crate::testing::{FixedClock, envelope};

type Log = Arc<Mutex<Vec<String>>>;

fn message(token: u64) -> DeadLetterMessage {
    DeadLetterMessage {
        token,
        content: Ok(envelope(&format!("evt_{token}"), "{}")),
        reason: Some("refused".to_owned()),
        detail: None,
        broker_reason: None,
        failed_attempts: 0,
        history: Vec::new(),
        dead_lettered_at: Some(domain::Timestamp::from_micros(1)),
        worker: None,
        release: None,
    }
}

fn ids(letters: &[NewDeadLetter]) -> Vec<&str> {
    letters.iter().filter_map(|letter| letter.key.as_ref()).map(|key| key.event_id.as_str()).collect()
}

/// A queue whose subscriptions each give one of `batches`; after the last one it cancels `stop`.
fn queue_of(
    batches: Vec<Vec<DeadLetterMessage>>,
    stop: &CancellationToken,
    log: &Log,
) -> MockDeadLetterQueue {
    let batches = Arc::new(Mutex::new(batches));
    let (stop, log) = (stop.clone(), log.clone());
    let mut queue = MockDeadLetterQueue::new();
    queue.expect_subscribe().returning(move || {
        let mut subscription = MockDeadLetterSubscription::new();
        let mut batch = {
            let mut batches = batches.lock().unwrap();
            if batches.is_empty() { None } else { Some(batches.remove(0)) }
        };
        let (left, stop) = (batches.clone(), stop.clone());
        subscription.expect_next_batch().returning(move || {
            if let Some(batch) = batch.take() {
                return Ok(batch);
            }
            if left.lock().unwrap().is_empty() {
                stop.cancel();
            }
            Err(QueueError { doing: "nothing more".to_owned(), source: "end of test".into() })
        });
        let acks = log.clone();
        subscription.expect_acknowledge().returning(move |tokens| {
            acks.lock().unwrap().push(format!("ack {tokens:?}"));
            Ok(())
        });
        subscription.expect_close().returning(|| Ok(()));
        Ok(Box::new(subscription) as Box<dyn DeadLetterSubscription>)
    });
    queue
}

fn archive(queue: MockDeadLetterQueue, letters: MockDeadLetters) -> ArchiveDeadLetters {
    let settings = ArchiveSettings {
        consumer: ConsumerName::parse("payments").unwrap(),
        backoff_max: Duration::from_secs(1),
        hold_max: Duration::ZERO,
    };
    let clock = Arc::new(FixedClock::at_micros(5));
    let mut observer = MockDeadLetterObserver::new();
    observer.expect_archived().return_const(());
    let (queue, letters) = (Arc::new(queue), Arc::new(letters));
    ArchiveDeadLetters::new(queue, letters, Sources::default(), clock, Arc::new(observer), settings)
}

async fn archived(
    batches: Vec<Vec<DeadLetterMessage>>,
    letters: impl FnOnce(&Log) -> MockDeadLetters,
) -> Vec<String> {
    let (log, stop) = (Log::default(), CancellationToken::new());
    let letters = letters(&log);
    archive(queue_of(batches, &stop, &log), letters).run(&stop).await;
    let log = log.lock().unwrap();
    log.clone()
}

#[tokio::test]
async fn nothing_is_acknowledged_before_it_is_stored() {
    let done = archived(vec![vec![message(1), message(2)]], |log| {
        let log = log.clone();
        let mut letters = MockDeadLetters::new();
        letters.expect_store().returning(move |letters| {
            log.lock().unwrap().push(format!("store {:?}", ids(&letters)));
            Ok(2)
        });
        letters
    });
    assert_eq!(done.await, [r#"store ["evt_1", "evt_2"]"#, "ack [1, 2]"]);
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_messages_go_back_to_the_queue() {
    let done = archived(vec![vec![message(1)], vec![message(1)]], |_| {
        let mut letters = MockDeadLetters::new();
        letters.expect_store().times(1).return_once(|_| Err(StoreError::Unavailable("away".into())));
        letters.expect_store().times(1).return_once(|_| Ok(1));
        letters
    });
    assert_eq!(done.await, ["ack [1]"]);
}

#[tokio::test(start_paused = true)]
async fn only_what_the_store_refuses_for_good_stays_behind() {
    let done = archived(vec![vec![message(1), message(2), message(3)]], |_| {
        let mut letters = MockDeadLetters::new();
        letters.expect_store().returning(|letters| {
            if ids(&letters).contains(&"evt_2") {
                return Err(StoreError::Permanent("no".into()));
            }
            Ok(1)
        });
        letters
    });
    assert_eq!(done.await, ["ack [1]", "ack [3]"]);
}

#[tokio::test]
async fn it_stops_without_waiting_for_a_message() {
    let stop = CancellationToken::new();
    stop.cancel();
    let queue = MockDeadLetterQueue::new();
    archive(queue, MockDeadLetters::new()).run(&stop).await;
}
