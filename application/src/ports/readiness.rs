//! Whether a part can do its work now.

use async_trait::async_trait;

/// One part of a process that others depend on.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait ReadinessCheck: Send + Sync {
    /// The part's name, such as `broker`.
    fn component(&self) -> &'static str;

    /// Whether the process is of no use without it.
    fn required(&self) -> bool;

    /// `Err` says what is wrong, in a form that may be shown to anyone who reaches the ops listener: no
    /// secrets, no URLs with passwords. MUST answer within about a second.
    async fn check(&self) -> Result<(), String>;
}
