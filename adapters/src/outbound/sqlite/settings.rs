//! Where the file is, and how long anything may take there.

use std::path::PathBuf;
use std::time::Duration;

/// The settings of [`super::SqliteStore`].
#[derive(Debug, Clone)]
pub struct SqliteSettings {
    /// The file. Migrating makes it and its folder where they are missing, for this user alone.
    pub path: PathBuf,
    /// How many connections there may be that only read, beside the one that writes.
    pub readers_max: usize,
    /// How long a statement may wait for a lock that another process holds.
    pub busy_timeout: Duration,
    /// How long to wait for a turn to write, or for a connection that others of this process use.
    pub acquire_timeout: Duration,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SqliteSetupError {
    /// Nothing, `:memory:`, a name with a NUL, or a folder: no file that would keep anything.
    #[error("names no file: it is to be a path such as payonce-data/payonce.db")]
    NoFile,
    /// `readers_max` is zero.
    #[error("allows no connection to read with; there must be at least one")]
    NoReaders,
    /// The thread that writes cannot be started.
    #[error("the thread that writes cannot be started")]
    Thread(#[source] std::io::Error),
}

impl SqliteSettings {
    pub(super) fn check(&self) -> Result<(), SqliteSetupError> {
        let path = &self.path;
        let name = path.as_os_str().as_encoded_bytes();
        if name.is_empty() || name == b":memory:" || name.contains(&0) || path.is_dir() {
            return Err(SqliteSetupError::NoFile);
        }
        if self.readers_max == 0 {
            return Err(SqliteSetupError::NoReaders);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused() {
        for path in ["", ":memory:", "a\0b", "/"] {
            let settings = SqliteSettings {
                path: path.into(),
                readers_max: 1,
                busy_timeout: Duration::from_secs(1),
                acquire_timeout: Duration::from_secs(1),
            };
            assert!(matches!(settings.check(), Err(SqliteSetupError::NoFile)), "{path:?}");
        }
    }
}
