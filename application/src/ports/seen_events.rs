//! The cache in front of the database. May forget, must not lie.

use async_trait::async_trait;
use domain::{EventKey, Fingerprint};

/// What the cache says of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// An event of this meaning was committed.
    Committed(Fingerprint),
    /// Not known, or the cache could not be asked: only the database can tell.
    Unknown,
}

/// Remembers which events were committed.
///
/// There is no error: a cache that is away, slow, flushed or full answers [`Seen::Unknown`].
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait SeenEvents: Send + Sync {
    /// Element `i` answers `keys[i]`, in one round trip. MUST answer `Committed` only for a mark that
    /// [`Self::mark_committed`] wrote. MUST answer within a short time-out, whatever the cache does.
    async fn look(&self, keys: &[EventKey]) -> Vec<Seen>;

    /// Remembers events whose commit has returned. MUST NOT be called before. Every mark expires.
    async fn mark_committed(&self, events: &[(EventKey, Fingerprint)]);
}
