//! The connections of one process.

use super::file::StoreFile;
use super::readers::Readers;
use super::settings::{SqliteSettings, SqliteSetupError};
use super::writer::Writer;

/// One connection that writes and a few that read, shared by clones. None is opened before it is needed, so
/// the file may be missing when the process starts.
#[derive(Clone)]
pub struct SqliteStore {
    pub(super) file: StoreFile,
    pub(super) writer: Writer,
    pub(super) readers: Readers,
}

impl SqliteStore {
    /// The store that `settings` describe. Two of them on one file, in this process or in others, wait for
    /// each other as their `busy_timeout` allows.
    ///
    /// # Errors
    /// The settings cannot be used.
    pub fn new(settings: &SqliteSettings) -> Result<Self, SqliteSetupError> {
        settings.check()?;
        let file = StoreFile::new(settings.path.clone());
        let readers = Readers::new(settings, file.clone());
        let writer = Writer::start(settings, file.clone(), readers.clone())?;
        Ok(Self { file, writer, readers })
    }
}
