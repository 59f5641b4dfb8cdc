//! The file that a store is in.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use application::ports::unit_of_work::StoreError;
use diesel::SqliteConnection;

use super::connect::{OpenOptions, open};

/// The file of one store. It stays the one that was opened first: when another one takes its place, such as a
/// restored backup, what is written to the old one is lost, and what the cache knows of it is not true of the
/// new one. That takes a restart.
#[derive(Clone)]
pub(super) struct StoreFile {
    path: PathBuf,
    opened: Arc<OnceLock<FileId>>,
}

/// One file on this machine, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl StoreFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, opened: Arc::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A new connection.
    pub(super) fn connect(&self, options: OpenOptions) -> Result<SqliteConnection, StoreError> {
        let connection = open(&self.path, options)?;
        let found = self.id()?;
        self.opened.get_or_init(|| found);
        self.check()?;
        Ok(connection)
    }

    /// Whether the connections are still those with the file that has the path.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.opened.get() == Some(&self.id()?) {
            return Ok(());
        }
        let path = self.path.display();
        Err(StoreError::Unavailable(
            format!("{path} is another file than the one that was opened; start payonce again").into(),
        ))
    }

    /// The file's number on its file system, which a copy of it does not have.
    pub(super) fn inode(&self) -> Result<u64, StoreError> {
        Ok(self.id()?.inode)
    }

    fn id(&self) -> Result<FileId, StoreError> {
        let metadata = std::fs::metadata(&self.path).map_err(|error| {
            let path = self.path.display();
            StoreError::Unavailable(format!("{path} cannot be found any more: {error}").into())
        })?;
        Ok(FileId { device: metadata.dev(), inode: metadata.ino() })
    }
}
