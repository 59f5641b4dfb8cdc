//! How people are told.

use async_trait::async_trait;
use bytes::Bytes;

/// An alert, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedAlert {
    /// The same each time that it is sent, and no other alert's.
    pub id: String,
    /// The `CloudEvent`, in JSON.
    pub body: Bytes,
}

/// Why an alert did not arrive, in words. Holds no secret and no URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotSent(pub String);

/// Somewhere that alerts go to.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait AlertChannel: Send + Sync {
    /// Sends an alert. MUST end within the channel's own time limit, and MUST NOT say that it was sent unless it
    /// was taken. It may have been taken all the same when it says otherwise.
    async fn send(&self, alert: &RenderedAlert) -> Result<(), NotSent>;
}
