//! A test's own SQLite file.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use adapters::outbound::sqlite::{SqliteAdmin, SqliteSettings, SqliteStore};
use application::ports::store_admin::StoreAdmin;
use rusqlite::Connection;

/// A file in a folder of its own, which is removed with it.
pub struct TestFile {
    folder: PathBuf,
}

impl TestFile {
    /// A new file with the whole schema.
    ///
    /// # Panics
    /// It cannot be made.
    pub async fn create() -> Self {
        let file = Self::create_empty();
        let migrated = file.admin().migrate().await;
        migrated.expect("the migrations can be applied");
        file
    }

    /// Only the place for one.
    ///
    /// # Panics
    /// The folder cannot be made.
    pub fn create_empty() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("payonce-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        // From an earlier process of the same number.
        std::fs::remove_dir_all(&folder).ok();
        std::fs::create_dir(&folder).expect("a temporary folder");
        Self { folder }
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its path: in a folder that migrating makes, with characters that mean something in a URI.
    pub fn path(&self) -> PathBuf {
        self.folder.join("data of 100% #1?").join("payonce.db")
    }

    /// Settings for it, with time-outs that suit a busy machine.
    pub fn settings(&self) -> SqliteSettings {
        SqliteSettings {
            path: self.path(),
            readers_max: 2,
            busy_timeout: Duration::from_secs(20),
            acquire_timeout: Duration::from_secs(10),
        }
    }

    /// Connections of their own, as another process would have them.
    ///
    /// # Panics
    /// The settings cannot be used.
    pub fn store(&self) -> SqliteStore {
        SqliteStore::new(&self.settings()).expect("usable settings")
    }

    /// What sets it up.
    ///
    /// # Panics
    /// The settings cannot be used.
    pub fn admin(&self) -> SqliteAdmin {
        SqliteAdmin::new(self.store())
    }

    /// A connection that has nothing to do with the adapter. It checks no foreign key.
    ///
    /// # Panics
    /// There is no file.
    pub fn client(&self) -> Connection {
        let client = Connection::open(self.path()).expect("the file is there");
        client
            .execute_batch("PRAGMA busy_timeout = 10000; PRAGMA foreign_keys = OFF")
            .expect("these settings");
        client
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // What stays behind harms nothing.
        std::fs::remove_dir_all(&self.folder).ok();
    }
}
