//! The queue file, opened by the process that owns it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use application::error_chain::describe;
use application::ports::BoxError;
use application::ports::clock::Clock;
use diesel::SqliteConnection;
use tokio::sync::{oneshot, watch};

use super::claims::Claims;
use super::connection::{FileId, migrate, open_to_write};
use super::folder_lock::{DataFolderInUse, DataFolderLock, lock_data_folder};
use super::in_hand::InHandRecord;
use super::inbox::{Closed, Inbox, Written};
use super::inspector::EmbeddedInspector;
use super::letter_claims::LetterClaims;
use super::publisher::EmbeddedPublisher;
use super::recovery::count_unclean_stop;
use super::settling::Step;
use super::writer::{Writer, last_id};
use crate::outbound::sqlite::connect::Access;

/// Where the queue is, and how much may wait for the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedSettings {
    /// The queue's file. Its folder is the data folder, which is locked.
    pub path: PathBuf,
    /// How many envelopes may wait for the disk; more are refused at once.
    pub publish_waiting_max: usize,
    /// About how many envelopes are committed together at most; the envelopes of one call stay together.
    pub publish_group_max: usize,
    /// The longest that a caller waits for its answer.
    pub publish_timeout: Duration,
    /// How large the file may grow; beyond it, publishing fails as on a full disk until there is room again.
    pub bytes_max: Option<u64>,
    /// The name of this process, which its dead letters bear; `None` where it has none.
    pub worker: Option<String>,
}

impl EmbeddedSettings {
    /// The queue at `path`, with the default limits.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            publish_waiting_max: 4096,
            publish_group_max: 512,
            publish_timeout: Duration::from_secs(5),
            bytes_max: None,
            worker: None,
        }
    }
}

/// The queue cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its folder cannot be had.
    #[error(transparent)]
    Folder(#[from] DataFolderInUse),
    /// Its file is of no use.
    #[error("the queue file {} cannot be opened", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: BoxError,
    },
}

/// The queue of this process. One thread writes to it, until it is closed or dropped.
pub struct EmbeddedBroker {
    pub(super) settings: EmbeddedSettings,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) condition: watch::Receiver<Written>,
    claims: Arc<Claims>,
    letters: Arc<LetterClaims>,
    commits: Arc<AtomicU64>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl EmbeddedBroker {
    /// Opens the queue, and creates it where it is missing; takes the lock on its folder. Blocks for a few
    /// accesses to the disk.
    pub fn open(settings: EmbeddedSettings, clock: Arc<dyn Clock>) -> Result<Arc<Self>, OpenError> {
        let folder = match settings.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let lock = Arc::new(lock_data_folder(folder)?);
        Self::open_locked(settings, lock, clock)
    }

    /// As [`Self::open`], under a lock on its folder that is held already. The lock is let go when the last who
    /// has it is gone; this broker has it until its last write is done.
    pub fn open_locked(
        settings: EmbeddedSettings,
        lock: Arc<DataFolderLock>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, OpenError> {
        let failed = |source| OpenError::File { path: settings.path.clone(), source };
        let (open, record) = prepare(&settings, clock.as_ref()).map_err(failed)?;
        let (changed, _) = watch::channel(());
        let (given_up, _) = watch::channel(());
        let (condition, seen) = watch::channel(Ok(()));
        let inbox = Arc::new(Inbox::new(settings.publish_waiting_max));
        let commits = Arc::new(AtomicU64::new(0));
        let writer = Writer {
            path: settings.path.clone(),
            file: open.file,
            bytes_max: settings.bytes_max,
            group_max: settings.publish_group_max,
            inbox: Arc::clone(&inbox),
            changed: changed.clone(),
            given_up: given_up.clone(),
            condition,
            commits: Arc::clone(&commits),
            open: Some(open.connection),
            next_id: open.next_id,
        };
        let running = std::thread::Builder::new().name("payonce-queue".to_owned());
        let running = running
            .spawn(move || {
                writer.run();
                drop(lock);
            })
            .map_err(|error| failed(error.into()))?;
        let claims = Claims::new(settings.path.clone(), Arc::clone(&clock), record, changed);
        Ok(Arc::new(Self {
            claims: Arc::new(claims),
            letters: Arc::new(LetterClaims::new(settings.path.clone(), given_up)),
            settings,
            clock,
            inbox,
            condition: seen,
            commits,
            writer: Mutex::new(Some(running)),
        }))
    }

    /// Publishes to the main queue.
    pub fn publisher(self: &Arc<Self>) -> Arc<EmbeddedPublisher> {
        Arc::new(EmbeddedPublisher::new(Arc::clone(self)))
    }

    /// Counts what waits.
    pub fn inspector(&self) -> Arc<EmbeddedInspector> {
        Arc::new(EmbeddedInspector::new(self.settings.path.clone(), Arc::clone(&self.clock)))
    }

    /// How many transactions have been committed since it was opened.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Takes nothing more, brings what waits to its end, ends the subscriptions, and lets the folder go.
    pub async fn close(&self) {
        self.inbox.close();
        let running = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (claims, letters) = (Arc::clone(&self.claims), Arc::clone(&self.letters));
        let closing = tokio::task::spawn_blocking(move || {
            // Before the writer ends, and with it the lock: the next process must find nothing in hand.
            claims.close();
            letters.close();
            running.is_none_or(|running| running.join().is_ok())
        });
        if !matches!(closing.await, Ok(true)) {
            tracing::error!("the queue's writer did not end cleanly");
        }
    }

    pub(crate) fn claims(&self) -> &Arc<Claims> {
        &self.claims
    }

    pub(crate) fn letters(&self) -> &Arc<LetterClaims> {
        &self.letters
    }

    pub(crate) fn worker(&self) -> Option<String> {
        self.settings.worker.clone()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// Has the rows settled, all or none. The answer comes after the commit.
    pub(crate) fn settle(&self, steps: Vec<Step>) -> Option<oneshot::Receiver<Written>> {
        self.inbox.settle(steps, Vec::new()).map_err(|Closed| ()).ok()
    }

    /// Has dead letters taken off, all or none. The answer comes after the commit.
    pub(crate) fn take_off(&self, letters: Vec<i64>) -> Option<oneshot::Receiver<Written>> {
        self.inbox.settle(Vec::new(), letters).map_err(|Closed| ()).ok()
    }
}

impl Drop for EmbeddedBroker {
    fn drop(&mut self) {
        self.inbox.close();
    }
}

struct Opened {
    file: FileId,
    connection: SqliteConnection,
    next_id: i64,
}

fn prepare(settings: &EmbeddedSettings, clock: &dyn Clock) -> Result<(Opened, InHandRecord), BoxError> {
    let mut connection = open_to_write(&settings.path, Access::Create, settings.bytes_max)?;
    migrate(&mut connection)?;
    let mut record = InHandRecord::open(&settings.path)?;
    let in_hand = record.read()?;
    if !in_hand.is_empty() {
        // A disk that is full must not stop the start: consuming makes room.
        match count_unclean_stop(&mut connection, &in_hand, clock.now()) {
            Ok(0) => tracing::warn!(
                count = in_hand.len(),
                "the last process ended with events in hand; they come again"
            ),
            Ok(given_up) => tracing::error!(
                count = given_up,
                "events that were in hand at too many unclean stops are dead letters now"
            ),
            Err(error) => tracing::warn!(
                error = describe(&*error),
                "the events that the last process had in hand are not counted"
            ),
        }
        record.write(std::iter::empty());
    }
    let next_id = last_id(&mut connection)? + 1;
    Ok((Opened { file: FileId::of(&settings.path)?, connection, next_id }, record))
}
