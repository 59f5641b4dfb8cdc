//! Looks into the queue's file, from this process or another.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use application::ports::BoxError;
use application::ports::clock::Clock;
use application::ports::event_queue::{QueueDepths, QueueError, QueueInspector};
use application::retry_policy::AttemptFailure;
use async_trait::async_trait;
use bytes::Bytes;
use diesel::dsl::count_star;
use diesel::sqlite::Sqlite;
use diesel::{
    BoolExpressionMethods, Connection, ExpressionMethods, QueryDsl, Queryable, RunQueryDsl, Selectable,
    SelectableHelper, SqliteConnection,
};
use domain::Timestamp;

use super::connection::open_to_read;
use super::rows::read_history;
use super::schema::{dead_letters, events};
use crate::clock::SystemClock;

/// Reads on a connection of its own, which is opened when first asked and again after any error. Needs no lock,
/// and changes nothing.
pub struct EmbeddedInspector {
    file: Arc<File>,
}

/// An event that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDeadLetter {
    /// Its number among the dead letters.
    pub id: i64,
    /// Where it came in.
    pub source: String,
    /// Its id there.
    pub event_id: String,
    /// When the request arrived.
    pub received_at: Timestamp,
    /// The request body, byte for byte.
    pub payload: Bytes,
    /// How many attempts failed.
    pub failed_attempts: u32,
    /// The failures, oldest first.
    pub history: Vec<AttemptFailure>,
    /// The reason's label.
    pub reason: String,
    /// The reason in full.
    pub detail: String,
    /// When it was given up.
    pub dead_lettered_at: Timestamp,
    /// The release that gave up on it.
    pub release: String,
}

struct File {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    open: Mutex<Option<SqliteConnection>>,
}

impl EmbeddedInspector {
    pub(super) fn new(path: PathBuf, clock: Arc<dyn Clock>) -> Self {
        let open = Mutex::new(None);
        Self { file: Arc::new(File { path, clock, open }) }
    }

    /// For other processes than the one that owns the file. Fails where there is no queue.
    pub fn open_read_only(path: &Path) -> Result<Arc<Self>, QueueError> {
        let inspector = Self::new(path.to_owned(), Arc::new(SystemClock));
        inspector.file.read(depths)?;
        Ok(Arc::new(inspector))
    }

    /// The dead letters after the one with the number `after`, oldest first, at most `limit`.
    pub async fn dead_letters(&self, after: i64, limit: u32) -> Result<Vec<KeptDeadLetter>, QueueError> {
        self.read(move |connection, _| letters(connection, after, limit)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut SqliteConnection, Timestamp) -> Result<T, BoxError> + Send + 'static,
    ) -> Result<T, QueueError> {
        let file = Arc::clone(&self.file);
        let reading = tokio::task::spawn_blocking(move || file.read(read));
        match reading.await {
            Ok(read) => read,
            Err(error) => Err(self.file.failed(error.into())),
        }
    }
}

impl File {
    fn read<T>(
        &self,
        read: impl FnOnce(&mut SqliteConnection, Timestamp) -> Result<T, BoxError>,
    ) -> Result<T, QueueError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match open.take() {
            Some(connection) => Ok(connection),
            None => open_to_read(&self.path),
        };
        let mut connection = connection.map_err(|error| self.failed(error))?;
        // One transaction, so that all of it is of one moment.
        let now = self.clock.now();
        let read = connection.transaction(|connection| read(connection, now));
        let read = read.map_err(|error| self.failed(error))?;
        *open = Some(connection);
        Ok(read)
    }

    fn failed(&self, source: BoxError) -> QueueError {
        QueueError { doing: format!("reading the queue file {}", self.path.display()), source }
    }
}

fn depths(connection: &mut SqliteConnection, now: Timestamp) -> Result<QueueDepths, BoxError> {
    let now = now.as_micros();
    let main = events::table.filter(events::due_at.is_null().or(events::due_at.le(now)));
    let main: i64 = main.select(count_star()).first(connection)?;
    let retry = events::table.filter(events::due_at.gt(now));
    let retry: i64 = retry.select(count_star()).first(connection)?;
    let dead: i64 = dead_letters::table.select(count_star()).first(connection)?;
    Ok(QueueDepths {
        main: main.cast_unsigned(),
        retry: retry.cast_unsigned(),
        dead_letters: dead.cast_unsigned(),
    })
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = dead_letters, check_for_backend(Sqlite))]
struct LetterRow {
    id: i64,
    source: String,
    event_id: String,
    received_at: i64,
    payload: Vec<u8>,
    failed_attempts: i64,
    history: String,
    reason: String,
    detail: String,
    dead_lettered_at: i64,
    release: String,
}

fn letters(
    connection: &mut SqliteConnection,
    after: i64,
    limit: u32,
) -> Result<Vec<KeptDeadLetter>, BoxError> {
    let rows: Vec<LetterRow> = dead_letters::table
        .filter(dead_letters::id.gt(after))
        .order(dead_letters::id.asc())
        .limit(limit.into())
        .select(LetterRow::as_select())
        .load(connection)?;
    Ok(rows.into_iter().map(LetterRow::into_letter).collect())
}

impl LetterRow {
    fn into_letter(self) -> KeptDeadLetter {
        KeptDeadLetter {
            id: self.id,
            source: self.source,
            event_id: self.event_id,
            received_at: Timestamp::from_micros(self.received_at),
            payload: Bytes::from(self.payload),
            failed_attempts: u32::try_from(self.failed_attempts.max(0)).unwrap_or(u32::MAX),
            history: read_history(&self.history),
            reason: self.reason,
            detail: self.detail,
            dead_lettered_at: Timestamp::from_micros(self.dead_lettered_at),
            release: self.release,
        }
    }
}

#[async_trait]
impl QueueInspector for EmbeddedInspector {
    async fn depths(&self) -> Result<QueueDepths, QueueError> {
        self.read(depths).await
    }
}
