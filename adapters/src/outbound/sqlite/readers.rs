//! The connections that only read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use application::ports::unit_of_work::StoreError;
use diesel::SqliteConnection;
use tokio::sync::Semaphore;

use super::connect::{Access, OpenOptions};
use super::file::StoreFile;
use super::settings::SqliteSettings;

/// At most `readers_max` connections that only read, opened when they are needed.
#[derive(Clone)]
pub(super) struct Readers {
    file: StoreFile,
    options: OpenOptions,
    free: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<SqliteConnection>>>,
    acquire_timeout: Duration,
}

impl Readers {
    pub(super) fn new(settings: &SqliteSettings, file: StoreFile) -> Self {
        Self {
            file,
            options: OpenOptions { access: Access::Read, busy_timeout: settings.busy_timeout },
            free: Arc::new(Semaphore::new(settings.readers_max)),
            idle: Arc::default(),
            acquire_timeout: settings.acquire_timeout,
        }
    }

    /// Runs `work` on a thread that may block. A connection on which it fails is closed, and so is whatever
    /// it has left open.
    pub(super) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, StoreError> + Send + 'static,
    {
        let waited = tokio::time::timeout(self.acquire_timeout, self.free.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = waited else {
            return Err(StoreError::Unavailable(
                format!("no connection to read with within {:?}", self.acquire_timeout).into(),
            ));
        };
        let readers = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut connection = readers.take()?;
            let found = work(&mut connection)?;
            readers.give_back(connection);
            Ok(found)
        });
        reading.await.unwrap_or_else(|error| Err(StoreError::Transient(error.into())))
    }

    /// Closes the connections that nobody uses. All connections of a process share what SQLite has mapped of
    /// the file, so one that was opened while the file was read-only keeps it so for the others.
    pub(super) fn close_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn take(&self) -> Result<SqliteConnection, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => {
                self.file.check()?;
                Ok(connection)
            }
            None => self.file.connect(self.options),
        }
    }

    fn give_back(&self, connection: SqliteConnection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}
