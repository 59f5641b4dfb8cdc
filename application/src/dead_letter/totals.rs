//! How many letters there are, and how much money is in them.

use domain::{Currency, SourceName, Timestamp};

use super::{DeadLetterId, FailureGroup, LetterReason, LetterState};

/// What the letters of one currency are about in all. The sum of many amounts may not fit the 64 bits of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoneyTotal {
    /// The currency.
    pub currency: Currency,
    /// The sum, in minor units.
    pub minor_units: i128,
}

/// The letters of one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateTotals {
    /// The state.
    pub state: LetterState,
    /// How many letters.
    pub letters: u64,
    /// Their money, by currency; letters without an amount are not in it.
    pub money: Vec<MoneyTotal>,
}

/// The letters that failed alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupTotals {
    /// The group.
    pub group: FailureGroup,
    /// Where their events came in.
    pub source: Option<SourceName>,
    /// Why they are dead letters.
    pub reason: LetterReason,
    /// What their messages have in common.
    pub message: String,
    /// The letter of the highest number, as an example.
    pub newest: DeadLetterId,
    /// How many letters.
    pub letters: u64,
    /// When the first of them was given up.
    pub first_seen: Timestamp,
    /// When the last of them was given up.
    pub last_seen: Timestamp,
    /// The same by state, for the states that there are.
    pub by_state: Vec<StateTotals>,
}
