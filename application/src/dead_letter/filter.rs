//! Which letters are meant, and where a list of them goes on.

use std::fmt;
use std::str::FromStr;

use domain::{EventId, EventKey, EventKind, MerchantId, PaymentId, PaymentKey, SourceName, Timestamp};

use super::{DeadLetterId, FailureGroup, LetterReason};

/// Letters of which all that is given is true. Edited copies are meant only where
/// [`copies_of`](Self::copies_of) asks for them: they stand for no event of their own.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LetterFilter {
    /// Where the event came in.
    pub source: Option<SourceName>,
    /// Its id there.
    pub event_id: Option<EventId>,
    /// The provider's name of what happened.
    pub kind: Option<EventKind>,
    /// Why it is a dead letter.
    pub reason: Option<LetterReason>,
    /// Which letters failed alike.
    pub group: Option<FailureGroup>,
    /// Given up at this moment or later.
    pub from: Option<Timestamp>,
    /// Given up before this moment.
    pub until: Option<Timestamp>,
    /// Whose money it is.
    pub account: Option<MerchantId>,
    /// Which payment.
    pub payment: Option<PaymentId>,
    /// The edited copies of this letter.
    pub copies_of: Option<DeadLetterId>,
}

impl LetterFilter {
    /// Every letter of that event.
    pub fn of_event(key: EventKey) -> Self {
        Self { source: Some(key.source), event_id: Some(key.event_id), ..Self::default() }
    }

    /// Every letter of that payment.
    pub fn of_payment(key: PaymentKey) -> Self {
        Self { source: Some(key.source), payment: Some(key.payment_id), ..Self::default() }
    }

    /// Whether it leaves no letter out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// In words, for the record.
impl fmt::Display for LetterFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: [(&str, Option<String>); 10] = [
            ("source", self.source.as_ref().map(ToString::to_string)),
            ("event id", self.event_id.as_ref().map(ToString::to_string)),
            ("kind", self.kind.as_ref().map(ToString::to_string)),
            ("reason", self.reason.map(|reason| reason.as_str().to_owned())),
            ("group", self.group.map(|group| group.to_string())),
            ("from", self.from.map(|at| format!("{} us", at.as_micros()))),
            ("until", self.until.map(|at| format!("{} us", at.as_micros()))),
            ("account", self.account.as_ref().map(ToString::to_string)),
            ("payment", self.payment.as_ref().map(ToString::to_string)),
            ("copies of", self.copies_of.map(|id| id.to_string())),
        ];
        let mut separator = "";
        for (name, value) in parts {
            if let Some(value) = value {
                write!(f, "{separator}{name} = {value}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// Where a list of letters, the newest first, goes on: after the letter that was given up then and has this
/// number. What is stored meanwhile moves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LetterCursor {
    /// When the letter was given up.
    pub dead_lettered_at: Timestamp,
    /// Its number.
    pub id: DeadLetterId,
}

/// A text that is not a cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is not a cursor of a list of dead letters")]
pub struct CursorError;

impl fmt::Display for LetterCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.dead_lettered_at.as_micros(), self.id)
    }
}

impl FromStr for LetterCursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let (at, id) = text.split_once('.').ok_or(CursorError)?;
        Ok(Self {
            dead_lettered_at: Timestamp::from_micros(at.parse().map_err(|_| CursorError)?),
            id: DeadLetterId(id.parse().map_err(|_| CursorError)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::event_key;

    #[test]
    fn a_filter_is_empty_until_something_is_asked_for() {
        assert!(LetterFilter::default().is_empty());
        assert!(!LetterFilter::of_event(event_key("evt_1")).is_empty());
        assert!(
            !LetterFilter { from: Some(Timestamp::from_micros(0)), ..LetterFilter::default() }.is_empty()
        );
    }

    #[test]
    fn a_filter_is_told_in_words() {
        let filter = LetterFilter {
            reason: Some(LetterReason::Refused),
            ..LetterFilter::of_event(event_key("evt_1"))
        };
        assert_eq!(filter.to_string(), "source = payment, event id = evt_1, reason = refused");
    }

    #[test]
    fn a_cursor_that_was_shown_can_be_read_again() {
        let cursor = LetterCursor { dead_lettered_at: Timestamp::from_micros(-17), id: DeadLetterId(4) };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "1", "1.", ".1", "a.b", "1.2.3"] {
            assert_eq!(text.parse::<LetterCursor>(), Err(CursorError), "{text}");
        }
    }
}
