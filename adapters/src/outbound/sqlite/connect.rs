//! One connection with a SQLite file, set up.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use application::ports::BoxError;
use application::ports::unit_of_work::StoreError;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::sql_types::Text;
use diesel::{Connection, ConnectionError, RunQueryDsl, SqliteConnection};

use super::classify::{Class, class, class_of_text};

/// How often a file that somebody else is setting up at the same moment is tried again.
const RETRY_EVERY: Duration = Duration::from_millis(10);

/// How much of the file a writing connection keeps in memory, in KiB. The keys of a batch lie anywhere in the
/// tables, so it changes many pages, and what does not fit is written twice.
const CACHE_KIB: u32 = 16 * 1024;

/// After how many pages of 4 KiB the write-ahead log is moved into the file. A page that several batches have
/// changed is moved once.
const LOG_PAGES: u32 = 8_192;

/// Up to this size the write-ahead log is kept for the next commits; a larger one is cut off.
const LOG_BYTES_MAX: u32 = 64 * 1024 * 1024;

/// When a process closes a file by whatever descriptor, it loses every lock that it holds on it (POSIX), and
/// with them SQLite's. So none is opened while one is being created, and one that exists is opened by SQLite
/// alone.
static OPENING: Mutex<()> = Mutex::new(());

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads and writes, and makes the file (0600) and its folder (0700) where they are missing.
    Create,
    /// Reads and writes a file that must be there.
    Write,
    /// Only reads a file that must be there.
    Read,
}

/// How to open a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenOptions {
    /// What the connection is for.
    pub(crate) access: Access,
    /// How long to wait for a lock that another connection holds.
    pub(crate) busy_timeout: Duration,
}

/// A file that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open {}{advice}", path.display())]
pub(crate) struct OpenError {
    path: PathBuf,
    class: Class,
    advice: &'static str,
    #[source]
    source: BoxError,
}

impl OpenError {
    fn new(path: &Path, class: Class, source: impl Into<BoxError>) -> Self {
        Self { path: path.to_owned(), class, advice: class.advice(), source: source.into() }
    }

    fn is_busy(&self) -> bool {
        self.class == Class::Busy
    }
}

impl From<OpenError> for StoreError {
    fn from(error: OpenError) -> Self {
        Self::Unavailable(error.into())
    }
}

/// Opens `path`, in WAL mode, with foreign keys enforced. Blocks its thread.
///
/// Commits are durable (`synchronous = FULL`): in WAL mode, `NORMAL` may lose the last commits when the power
/// fails, and by then the broker has been told that the events are done.
pub(crate) fn open(path: &Path, options: OpenOptions) -> Result<SqliteConnection, OpenError> {
    if options.access == Access::Create {
        create(path).map_err(|error| OpenError {
            advice: ": there is no such file, and it cannot be made; let this user write to its folder",
            ..OpenError::new(path, Class::CannotOpen, error)
        })?;
    }
    let since = Instant::now();
    loop {
        match try_open(path, options) {
            // The change to WAL does not wait for locks by itself.
            Err(error) if error.is_busy() && since.elapsed() < options.busy_timeout => {
                std::thread::sleep(RETRY_EVERY);
            }
            opened => return opened,
        }
    }
}

fn try_open(path: &Path, options: OpenOptions) -> Result<SqliteConnection, OpenError> {
    let established = {
        let _turn = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        SqliteConnection::establish(&url(path))
    };
    let mut connection = established.map_err(|error| {
        let class = match &error {
            ConnectionError::BadConnection(text) => class_of_text(text),
            _ => Class::Other,
        };
        OpenError::new(path, class, error)
    })?;
    set_up(&mut connection, options).map_err(|error| match error {
        SetUpError::Refused(error) => OpenError::new(path, class(&error), error),
        SetUpError::NoLog(mode) => OpenError::new(
            path,
            Class::Io,
            format!("the file system allows no write-ahead log (the journal mode stays {mode})"),
        ),
    })?;
    Ok(connection)
}

enum SetUpError {
    Refused(diesel::result::Error),
    NoLog(String),
}

impl From<diesel::result::Error> for SetUpError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Refused(error)
    }
}

fn set_up(connection: &mut SqliteConnection, options: OpenOptions) -> Result<(), SetUpError> {
    // First, since everything that follows may have to wait.
    set_busy_timeout(connection, options.busy_timeout)?;
    if options.access == Access::Read {
        connection.batch_execute("PRAGMA query_only = ON; PRAGMA foreign_keys = ON;")?;
        // Opening does not touch the file; this does.
        connection.batch_execute("SELECT count(*) FROM sqlite_schema")?;
        return Ok(());
    }
    let mode: String = sql::<Text>("PRAGMA journal_mode = WAL").get_result(connection)?;
    if mode != "wal" {
        return Err(SetUpError::NoLog(mode));
    }
    connection.batch_execute(&format!(
        "PRAGMA synchronous = FULL;\
         PRAGMA foreign_keys = ON;\
         PRAGMA cache_size = -{CACHE_KIB};\
         PRAGMA wal_autocheckpoint = {LOG_PAGES};\
         PRAGMA journal_size_limit = {LOG_BYTES_MAX};"
    ))?;
    Ok(())
}

/// How long statements of `connection` wait for a lock that another one holds.
pub(super) fn set_busy_timeout(
    connection: &mut SqliteConnection,
    busy_timeout: Duration,
) -> diesel::QueryResult<()> {
    let millis = i32::try_from(busy_timeout.as_millis()).unwrap_or(i32::MAX);
    connection.batch_execute(&format!("PRAGMA busy_timeout = {millis};"))
}

/// Makes what is missing, and makes it durable: SQLite syncs the folder of the file, but not the folder
/// above.
fn create(path: &Path) -> std::io::Result<()> {
    let folder = folder(path);
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        if let Some(above) = folder.parent().filter(|above| !above.as_os_str().is_empty()) {
            File::open(above)?.sync_all()?;
        }
    }
    let _turn = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    // SQLite gives the files beside it the same permissions.
    let created = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match created {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// As a URI, in which no character of the path has a meaning of its own, and which never creates a file: that
/// is done with the right permissions beforehand.
fn url(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut url = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                url.push(char::from(*byte));
            }
            other => write!(url, "%{other:02X}").unwrap_or_default(),
        }
    }
    // Two slashes begin the name of a host; here it has none.
    if url.starts_with("file://") {
        url.insert_str("file:".len(), "//");
    }
    url.push_str("?mode=rw");
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_a_path_means_anything_in_the_url() {
        assert_eq!(url(Path::new("data/p.db")), "file:data/p.db?mode=rw");
        assert_eq!(url(Path::new("/a b?#%&/p.db")), "file:/a%20b%3F%23%25%26/p.db?mode=rw");
        assert_eq!(url(Path::new("//a/p.db")), "file:////a/p.db?mode=rw");
        assert_eq!(url(Path::new("file:p.db")), "file:file%3Ap.db?mode=rw");
    }

    #[test]
    fn a_file_without_a_folder_is_in_the_current_one() {
        assert_eq!(folder(Path::new("p.db")), Path::new("."));
        assert_eq!(folder(Path::new("/p.db")), Path::new("/"));
    }
}
