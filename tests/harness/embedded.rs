//! A test's own queue file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use adapters::clock::SystemClock;
use adapters::outbound::embedded::{DataFolderInUse, EmbeddedBroker, EmbeddedSettings, OpenError};

/// A data folder of its own, which is removed with it.
pub struct TestDataFolder(PathBuf);

impl TestDataFolder {
    /// A name that nobody else has; the folder is created by whoever opens something in it.
    pub fn create() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("payonce-test-{}-{number} ü?#", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// What is on the disk now, in another folder. Nothing may be being written.
    ///
    /// # Panics
    /// It cannot be copied.
    #[must_use]
    pub fn copy(&self) -> Self {
        let copy = Self::create();
        // By another process: closing a file takes SQLite's locks on it away from the process that closes it.
        let copied = Command::new("cp").arg("-r").arg(&self.0).arg(&copy.0).status();
        assert!(copied.expect("cp runs").success());
        copy
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where the queue is in it.
    pub fn queue(&self) -> PathBuf {
        self.0.join("queue.db")
    }

    /// The queue's settings, with the default limits.
    pub fn settings(&self) -> EmbeddedSettings {
        EmbeddedSettings::at(self.queue())
    }
}

impl Drop for TestDataFolder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// Opens the queue. Waits for one that was dropped without being closed to let the folder go.
///
/// # Panics
/// It cannot be opened.
pub async fn open_queue(settings: &EmbeddedSettings) -> Arc<EmbeddedBroker> {
    let since = Instant::now();
    loop {
        match EmbeddedBroker::open(settings.clone(), Arc::new(SystemClock)) {
            Err(OpenError::Folder(DataFolderInUse::Locked { .. }))
                if since.elapsed() < Duration::from_secs(10) =>
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            opened => return opened.expect("the queue opens"),
        }
    }
}
