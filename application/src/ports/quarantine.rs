//! Keeps requests whose signature does not hold, so that an operator can look at them, and can take in those that
//! turn out to be genuine once a secret has been mended.

use async_trait::async_trait;
use bytes::Bytes;
use domain::{SourceName, Timestamp};

use super::BoxError;

/// The quarantine did not do it.
#[derive(Debug, thiserror::Error)]
#[error("the quarantine: {doing}")]
pub struct QuarantineError {
    /// What was being done.
    pub doing: String,
    /// Why it failed.
    #[source]
    pub source: BoxError,
}

/// A request that was refused with 401, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRequest {
    /// Where it came in.
    pub source: SourceName,
    /// When.
    pub received_at: Timestamp,
    /// Why it was refused, from the closed set of the source's provider.
    pub reason: String,
    /// Its headers by lower-case name.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Its query, undecoded.
    pub query: String,
    /// Its body.
    pub body: Bytes,
}

/// One kept request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// Its number here; a later one is higher.
    pub id: i64,
    /// The request.
    pub request: RejectedRequest,
}

/// Keeps rejected requests.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait Quarantine: Send + Sync {
    /// Keeps it. MUST return at once and MUST NOT fail the caller: anybody can send a wrong signature, so what
    /// is more than the limits of count and bytes is let go, the oldest first, and what comes faster than it
    /// can be kept is let go, too.
    fn keep(&self, request: RejectedRequest);

    /// At most `limit` of those before `before` (the newest where it is `None`), newest first.
    async fn list(&self, before: Option<i64>, limit: u32) -> Result<Vec<Quarantined>, QuarantineError>;

    /// The one of that number; `None` when it is there no more.
    async fn get(&self, id: i64) -> Result<Option<Quarantined>, QuarantineError>;

    /// Lets it go. `false` when it was there no more.
    async fn remove(&self, id: i64) -> Result<bool, QuarantineError>;
}
