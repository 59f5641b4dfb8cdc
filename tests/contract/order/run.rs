//! Delivers events to workers, in batches of any size, until each has its end.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use application::ports::provider::{MockProvider, Untranslatable};
use application::ports::seen_events::{MockSeenEvents, Seen};
use application::testing::{envelope, sources_of};
use application::use_cases::ProcessEvents;
use application::{Disposition, RetryClass};
use domain::{EventId, PaymentEvent};

use super::OrderedStore;
use super::chance::Chance;
use super::history::History;

/// The largest batch.
const BATCH_MAX: usize = 12;
/// How often an event may come back before the test gives up: far more than any history needs.
const RETURNS_MAX: usize = 200_000;

type Queue = Arc<Mutex<VecDeque<EventId>>>;

/// Runs `workers` at once over `deliveries`, which are handed out in that order. What is not ready, or has
/// failed for now, goes to the end of the queue.
pub async fn deliver<S: OrderedStore>(
    store: &S,
    history: &History,
    deliveries: Vec<EventId>,
    workers: usize,
    chance: &mut Chance,
) {
    let queue: Queue = Arc::new(Mutex::new(deliveries.into()));
    let events = Arc::new(history.by_id());
    let running: Vec<_> = (0..workers)
        .map(|_| {
            let process = worker(store, events.clone());
            let seed = u64::try_from(chance.below(1_000_000)).expect("a small number");
            tokio::spawn(work(process, queue.clone(), Chance::of(seed)))
        })
        .collect();
    for worker in running {
        worker.await.expect("the worker ends well");
    }
}

fn worker<S: OrderedStore>(store: &S, events: Arc<HashMap<EventId, PaymentEvent>>) -> ProcessEvents {
    let mut provider = MockProvider::new();
    provider.expect_translate().returning(move |envelope| {
        let event = events.get(&envelope.key.event_id).cloned();
        event.ok_or_else(|| Untranslatable("not of this history".to_owned()))
    });
    // A cache that has forgotten everything, so that the database alone decides.
    let mut seen = MockSeenEvents::new();
    seen.expect_look().returning(|keys| vec![Seen::Unknown; keys.len()]);
    seen.expect_mark_committed().return_const(());
    ProcessEvents::new(sources_of(provider), store.unit_of_work(), Arc::new(seen))
}

async fn work(process: ProcessEvents, queue: Queue, mut chance: Chance) {
    for _ in 0..RETURNS_MAX {
        let batch: Vec<EventId> = {
            let mut queue = queue.lock().expect("nobody panics with it");
            let size = (1 + chance.below(BATCH_MAX)).min(queue.len());
            queue.drain(..size).collect()
        };
        if batch.is_empty() {
            return;
        }
        let envelopes: Vec<_> = batch.iter().map(|id| envelope(id.as_str(), "{}")).collect();
        let dispositions = process.run(&envelopes).await;
        for (id, disposition) in batch.into_iter().zip(dispositions) {
            match disposition {
                Disposition::Applied | Disposition::Duplicate(_) | Disposition::Recorded(_) => {}
                Disposition::Retry(RetryClass::NotReady | RetryClass::Transient, _) => {
                    queue.lock().expect("nobody panics with it").push_back(id);
                    // The event that it waits for may be in another worker's hands.
                    tokio::task::yield_now().await;
                }
                other => panic!("{id}: {other:?}"),
            }
        }
    }
    panic!("events come back for ever");
}
