//! One process owns the data folder.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The name of the file in the data folder that is locked.
pub const LOCK_FILE: &str = "payonce.lock";

/// The data folder is ours while this lives. The system gives it back when the process ends, however it ends.
#[derive(Debug)]
pub struct DataFolderLock {
    _locked: File,
}

/// The data folder cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum DataFolderInUse {
    /// Another process has it.
    #[error(
        "the data folder {} is in use by {owner}: stop that process, or give this one a folder of its own",
        folder.display()
    )]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// Who has it, as far as it says so.
        owner: String,
    },
    /// It cannot be locked at all.
    #[error("the data folder {} cannot be locked: is it a folder that may be written to?", folder.display())]
    Failed {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// Takes the data folder for this process, creating it where it is missing.
pub fn lock_data_folder(folder: &Path) -> Result<DataFolderLock, DataFolderInUse> {
    let failed = |source| DataFolderInUse::Failed { folder: folder.to_owned(), source };
    create(folder).map_err(failed)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(folder.join(LOCK_FILE)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(DataFolderInUse::Locked { folder: folder.to_owned(), owner: owner(&mut file) });
        }
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    // Who has it is told for people only. A disk that is full must not stop the start: that makes room.
    if let Err(error) = sign(&mut file) {
        tracing::warn!(%error, "the lock file does not tell the process id");
    }
    Ok(DataFolderLock { _locked: file })
}

/// For this user alone, and durably: a folder that is new is on the disk when the one above it is.
fn create(folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    match folder.parent().filter(|above| !above.as_os_str().is_empty()) {
        Some(above) => File::open(above)?.sync_all(),
        None => Ok(()),
    }
}

fn sign(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

fn owner(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => format!("process {}", text.trim()),
        _ => "another process".to_owned(),
    }
}
