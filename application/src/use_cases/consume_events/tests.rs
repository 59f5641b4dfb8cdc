use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use domain::PaymentEvent;

use super::*;
use crate::ports::event_queue::{MockEventQueue, MockSubscription, SettleReport, UnreadableMessage};
use crate::ports::observer::MockObserver;
use crate::ports::provider::MockProvider;
use crate::ports::seen_events::{MockSeenEvents, Seen};
use crate::ports::unit_of_work::{Claim, MockTransaction, MockUnitOfWork, StoreError, Transaction};
use crate::testing::{FixedClock, envelope, refunded, sources_of, succeeded};

type Log = Arc<Mutex<Vec<&'static str>>>;

fn settings() -> ConsumeSettings {
    ConsumeSettings {
        retry: RetryPolicy {
            attempts_max: 3,
            delay: Duration::from_secs(5),
            delay_max: Duration::from_mins(5),
            age_max: Duration::from_hours(24),
            not_ready_delay_max: Duration::from_hours(1),
            not_ready_age_max: Duration::from_hours(72),
        },
        backoff_max: Duration::from_secs(1),
        hold_max: Duration::from_mins(1),
    }
}

fn observer() -> MockObserver {
    let mut observer = MockObserver::new();
    observer.expect_batch_started().return_const(());
    observer.expect_event_processed().return_const(());
    observer.expect_batch_processed().return_const(());
    observer.expect_event_retried().return_const(());
    observer.expect_event_dead_lettered().return_const(());
    observer.expect_acks_lost().return_const(());
    observer.expect_subscription_lost().return_const(());
    observer.expect_paused().return_const(());
    observer
}

fn delivery(token: u64, failed_attempts: u32) -> Delivery {
    Delivery {
        token,
        content: Ok(envelope(&format!("evt_{token}"), "{}")),
        failed_attempts,
        history: Vec::new(),
    }
}

fn process(store: MockUnitOfWork) -> ProcessEvents {
    process_as(store, |id| succeeded(id, &format!("pi_{id}"), 1))
}

fn process_as(store: MockUnitOfWork, event: fn(&str) -> PaymentEvent) -> ProcessEvents {
    let mut provider = MockProvider::new();
    provider.expect_translate().returning(move |envelope| Ok(event(envelope.key.event_id.as_str())));
    let mut seen = MockSeenEvents::new();
    seen.expect_look().returning(|keys| vec![Seen::Unknown; keys.len()]);
    seen.expect_mark_committed().return_const(());
    ProcessEvents::new(sources_of(provider), Arc::new(store), Arc::new(seen))
}

fn committing(log: &Log) -> MockTransaction {
    let mut transaction = MockTransaction::new();
    transaction.expect_claim().returning(|events| Ok(vec![Claim::Fresh; events.len()]));
    transaction.expect_lock_payments().returning(|_| Ok(Vec::new()));
    transaction.expect_save_payments().returning(|_| Ok(()));
    transaction.expect_establish_facts().returning(|_| Ok(()));
    transaction.expect_enqueue_messages().returning(|_| Ok(()));
    transaction.expect_post_entries().returning(|_| Ok(()));
    let log = log.clone();
    transaction.expect_commit().returning(move || {
        log.lock().unwrap().push("commit");
        Ok(())
    });
    transaction
}

fn healthy_store(log: &Log) -> MockUnitOfWork {
    let mut store = MockUnitOfWork::new();
    store.expect_probe().returning(|| Ok(()));
    let log = log.clone();
    store.expect_begin().returning(move || Ok(Box::new(committing(&log)) as Box<dyn Transaction>));
    store
}

