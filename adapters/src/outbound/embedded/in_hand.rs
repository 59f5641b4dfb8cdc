//! Remembers, over the end of the process, which events it had in hand.
//!
//! A plain file beside the queue, written over at every change and never forced to the disk: it must outlive
//! the process, not the machine, since an event that kills the process leaves the machine alone. What is lost
//! of it is only a count that is one too low.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const ID_BYTES: usize = 8;

/// The record of one queue file.
pub(super) struct InHandRecord {
    file: File,
    warned: bool,
}

impl InHandRecord {
    /// Opens the record of the queue at `queue`.
    pub(super) fn open(queue: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(beside(queue))?;
        Ok(Self { file, warned: false })
    }

    /// What the last process had in hand when it ended without a word.
    pub(super) fn read(&self) -> io::Result<Vec<i64>> {
        let mut header = [0; ID_BYTES];
        if self.file.metadata()?.len() < ID_BYTES as u64 {
            return Ok(Vec::new());
        }
        self.file.read_exact_at(&mut header, 0)?;
        let held = usize::try_from(u64::from_le_bytes(header)).unwrap_or(usize::MAX);
        let present = usize::try_from(self.file.metadata()?.len()).unwrap_or(usize::MAX) / ID_BYTES - 1;
        let mut ids = vec![0; held.min(present) * ID_BYTES];
        self.file.read_exact_at(&mut ids, ID_BYTES as u64)?;
        let (ids, _) = ids.as_chunks::<ID_BYTES>();
        Ok(ids.iter().copied().map(i64::from_le_bytes).collect())
    }

    /// `ids` are in hand now, and no others.
    pub(super) fn write(&mut self, ids: impl ExactSizeIterator<Item = i64>) {
        let held = ids.len() as u64;
        let mut bytes = held.to_le_bytes().to_vec();
        bytes.extend(ids.flat_map(i64::to_le_bytes));
        if let Err(error) = self.file.write_all_at(&bytes, 0)
            && !std::mem::replace(&mut self.warned, true)
        {
            // No reason to stop delivering: it is needed only after a crash.
            tracing::warn!(%error, "what is in hand is not recorded; an event that kills the process is not counted");
        }
    }
}

fn beside(queue: &Path) -> PathBuf {
    let mut name = queue.as_os_str().to_owned();
    name.push(".in-hand");
    PathBuf::from(name)
}
