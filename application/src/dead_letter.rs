//! A dead letter, as the store keeps it: an event that was given up, whole, and why.
//!
//! - [`reason`]: why, from a closed set
//! - [`failure_group`]: which letters failed alike; [`normalise`]: what makes two failures alike
//! - [`filter`]: which letters are meant
//! - [`totals`]: how many there are, and how much money is in them
//! - [`text`]: what becomes of a text that cannot be stored as it is

use std::fmt;

use bytes::Bytes;
use domain::{
    ConsumerName, Digest, EventKey, EventKind, Fact, MerchantId, Money, PaymentEvent, PaymentId, Timestamp,
};

use crate::envelope::{Envelope, TraceContext};
use crate::retry_policy::AttemptFailure;

pub mod failure_group;
pub mod filter;
pub mod normalise;
pub mod reason;
pub mod text;
pub mod totals;

pub use failure_group::FailureGroup;
pub use filter::{LetterCursor, LetterFilter};
pub use reason::LetterReason;
pub use totals::{GroupTotals, MoneyTotal, StateTotals};

/// The most bytes of [`LetterCause::detail`].
pub const DETAIL_BYTES_MAX: usize = 4 * 1024;

/// The most bytes of a worker's name, a release, or a content type.
pub const LABEL_BYTES_MAX: usize = 255;

/// The most bytes of a part of the trace context.
pub const TRACE_BYTES_MAX: usize = 512;

/// The number of a dead letter in the store. A later one has a higher number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeadLetterId(pub i64);

impl fmt::Display for DeadLetterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What has become of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LetterState {
    /// Somebody has to decide.
    Open,
    /// It is in a replay job that has not published it yet.
    Replaying,
    /// It was published to the main queue again. When it fails again, it is a new dead letter.
    Replayed,
    /// Somebody has decided that it shall have no effect. Its bytes are kept.
    Discarded,
}

impl LetterState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Open, Self::Replaying, Self::Replayed, Self::Discarded];

    /// The name under which it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Replaying => "replaying",
            Self::Replayed => "replayed",
            Self::Discarded => "discarded",
        }
    }

    /// The state of that stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// What a letter carries.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LetterContent {
    /// The request body, byte for byte; for an unreadable message its bytes.
    pub payload: Bytes,
    /// The request's `Content-Type`, where it had one.
    pub content_type: Option<String>,
    /// The kept request headers, by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The trace that the request belongs to.
    pub trace: TraceContext,
}

/// How a letter came to be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterCause {
    /// Why.
    pub reason: LetterReason,
    /// Why, in full, at most [`DETAIL_BYTES_MAX`] bytes.
    pub detail: String,
    /// How many attempts have failed.
    pub failed_attempts: u32,
    /// When it was given up.
    pub dead_lettered_at: Timestamp,
    /// The worker that gave up on it, where it is known.
    pub worker: Option<String>,
    /// That worker's release, where it is known.
    pub release: Option<String>,
}

/// What a letter is about, as far as it could be translated.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LetterSubject {
    /// The provider's name of what happened.
    pub kind: Option<EventKind>,
    /// The payment or payout.
    pub payment: Option<PaymentId>,
    /// Whose money it is, where the event says so.
    pub account: Option<MerchantId>,
    /// The first amount that it names.
    pub amount: Option<Money>,
}

impl LetterSubject {
    /// What `event` is about.
    pub fn of(event: &PaymentEvent) -> Self {
        let change = event.change();
        Self {
            kind: Some(event.kind.clone()),
            payment: change.map(|change| change.payment.clone()),
            account: change.and_then(|change| change.merchant.clone()),
            amount: change.and_then(|change| change.facts.iter().find_map(Fact::amount)),
        }
    }
}

/// A dead letter without what it carries, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetterSummary {
    /// Its number.
    pub id: DeadLetterId,
    /// Who was to process it.
    pub consumer: ConsumerName,
    /// Which event it is; `None` for a message that could not be read.
    pub key: Option<EventKey>,
    /// When the request arrived, where that is known.
    pub received_at: Option<Timestamp>,
    /// How many bytes the payload has.
    pub payload_bytes: u64,
    /// What it is about.
    pub subject: LetterSubject,
    /// How it came to be a dead letter.
    pub cause: LetterCause,
    /// Which letters failed alike.
    pub group: FailureGroup,
    /// What has become of it.
    pub state: LetterState,
    /// How often its event had been replayed before it became this letter.
    pub replays: u32,
    /// For the edited copy of a letter: that letter.
    pub linked_to: Option<DeadLetterId>,
    /// When it was stored.
    pub stored_at: Timestamp,
    /// When it was replayed or discarded.
    pub settled_at: Option<Timestamp>,
    /// Why it was discarded.
    pub discard_reason: Option<String>,
}

/// A dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// All but what it carries.
    pub summary: DeadLetterSummary,
    /// What it carries.
    pub content: LetterContent,
    /// The failures, oldest first, bounded.
    pub history: Vec<AttemptFailure>,
}

impl DeadLetter {
    /// The envelope that it becomes when it is replayed at `now`; `None` for a message that could not be read. It
    /// has nothing of the failures, so its budgets are fresh. It keeps the moment of its arrival: the age of its
    /// signature was judged then.
    pub fn to_envelope(&self, now: Timestamp) -> Option<Envelope> {
        Some(Envelope {
            key: self.summary.key.clone()?,
            received_at: self.summary.received_at.unwrap_or(self.summary.cause.dead_lettered_at),
            queued_at: now,
            content_type: self.content.content_type.clone(),
            headers: self.content.headers.clone(),
            trace: self.content.trace.clone(),
            payload: self.content.payload.clone(),
        })
    }
}

/// A dead letter that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDeadLetter {
    /// Tells it from all other dead letters; the same for every delivery of one message.
    pub arrival: Digest,
    /// Who was to process it.
    pub consumer: ConsumerName,
    /// Which event it is; `None` for a message that could not be read.
    pub key: Option<EventKey>,
    /// When the request arrived, where that is known.
    pub received_at: Option<Timestamp>,
    /// What it carries.
    pub content: LetterContent,
    /// The failures, oldest first, bounded.
    pub history: Vec<AttemptFailure>,
    /// What it is about.
    pub subject: LetterSubject,
    /// How it came to be a dead letter.
    pub cause: LetterCause,
    /// Which letters failed alike.
    pub group: FailureGroup,
}
