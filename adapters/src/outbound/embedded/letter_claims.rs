//! Who has which dead letters in hand.
//!
//! In memory, as with events: after a crash all that are not taken off are handed out again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use application::ports::BoxError;
use application::ports::dead_letter_queue::DeadLetterMessage;
use diesel::connection::DefaultLoadingMode;
use diesel::sqlite::Sqlite;
use diesel::{
    ExpressionMethods, QueryDsl, Queryable, RunQueryDsl, Selectable, SelectableHelper, SqliteConnection,
};
use domain::Timestamp;
use tokio::sync::watch;

use super::claims::SubscriptionId;
use super::connection::open_to_read;
use super::rows::{Carried, read_history};
use super::schema::dead_letters;

/// How much more a subscription may have in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// How many letters.
    pub(crate) letters: usize,
    /// How many bytes of payloads. One letter is handed out even if it has more, where nothing else is in hand.
    pub(crate) bytes: usize,
    /// Nothing is in hand.
    pub(crate) empty_handed: bool,
}

/// What a subscription got.
#[derive(Default)]
pub(crate) struct ClaimedLetters {
    /// The letters, oldest first, each with the bytes of its payload.
    pub(crate) letters: Vec<(DeadLetterMessage, usize)>,
    /// There are more, but no room for them.
    pub(crate) more: bool,
}

/// The dead letters in hand, of all subscriptions.
pub(crate) struct LetterClaims {
    path: PathBuf,
    /// Held for a whole claim, so that there is one at a time.
    reader: Mutex<Option<SqliteConnection>>,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    in_hand: BTreeMap<i64, SubscriptionId>,
    subscriptions: BTreeSet<SubscriptionId>,
    next_subscription: SubscriptionId,
    closed: bool,
}

impl LetterClaims {
    pub(super) fn new(path: PathBuf, changed: watch::Sender<()>) -> Self {
        Self { path, reader: Mutex::new(None), state: Mutex::default(), changed }
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
        Some(id)
    }

    /// Told whenever there may be more to claim, or a subscription may have ended.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Hands out letters, oldest first, as far as there is `room`. Blocks for a few reads.
    pub(crate) fn claim(&self, subscription: SubscriptionId, room: Room) -> Result<ClaimedLetters, BoxError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let held: Vec<i64> = {
            let state = self.state();
            state.must_have(subscription)?;
            // Taken before the rows are read: one that is let go in between is passed over, not given twice.
            state.in_hand.keys().copied().collect()
        };
        let mut connection = match reader.take() {
            Some(connection) => connection,
            None => open_to_read(&self.path)?,
        };
        let claimed = read(&mut connection, held, room)?;
        // Only put back after success: an error leaves a fresh start.
        *reader = Some(connection);
        let mut state = self.state();
        // It may have ended meanwhile; then the letters were never in hand.
        state.must_have(subscription)?;
        let ids = claimed.letters.iter().map(|(letter, _)| (letter.token.cast_signed(), subscription));
        state.in_hand.extend(ids);
        Ok(claimed)
    }

    /// The letters are taken off, durably.
    pub(crate) fn taken_off(&self, subscription: SubscriptionId, ids: &[i64]) {
        let mut state = self.state();
        for id in ids {
            if state.in_hand.get(id) == Some(&subscription) {
                state.in_hand.remove(id);
            }
        }
    }

    /// The subscription has ended; what it has in hand is ready again.
    pub(crate) fn end(&self, subscription: SubscriptionId) {
        let mut state = self.state();
        if state.subscriptions.remove(&subscription) {
            state.in_hand.retain(|_, holder| *holder != subscription);
            self.changed.send_replace(());
        }
    }

    /// Ends all subscriptions.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.subscriptions.clear();
        state.in_hand.clear();
        self.changed.send_replace(());
        drop(state);
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = dead_letters, check_for_backend(Sqlite))]
struct LetterRow {
    id: i64,
    source: String,
    event_id: String,
    received_at: i64,
    content_type: Option<String>,
    headers: String,
    traceparent: Option<String>,
    tracestate: Option<String>,
    payload: Vec<u8>,
    failed_attempts: i64,
    history: String,
    reason: String,
    detail: String,
    dead_lettered_at: i64,
    release: String,
    worker: Option<String>,
}

/// The oldest letters that are not `held`: read row by row and no further than there is `room`.
fn read(connection: &mut SqliteConnection, held: Vec<i64>, room: Room) -> Result<ClaimedLetters, BoxError> {
    let mut claimed = ClaimedLetters::default();
    let mut bytes = 0;
    let rows = dead_letters::table
        .filter(dead_letters::id.ne_all(held))
        .order(dead_letters::id.asc())
        .select(LetterRow::as_select());
    for row in rows.load_iter::<LetterRow, DefaultLoadingMode>(connection)? {
        let row = row?;
        let size = row.payload.len();
        let alone = room.empty_handed && claimed.letters.is_empty();
        if claimed.letters.len() >= room.letters || (bytes + size > room.bytes && !alone) {
            claimed.more = true;
            break;
        }
        bytes += size;
        claimed.letters.push((row.into_message(), size));
    }
    Ok(claimed)
}

impl LetterRow {
    /// Whatever cannot be an envelope is unreadable, with the reason and the bytes.
    fn into_message(self) -> DeadLetterMessage {
        let carried = Carried {
            source: self.source,
            event_id: self.event_id,
            received_at: self.received_at,
            queued_at: None,
            content_type: self.content_type,
            headers: self.headers,
            traceparent: self.traceparent,
            tracestate: self.tracestate,
            payload: self.payload,
        };
        DeadLetterMessage {
            token: self.id.cast_unsigned(),
            content: carried.into_envelope(),
            reason: Some(self.reason),
            detail: Some(self.detail),
            broker_reason: None,
            failed_attempts: u32::try_from(self.failed_attempts.max(0)).unwrap_or(u32::MAX),
            history: read_history(&self.history),
            dead_lettered_at: Some(Timestamp::from_micros(self.dead_lettered_at)),
            worker: self.worker,
            release: Some(self.release),
        }
    }
}
