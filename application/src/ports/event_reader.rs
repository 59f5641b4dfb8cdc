//! Any event that was settled or given up, and the path that it took.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use domain::{EstablishedFact, EventId, EventKey, EventKind, LedgerEntry, PaymentId, SourceName, Timestamp};

use super::unit_of_work::StoreError;
use crate::dead_letter::{DeadLetterId, DeadLetterSummary, LetterReason, LetterState};

/// The most events of a page.
pub const PAGE_EVENTS_MAX: u32 = 500;

/// The most dead letters that a path shows, the newest.
pub const PATH_LETTERS_MAX: u32 = 100;

/// Events of which all that is given is true.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct EventFilter {
    /// Where the event came in.
    pub source: Option<SourceName>,
    /// Its id there.
    pub event_id: Option<EventId>,
    /// Which payment or payout it is about.
    pub payment: Option<PaymentId>,
    /// Settled, or given up, at this moment or later.
    pub from: Option<Timestamp>,
    /// Settled, or given up, before this moment.
    pub until: Option<Timestamp>,
}

/// What has become of an event, as the store knows by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventOutcome {
    /// It had its effect.
    Applied,
    /// It was settled without effect.
    Recorded {
        /// The provider's name of what happened.
        kind: EventKind,
        /// Why it had none, by the reason's name.
        reason: String,
    },
    /// It was given up, and is not settled. One that was replayed is on its way again.
    GivenUp {
        /// The dead letter that it became last.
        letter: DeadLetterId,
        /// What has become of that.
        state: LetterState,
        /// Why it was given up.
        reason: LetterReason,
        /// The provider's name of what happened, where it could be translated.
        kind: Option<EventKind>,
    },
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSummary {
    /// Which one.
    pub key: EventKey,
    /// When its request arrived; that of the delivery that was settled or, else, was given up last. Not known
    /// of every dead letter.
    pub received_at: Option<Timestamp>,
    /// When it was settled or, if it was not, given up last.
    pub at: Timestamp,
    /// The payment or payout that it is about, where that is known.
    pub payment: Option<PaymentId>,
    /// What has become of it.
    pub outcome: EventOutcome,
    /// How many of its dead letters are open. An event that was applied has one when the same id came again
    /// with another meaning, or when it was given up and then sent again by its provider.
    pub open_letters: u64,
}

/// Some events, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    /// The events, each once.
    pub events: Vec<EventSummary>,
    /// Where the list goes on; `None` at its end.
    pub next: Option<EventCursor>,
}

/// How a message stands with a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryState {
    /// It was not handed out yet.
    Queued,
    /// It was not taken yet, or waits behind an earlier message of its payment.
    Waiting {
        /// How many attempts have failed.
        attempts: u32,
        /// When it is tried again; `None` while it waits behind another.
        next_at: Option<Timestamp>,
        /// Why the last attempt failed, where there was one.
        error: Option<String>,
    },
    /// It is given up.
    Failed {
        /// How many attempts have failed.
        attempts: u32,
        /// Why the last of them did.
        error: Option<String>,
    },
    /// It is delivered, or not wanted there.
    Done,
}

/// A message and one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The destination's name.
    pub destination: String,
    /// How the message stands with it.
    pub state: DeliveryState,
}

/// A message of the outbox that an event caused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventMessage {
    /// The message's id.
    pub id: String,
    /// What happened, such as `payment.succeeded`.
    pub kind: String,
    /// When it was stored.
    pub created_at: Timestamp,
    /// How it stands with each destination that is known, by name. A destination that begins later than the
    /// message counts as done with it.
    pub deliveries: Vec<Delivery>,
}

/// What one event has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPath {
    /// The event, and what has become of it.
    pub event: EventSummary,
    /// The facts that it established, by key. None of one that had no effect.
    pub facts: Vec<EstablishedFact>,
    /// Its ledger entries, by account, ledger account and currency; they sum to zero.
    pub entries: Vec<LedgerEntry>,
    /// Its messages that the outbox still has, in their order. Those that every destination has are removed
    /// after a while.
    pub messages: Vec<EventMessage>,
    /// Its dead letters, the newest first, at most [`PATH_LETTERS_MAX`].
    pub letters: Vec<DeadLetterSummary>,
    /// How many bytes of it are kept; only of one that was recorded as having no effect.
    pub payload_bytes: Option<u64>,
}

/// Where a list of events, the newest first, goes on: after this event. What is stored meanwhile moves
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventCursor {
    /// When it was settled or given up.
    pub at: Timestamp,
    /// The event.
    pub key: EventKey,
}

/// A text that is not a cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is not a cursor of a list of events")]
pub struct EventCursorError;

/// A source's name has no dot, so the event's id may have any.
impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.at.as_micros(), self.key.source, self.key.event_id)
    }
}

impl FromStr for EventCursor {
    type Err = EventCursorError;

    fn from_str(text: &str) -> Result<Self, EventCursorError> {
        let (at, key) = text.split_once('.').ok_or(EventCursorError)?;
        let (source, event_id) = key.split_once('.').ok_or(EventCursorError)?;
        Ok(Self {
            at: Timestamp::from_micros(at.parse().map_err(|_| EventCursorError)?),
            key: EventKey {
                source: source.parse().map_err(|_| EventCursorError)?,
                event_id: event_id.parse().map_err(|_| EventCursorError)?,
            },
        })
    }
}

/// Finds the events of one consumer, which is fixed when the reader is made. Sees only what is committed, and
/// holds nobody up. An event is there from when it is settled or given up, and as long as the store keeps it.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait EventReader: Send + Sync {
    /// A page of the events of `filter`, the newest first, after the cursor. At most `limit`, which is at most
    /// [`PAGE_EVENTS_MAX`]. Each event MUST be there once, as it is now: one that was given up and applied
    /// later is applied. MUST NOT read all events in order to find those of an id, a payment, or a time.
    async fn find(
        &self,
        filter: &EventFilter,
        after: Option<EventCursor>,
        limit: u32,
    ) -> Result<EventPage, StoreError>;

    /// What has become of one event; `None` for one that the store does not know. MUST read one state of the
    /// store.
    async fn path(&self, key: &EventKey) -> Result<Option<EventPath>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::event_key;

    #[test]
    fn a_cursor_that_was_shown_can_be_read_again() {
        for event_id in ["evt_1", "a.b.c", "..", "1|é/ %2F"] {
            let cursor = EventCursor { at: Timestamp::from_micros(-17), key: event_key(event_id) };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
    }

    #[test]
    fn a_text_that_is_no_cursor_is_refused() {
        for text in ["", "1", "1.", "1.payment", "1.payment.", ".payment.evt_1", "x.payment.evt_1", "1.A.b"] {
            assert_eq!(text.parse::<EventCursor>(), Err(EventCursorError), "{text}");
        }
    }
}
