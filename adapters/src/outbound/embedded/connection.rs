//! Opens the queue's file.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use application::ports::BoxError;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::outbound::sqlite::connect::{Access, OpenOptions, open};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../migrations/embedded");

/// How long to wait for another connection that has the file. Ours is the only one that writes, but somebody
/// may look into it with a tool.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// A page of the file, in bytes: SQLite's default.
const PAGE_BYTES: u64 = 4096;

/// For the one writer; creates the file where `access` says so. A commit returns after the log is on the disk.
pub(super) fn open_to_write(
    path: &Path,
    access: Access,
    bytes_max: Option<u64>,
) -> Result<SqliteConnection, BoxError> {
    let mut connection = open(path, OpenOptions { access, busy_timeout: BUSY_TIMEOUT })?;
    if let Some(bytes_max) = bytes_max {
        let pages = (bytes_max / PAGE_BYTES).max(1);
        connection.batch_execute(&format!("PRAGMA max_page_count = {pages};"))?;
    }
    Ok(connection)
}

/// For readers, in this process and in others. The file must be there.
pub(super) fn open_to_read(path: &Path) -> Result<SqliteConnection, BoxError> {
    Ok(open(path, OpenOptions { access: Access::Read, busy_timeout: BUSY_TIMEOUT })?)
}

/// The file itself, whatever its name. What is written to a file that was moved away is lost to everybody who
/// looks for it under its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(super) fn of(path: &Path) -> Result<Self, BoxError> {
        let metadata = std::fs::metadata(path)
            .map_err(|error| format!("{} cannot be found any more: {error}", path.display()))?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }

    /// Whether it still has the name.
    pub(super) fn check(self, path: &Path) -> Result<(), BoxError> {
        if self == Self::of(path)? {
            return Ok(());
        }
        let path = path.display();
        Err(format!("{path} is another file than the one that was opened; start payonce again").into())
    }
}

/// Brings the tables up to this release.
pub(super) fn migrate(connection: &mut SqliteConnection) -> Result<(), BoxError> {
    connection.run_pending_migrations(MIGRATIONS)?;
    Ok(())
}
