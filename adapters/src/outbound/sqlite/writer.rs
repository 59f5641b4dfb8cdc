//! The one connection that writes, and the thread that it lives on.
//!
//! A thread of its own, rather than a connection that goes from one blocking call to the next: what is sent
//! to it is done in the order in which it was sent. So the rollback of a unit that is dropped, even in the
//! middle of a statement, is done before anything of the next unit, without any state that the two would have
//! to agree on. It is also faster, since a batch's statements pay no hand-over of the connection.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use application::ports::unit_of_work::StoreError;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::classify::classify;
use super::connect::{Access, OpenOptions};
use super::file::StoreFile;
use super::readers::Readers;
use super::settings::{SqliteSettings, SqliteSetupError};

type Work = Box<dyn FnOnce(&mut Seat) + Send>;

/// The way to the thread that writes. The thread ends, and closes its connection, with the last clone.
#[derive(Clone)]
pub(super) struct Writer {
    work: mpsc::Sender<Work>,
    turns: Arc<Semaphore>,
    acquire_timeout: Duration,
}

impl Writer {
    pub(super) fn start(
        settings: &SqliteSettings,
        file: StoreFile,
        readers: Readers,
    ) -> Result<Self, SqliteSetupError> {
        let (work, to_do) = mpsc::channel::<Work>();
        let mut seat = Seat::new(settings, file, readers);
        std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || {
                for work in to_do {
                    // A connection that was left somewhere in the middle is not used again.
                    if catch_unwind(AssertUnwindSafe(|| work(&mut seat))).is_err() {
                        seat.close();
                    }
                }
            })
            .map_err(SqliteSetupError::Thread)?;
        Ok(Self { work, turns: Arc::new(Semaphore::new(1)), acquire_timeout: settings.acquire_timeout })
    }

    /// The turn to write, when it comes in time, with a connection that is open.
    pub(super) async fn turn(&self) -> Result<Turn, StoreError> {
        let waited = tokio::time::timeout(self.acquire_timeout, self.turns.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = waited else {
            return Err(StoreError::Unavailable(
                format!("no turn to write within {:?}", self.acquire_timeout).into(),
            ));
        };
        self.open(permit).await
    }

    /// The turn to write, if nobody has it.
    pub(super) async fn turn_if_free(&self) -> Result<Option<Turn>, StoreError> {
        match self.turns.clone().try_acquire_owned() {
            Ok(permit) => Ok(Some(self.open(permit).await?)),
            Err(_) => Ok(None),
        }
    }

    async fn open(&self, permit: OwnedSemaphorePermit) -> Result<Turn, StoreError> {
        let turn = Turn { work: self.work.clone(), permit: Some(permit) };
        turn.run(|seat| seat.connection().map(|_| ())).await?;
        Ok(turn)
    }
}

/// The turn to write. When it is dropped, what is not committed is rolled back before the next one begins.
pub(super) struct Turn {
    work: mpsc::Sender<Work>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// Runs `work` on the thread that writes. It is run to its end even when nobody waits for it any more.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Seat) -> Result<T, StoreError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        self.send(Box::new(move |seat| {
            let result = work(seat);
            // A file that was read-only or away when it was opened stays so for this connection.
            seat.is_spoilt |= matches!(result, Err(StoreError::Unavailable(_)));
            // Whoever has gone away has rolled back, too.
            answer.send(result).ok();
        }))?;
        answered
            .await
            .unwrap_or_else(|_| Err(StoreError::Transient("the work on the store has panicked".into())))
    }

    fn send(&self, work: Work) -> Result<(), StoreError> {
        self.work.send(work).map_err(|_| StoreError::Unavailable("the thread that writes has ended".into()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let permit = self.permit.take();
        // Were the thread gone, its connection would be, too, and with it what is not committed.
        self.send(Box::new(move |seat| {
            seat.roll_back();
            drop(permit);
        }))
        .ok();
    }
}

/// The writing connection, opened when it is needed, and whether a transaction is open on it.
pub(super) struct Seat {
    file: StoreFile,
    readers: Readers,
    options: OpenOptions,
    open: Option<SqliteConnection>,
    in_transaction: bool,
    /// Whether the next turn must open the file anew.
    is_spoilt: bool,
}

impl Seat {
    fn new(settings: &SqliteSettings, file: StoreFile, readers: Readers) -> Self {
        Self {
            file,
            readers,
            options: OpenOptions { access: Access::Write, busy_timeout: settings.busy_timeout },
            open: None,
            in_transaction: false,
            is_spoilt: false,
        }
    }

    /// How long its statements wait for another process.
    pub(super) const fn busy_timeout(&self) -> Duration {
        self.options.busy_timeout
    }

    /// The connection.
    pub(super) fn connection(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        if self.open.is_none() {
            self.open = Some(self.file.connect(self.options)?);
        } else if !self.in_transaction {
            self.file.check()?;
        }
        self.open.as_mut().ok_or_else(|| StoreError::Unavailable("the connection is closed".into()))
    }

    /// The connection, in a transaction. `IMMEDIATE`: one that first reads and then wants to write would fail
    /// at once when another process has written in between, whatever the time-out.
    pub(super) fn transaction(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        if !self.in_transaction {
            self.connection()?.batch_execute("BEGIN IMMEDIATE").map_err(classify)?;
            self.in_transaction = true;
        }
        self.connection()
    }

    /// Makes what was done durable. A transaction in which nothing was done has not even begun.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        if !self.in_transaction {
            return Ok(());
        }
        self.connection()?.batch_execute("COMMIT").map_err(classify)?;
        self.in_transaction = false;
        Ok(())
    }

    /// Undoes what is not committed. Some errors have SQLite roll back by itself, and then it refuses to do
    /// it again; whatever the reason, a closed connection has nothing open.
    fn roll_back(&mut self) {
        if std::mem::take(&mut self.is_spoilt) {
            self.readers.close_idle();
            return self.close();
        }
        if !std::mem::take(&mut self.in_transaction) {
            return;
        }
        if let Some(connection) = &mut self.open
            && connection.batch_execute("ROLLBACK").is_err()
        {
            self.close();
        }
    }

    fn close(&mut self) {
        self.open = None;
        self.in_transaction = false;
    }
}