/// A queue with one subscription, which gives `batch` once and then cancels `stop` and waits for ever; what
/// is settled is kept.
fn queue_of(
    batch: Vec<Delivery>,
    stop: CancellationToken,
    log: &Log,
) -> (MockEventQueue, Arc<Mutex<Vec<Settlement>>>) {
    let settled = Arc::new(Mutex::new(Vec::new()));
    let (kept, log) = (settled.clone(), log.clone());
    let batch = Mutex::new(Some(batch));
    let mut queue = MockEventQueue::new();
    queue.expect_subscribe().returning(move || {
        let mut subscription = MockSubscription::new();
        let batch = Mutex::new(batch.lock().unwrap().take());
        let stop = stop.clone();
        subscription.expect_next_batch().returning(move || {
            if let Some(batch) = batch.lock().unwrap().take() {
                return Ok(batch);
            }
            stop.cancel();
            Err(QueueError { doing: "nothing more".to_owned(), source: "end of test".into() })
        });
        let (kept, log) = (kept.clone(), log.clone());
        subscription.expect_settle().returning(move |settlements| {
            log.lock().unwrap().push("settle");
            kept.lock().unwrap().extend(settlements);
            Ok(SettleReport::default())
        });
        subscription.expect_close().returning(|| Ok(()));
        Ok(Box::new(subscription) as Box<dyn Subscription>)
    });
    (queue, settled)
}

async fn settled_actions(batch: Vec<Delivery>, store: MockUnitOfWork, log: &Log) -> Vec<Action> {
    settled_actions_of(batch, process(store), FixedClock::at_micros(1), log).await
}

async fn settled_actions_of(
    batch: Vec<Delivery>,
    process: ProcessEvents,
    clock: FixedClock,
    log: &Log,
) -> Vec<Action> {
    let stop = CancellationToken::new();
    let (queue, settled) = queue_of(batch, stop.clone(), log);
    let consumer =
        ConsumeEvents::new(Arc::new(queue), process, Arc::new(clock), Arc::new(observer()), settings());
    consumer.run(&stop).await;
    let settled = std::mem::take(&mut *settled.lock().unwrap());
    settled.into_iter().map(|settlement| settlement.action).collect()
}

