//! Who has which rows in hand.
//!
//! The main queue is walked by a cursor: rows beyond it have never been in hand, since ids rise in the order of
//! the commits. Rows that are given back set the cursor back; the walk passes over what others have in hand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use application::ports::BoxError;
use application::ports::clock::Clock;
use application::ports::event_queue::Delivery;
use diesel::SqliteConnection;
use domain::Timestamp;
use tokio::sync::watch;

use super::connection::open_to_read;
use super::in_hand::InHandRecord;
use super::rows::EventRow;
use ready::{Ready, ready};

mod ready;

/// Tells a subscription from all others of its broker.
pub(crate) type SubscriptionId = u64;

/// What a subscription got.
#[derive(Default)]
pub(crate) struct Claimed {
    /// The deliveries, oldest first.
    pub(crate) deliveries: Vec<Delivery>,
    /// There may be more, but these are enough to hold in memory for one batch.
    pub(crate) heavy: bool,
    /// When the next retry is due, where none is now.
    pub(crate) due_in: Option<Duration>,
}

/// The rows in hand, of all subscriptions.
pub(crate) struct Claims {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    /// Held for a whole claim, so that there is one at a time.
    reader: Mutex<Option<SqliteConnection>>,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

struct State {
    /// Every row of the main queue up to this id has been handed out, and none was given back since.
    cursor: i64,
    /// How often rows were given back.
    given_back: u64,
    in_hand: BTreeMap<i64, SubscriptionId>,
    /// The one row in hand that must be alone.
    alone: Option<i64>,
    /// A row waits until nothing is in hand.
    alone_waits: bool,
    subscriptions: BTreeSet<SubscriptionId>,
    next_subscription: SubscriptionId,
    last_failure: Option<String>,
    closed: bool,
    record: InHandRecord,
}

impl Claims {
    pub(super) fn new(
        path: PathBuf,
        clock: Arc<dyn Clock>,
        record: InHandRecord,
        changed: watch::Sender<()>,
    ) -> Self {
        Self {
            path,
            clock,
            reader: Mutex::new(None),
            state: Mutex::new(State {
                cursor: i64::MIN,
                given_back: 0,
                in_hand: BTreeMap::new(),
                alone: None,
                alone_waits: false,
                subscriptions: BTreeSet::new(),
                next_subscription: 0,
                last_failure: None,
                closed: false,
                record,
            }),
            changed,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new subscription. `None` when the broker is closing.
    pub(crate) fn register(&self) -> Option<SubscriptionId> {
        let mut state = self.state();
        if state.closed {
            return None;
        }
        let id = state.next_subscription;
        state.next_subscription += 1;
        state.subscriptions.insert(id);
        state.last_failure = None;
        Some(id)
    }

    /// Told whenever there may be more to claim, or a subscription may have ended.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Hands out at most `max` deliveries, retries that are due first. Blocks for a few reads.
    pub(crate) fn claim(&self, subscription: SubscriptionId, max: usize) -> Result<Claimed, BoxError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let (held, cursor, given_back) = {
            let state = self.state();
            state.must_have(subscription)?;
            if state.alone.is_some() {
                return Ok(Claimed::default());
            }
            // Taken before the rows are read: a row that is let go in between is passed over, not given twice.
            let held: BTreeSet<i64> = state.in_hand.keys().copied().collect();
            (held, state.cursor, state.given_back)
        };
        let mut connection = match reader.take() {
            Some(connection) => connection,
            None => open_to_read(&self.path)?,
        };
        let now = self.clock.now();
        let found = ready(&mut connection, &held, cursor, now, max)?;
        // Only put back after success: an error leaves a fresh start.
        *reader = Some(connection);
        self.hand_out(subscription, found, now, given_back)
    }

    fn hand_out(
        &self,
        subscription: SubscriptionId,
        found: Ready,
        now: Timestamp,
        given_back: u64,
    ) -> Result<Claimed, BoxError> {
        let mut state = self.state();
        // It may have ended meanwhile; then the rows were never in hand.
        state.must_have(subscription)?;
        if state.given_back == given_back
            && let Some(last) = found.last_of_main
        {
            state.cursor = last;
        }
        if found.alone {
            state.alone = found.rows.first().map(|row| row.id);
        }
        if found.alone_waits {
            state.alone_waits = true;
            if state.in_hand.is_empty() {
                // What it waited for happened while the rows were read.
                self.changed.send_replace(());
            }
        }
        if !found.rows.is_empty() {
            let ids = found.rows.iter().map(|row| (row.id, subscription));
            state.in_hand.extend(ids);
            state.note_in_hand();
        }
        drop(state);
        let due_in = found.next_due.map(|due| Timestamp::from_micros(due).since(now));
        Ok(Claimed {
            deliveries: found.rows.into_iter().map(EventRow::into_delivery).collect(),
            heavy: found.heavy,
            due_in,
        })
    }

    /// The rows are settled, durably.
    pub(crate) fn settled(&self, subscription: SubscriptionId, ids: &[i64]) {
        let mut state = self.state();
        for id in ids {
            if state.in_hand.get(id) == Some(&subscription) {
                state.in_hand.remove(id);
            }
        }
        if state.let_go() {
            self.changed.send_replace(());
        }
    }

    /// The subscription has ended, for `failure` if it did not choose to; what it has in hand is ready again.
    pub(crate) fn end(&self, subscription: SubscriptionId, failure: Option<String>) {
        let mut state = self.state();
        if failure.is_some() {
            state.last_failure = failure;
        }
        if !state.subscriptions.remove(&subscription) {
            return;
        }
        let first = state.in_hand.iter().find(|(_, holder)| **holder == subscription);
        if let Some((&first, _)) = first {
            state.cursor = state.cursor.min(first.saturating_sub(1));
            state.given_back += 1;
            state.in_hand.retain(|_, holder| *holder != subscription);
        }
        state.let_go();
        self.changed.send_replace(());
    }

    /// Ends all subscriptions; what is in hand is in hand no more, so that nothing of it is counted.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.subscriptions.clear();
        state.in_hand.clear();
        state.let_go();
        self.changed.send_replace(());
        drop(state);
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether anybody is subscribed.
    pub(crate) fn check(&self) -> Result<(), String> {
        let state = self.state();
        if !state.subscriptions.is_empty() {
            return Ok(());
        }
        let failure = state.last_failure.as_ref();
        Err(failure.map_or_else(
            || "nothing is subscribed".to_owned(),
            |reason| format!("nothing is subscribed: {reason}"),
        ))
    }
}

impl State {
    fn must_have(&self, subscription: SubscriptionId) -> Result<(), BoxError> {
        if self.subscriptions.contains(&subscription) {
            Ok(())
        } else {
            Err("the subscription has ended, as when this process is stopping".into())
        }
    }

    fn note_in_hand(&mut self) {
        self.record.write(self.in_hand.keys().copied());
    }

    /// After rows were let go: whether others may have what they could not have before.
    fn let_go(&mut self) -> bool {
        self.note_in_hand();
        let alone_is_over = self.alone.take_if(|id| !self.in_hand.contains_key(id)).is_some();
        let alone_may_come = self.in_hand.is_empty() && std::mem::take(&mut self.alone_waits);
        alone_is_over || alone_may_come
    }
}
