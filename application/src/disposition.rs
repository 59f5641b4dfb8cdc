//! What became of an event in a run.

use domain::{Fingerprint, RecordReason, Refusal};

use crate::error_chain::describe;
use crate::ports::provider::Untranslatable;
use crate::ports::unit_of_work::StoreError;

/// The verdict of one run over one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disposition {
    /// Its effect is committed, in this run.
    Applied,
    /// Its effect was committed before.
    Duplicate(DuplicateLayer),
    /// Committed as having no effect, in this run.
    Recorded(RecordReason),
    /// Nothing is committed; it may work later.
    Retry(RetryClass, String),
    /// Nothing is committed, and trying again would not help.
    DeadLetter(DeadLetterReason),
}

/// What told that an event was done before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DuplicateLayer {
    /// The cache held a mark that is only written after a commit.
    Cache,
    /// An earlier copy in the same batch.
    Batch,
    /// The database's unique key.
    Database,
}

impl DuplicateLayer {
    /// The layer as a metric label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Batch => "batch",
            Self::Database => "database",
        }
    }
}

/// Why it may work later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RetryClass {
    /// The store is away. Nobody's attempt: the consumer waits for the store and runs the event again.
    DependencyDown,
    /// This event failed where others did not; it uses up one of its attempts.
    Transient,
    /// It waits for another event of its payment; it has a longer budget of its own.
    NotReady,
}

impl RetryClass {
    /// The class as a metric label and in an event's history.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DependencyDown => "dependency_down",
            Self::Transient => "transient",
            Self::NotReady => "not_ready",
        }
    }
}

/// Why an event goes to the dead letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeadLetterReason {
    /// The message is not an envelope of ours.
    Unreadable(String),
    /// Its source is configured no more, or its payload cannot be translated.
    Untranslatable(String),
    /// The key was used before for an event that means something else.
    Conflict {
        /// The meaning that was committed.
        stored: Option<Fingerprint>,
        /// The meaning of this event.
        claimed: Fingerprint,
    },
    /// The event is impossible for its payment.
    Refused(Refusal),
    /// The store refuses it for good, such as by a business rule.
    StoreRefused(String),
    /// It has failed as often as an event may.
    AttemptsExhausted(String),
    /// What it waits for has not come in the time that an event may wait.
    NeverReady(String),
}

impl DeadLetterReason {
    /// The reason as a metric label and message header.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::Untranslatable(_) => "untranslatable",
            Self::Conflict { .. } => "conflict",
            Self::Refused(_) => "refused",
            Self::StoreRefused(_) => "store_refused",
            Self::AttemptsExhausted(_) => "attempts_exhausted",
            Self::NeverReady(_) => "never_ready",
        }
    }

    /// What happened, for the operator.
    pub fn detail(&self) -> String {
        match self {
            Self::Unreadable(text)
            | Self::Untranslatable(text)
            | Self::StoreRefused(text)
            | Self::AttemptsExhausted(text)
            | Self::NeverReady(text) => text.clone(),
            Self::Conflict { stored: Some(stored), claimed } => format!(
                "this id was processed with another meaning: fingerprint {stored} is committed, this event has {claimed}"
            ),
            Self::Conflict { stored: None, claimed } => {
                format!("this id was processed with another meaning; this event has fingerprint {claimed}")
            }
            Self::Refused(refusal) => refusal.to_string(),
        }
    }
}

impl From<Untranslatable> for DeadLetterReason {
    fn from(error: Untranslatable) -> Self {
        Self::Untranslatable(describe(&error))
    }
}

impl From<&StoreError> for DeadLetterReason {
    fn from(error: &StoreError) -> Self {
        Self::StoreRefused(describe(error))
    }
}