#[tokio::test]
async fn nothing_is_acknowledged_before_the_commit() {
    let log = Log::default();
    let actions = settled_actions(vec![delivery(1, 0), delivery(2, 0)], healthy_store(&log), &log).await;
    assert_eq!(actions, [Action::Acknowledge, Action::Acknowledge]);
    assert_eq!(*log.lock().unwrap(), ["commit", "settle"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_event_is_retried_with_its_history_until_its_attempts_are_used_up() {
    let log = Log::default();
    let failing = || {
        let mut store = MockUnitOfWork::new();
        store.expect_probe().returning(|| Ok(()));
        store.expect_begin().returning(|| Err(StoreError::Transient("lock time-out".into())));
        store
    };
    let actions = settled_actions(vec![delivery(1, 1)], failing(), &log).await;
    let [Action::RetryAfter { delay, failed_attempts: 2, history }] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert!((Duration::from_secs(8)..=Duration::from_secs(10)).contains(delay), "{delay:?}");
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].error, "the store failed for now: lock time-out");

    let actions = settled_actions(vec![delivery(1, 2)], failing(), &log).await;
    assert!(
        matches!(
            &actions[..],
            [Action::DeadLetter { reason: DeadLetterReason::AttemptsExhausted(_), failed_attempts: 3, history }] if history.len() == 1
        ),
        "{actions:?}"
    );
}

/// A store that is healthy and knows no payment.
fn empty_store() -> MockUnitOfWork {
    let mut store = MockUnitOfWork::new();
    store.expect_probe().returning(|| Ok(()));
    store.expect_begin().returning(|| {
        let mut transaction = MockTransaction::new();
        transaction.expect_claim().returning(|events| Ok(vec![Claim::Fresh; events.len()]));
        transaction.expect_lock_payments().returning(|_| Ok(Vec::new()));
        Ok(Box::new(transaction) as Box<dyn Transaction>)
    });
    store
}

#[tokio::test]
async fn an_event_that_waits_for_another_uses_up_no_attempt_and_ends_when_its_time_is_over() {
    let arrived = envelope("evt_1", "").queued_at;
    for (waited, gives_up) in [(Duration::ZERO, false), (Duration::from_hours(72), true)] {
        let log = Log::default();
        let now = arrived.plus(waited);
        let process = process_as(empty_store(), |id| refunded(id, "pi_1", 1));
        let clock = FixedClock::at_micros(now.as_micros());
        let actions = settled_actions_of(vec![delivery(1, 2)], process, clock, &log).await;
        match &actions[..] {
            [Action::RetryAfter { failed_attempts: 2, .. }] => assert!(!gives_up),
            [Action::DeadLetter { reason: DeadLetterReason::NeverReady(_), .. }] => assert!(gives_up),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_message_that_is_no_envelope_is_dead_lettered_and_the_others_are_applied() {
    let log = Log::default();
    let unreadable = Delivery {
        token: 7,
        content: Err(UnreadableMessage {
            reason: "no source".to_owned(),
            payload: Bytes::from_static(&[0xff, 0]),
        }),
        failed_attempts: 0,
        history: Vec::new(),
    };
    let batch = vec![delivery(1, 0), unreadable, delivery(2, 0)];
    let actions = settled_actions(batch, healthy_store(&log), &log).await;
    assert!(
        matches!(
            &actions[..],
            [
                Action::Acknowledge,
                Action::DeadLetter { reason: DeadLetterReason::Unreadable(_), .. },
                Action::Acknowledge
            ]
        ),
        "{actions:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_events_are_held_and_then_applied_without_an_attempt_used() {
    let log = Log::default();
    let mut store = MockUnitOfWork::new();
    let (probes, begins) = (AtomicUsize::new(0), AtomicUsize::new(0));
    store.expect_probe().returning(move || match probes.fetch_add(1, Ordering::Relaxed) {
        1..=20 => Err(StoreError::Unavailable("connection refused".into())),
        _ => Ok(()),
    });
    let commit_log = log.clone();
    store.expect_begin().returning(move || match begins.fetch_add(1, Ordering::Relaxed) {
        0 => Err(StoreError::Unavailable("connection reset".into())),
        _ => Ok(Box::new(committing(&commit_log)) as Box<dyn Transaction>),
    });
    let actions = settled_actions(vec![delivery(1, 0)], store, &log).await;
    assert_eq!(actions, [Action::Acknowledge]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_the_store_is_away_gives_the_events_back_unsettled() {
    let stop = CancellationToken::new();
    let (queue, settled) = queue_of(vec![delivery(1, 0)], stop.clone(), &Log::default());
    let mut store = MockUnitOfWork::new();
    let probes = AtomicUsize::new(0);
    let cancel = stop.clone();
    store.expect_probe().returning(move || {
        if probes.fetch_add(1, Ordering::Relaxed) == 0 {
            return Ok(());
        }
        cancel.cancel();
        Err(StoreError::Unavailable("connection refused".into()))
    });
    store.expect_begin().returning(|| Err(StoreError::Unavailable("connection reset".into())));
    let consumer = ConsumeEvents::new(
        Arc::new(queue),
        process(store),
        Arc::new(FixedClock::at_micros(1)),
        Arc::new(observer()),
        settings(),
    );
    consumer.run(&stop).await;
    assert!(settled.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_ends_is_rebuilt() {
    let stop = CancellationToken::new();
    let mut queue = MockEventQueue::new();
    let subscribes = AtomicUsize::new(0);
    let cancel = stop.clone();
    queue.expect_subscribe().times(4).returning(move || {
        let lost = || QueueError { doing: "cannot subscribe".to_owned(), source: "connection closed".into() };
        match subscribes.fetch_add(1, Ordering::Relaxed) {
            0 => Err(lost()),
            n => {
                let mut subscription = MockSubscription::new();
                let cancel = cancel.clone();
                subscription.expect_next_batch().returning(move || {
                    if n == 3 {
                        cancel.cancel();
                    }
                    Err(lost())
                });
                subscription.expect_close().times(1).returning(|| Ok(()));
                Ok(Box::new(subscription) as Box<dyn Subscription>)
            }
        }
    });
    let consumer = ConsumeEvents::new(
        Arc::new(queue),
        process(healthy_store(&Log::default())),
        Arc::new(FixedClock::at_micros(1)),
        Arc::new(observer()),
        settings(),
    );
    consumer.run(&stop).await;
}
