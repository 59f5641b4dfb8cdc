//! Hears what becomes of alerts, for metrics. Never decides anything.

/// What became of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlertOutcome {
    /// It was sent.
    Sent,
    /// It could not be sent, and is tried again.
    Failed,
    /// It could not be sent as often as it may be tried.
    GivenUp,
}

impl AlertOutcome {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sent, Self::Failed, Self::GivenUp];

    /// The outcome as a metric label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::GivenUp => "given_up",
        }
    }
}

/// Counts. An implementation MUST NOT block.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
pub trait AlertObserver: Send + Sync {
    /// An alert had this outcome.
    fn alert(&self, outcome: AlertOutcome);
}
