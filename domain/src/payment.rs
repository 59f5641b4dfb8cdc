//! A payment, or a payout, as its events have made it.
//!
//! Everything in it only ever grows or is the later of two: so whatever order its events come in, the same
//! events make the same payment. What it is *called* ([`Payment::state`]) is derived from that.

use std::cmp::Ordering;

use crate::event::EventKey;
use crate::id::{EventId, MerchantId, PaymentId, SourceName};
use crate::ledger::{AccountKey, Position};
use crate::money::{Currency, Money};
use crate::timestamp::Timestamp;

/// The identity of a payment: a provider's id is unique only within its source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaymentKey {
    /// Where its events come in.
    pub source: SourceName,
    /// The provider's id.
    pub payment_id: PaymentId,
}

/// What a payment or payout is called, for people and programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaymentState {
    /// It exists.
    Created,
    /// The payer has to do something.
    RequiresAction,
    /// The provider is at work.
    Processing,
    /// The last attempt failed.
    Failed,
    /// Nobody will pay it any more.
    Canceled,
    /// Money is reserved, none of it captured.
    Authorised,
    /// Some of the authorised money was captured.
    PartlyCaptured,
    /// Paid.
    Succeeded,
    /// Some of it went back.
    PartlyRefunded,
    /// All of it went back.
    Refunded,
    /// A dispute is open.
    DisputeOpened,
    /// A dispute was won, and none is open or lost.
    DisputeWon,
    /// A dispute was lost, and none is open.
    DisputeLost,
    /// A payout is on its way.
    PayoutStarted,
    /// A payout has arrived.
    PayoutPaid,
    /// A payout failed.
    PayoutFailed,
    /// A payout was canceled.
    PayoutCanceled,
}

impl PaymentState {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Created,
        Self::RequiresAction,
        Self::Processing,
        Self::Failed,
        Self::Canceled,
        Self::Authorised,
        Self::PartlyCaptured,
        Self::Succeeded,
        Self::PartlyRefunded,
        Self::Refunded,
        Self::DisputeOpened,
        Self::DisputeWon,
        Self::DisputeLost,
        Self::PayoutStarted,
        Self::PayoutPaid,
        Self::PayoutFailed,
        Self::PayoutCanceled,
    ];

    /// The name under which it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::RequiresAction => "requires_action",
            Self::Processing => "processing",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Authorised => "authorised",
            Self::PartlyCaptured => "partly_captured",
            Self::Succeeded => "succeeded",
            Self::PartlyRefunded => "partly_refunded",
            Self::Refunded => "refunded",
            Self::DisputeOpened => "dispute_opened",
            Self::DisputeWon => "dispute_won",
            Self::DisputeLost => "dispute_lost",
            Self::PayoutStarted => "payout_started",
            Self::PayoutPaid => "payout_paid",
            Self::PayoutFailed => "payout_failed",
            Self::PayoutCanceled => "payout_canceled",
        }
    }

    /// The state of that stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// How far it has come. Reports before any money has moved are ordered by their moment, and of one moment by
/// this order; once money was captured, no such report matters. A payout's reports are ordered by this order
/// alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i16)]
pub enum Stage {
    /// See [`PaymentState::Created`].
    Created = 10,
    /// See [`PaymentState::RequiresAction`].
    RequiresAction = 20,
    /// See [`PaymentState::Processing`].
    Processing = 30,
    /// See [`PaymentState::Failed`].
    Failed = 40,
    /// See [`PaymentState::Authorised`].
    Authorised = 50,
    /// See [`PaymentState::Canceled`].
    Canceled = 60,
    /// Money was taken; what is called so from here on depends on how much.
    Captured = 100,
    /// See [`PaymentState::PayoutStarted`].
    PayoutStarted = 110,
    /// See [`PaymentState::PayoutPaid`].
    PayoutPaid = 120,
    /// See [`PaymentState::PayoutFailed`]: a payout that was said to be paid can still fail.
    PayoutFailed = 130,
    /// See [`PaymentState::PayoutCanceled`].
    PayoutCanceled = 140,
}

impl Stage {
    const ALL: [Self; 11] = [
        Self::Created,
        Self::RequiresAction,
        Self::Processing,
        Self::Failed,
        Self::Authorised,
        Self::Canceled,
        Self::Captured,
        Self::PayoutStarted,
        Self::PayoutPaid,
        Self::PayoutFailed,
        Self::PayoutCanceled,
    ];

    /// The number under which it is stored; a later stage has a higher one.
    pub const fn rank(self) -> i16 {
        self as i16
    }

    /// The stage of that number.
    pub fn from_rank(rank: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.rank() == rank)
    }
}

/// The latest report of how far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Standing {
    /// When, by the provider; the epoch where it does not say, so that the stage alone decides.
    pub at: Timestamp,
    /// How far.
    pub stage: Stage,
}

impl Standing {
    fn precedence(self) -> (bool, Timestamp, Stage) {
        (self.stage >= Stage::Captured, self.at, self.stage)
    }
}

impl PartialOrd for Standing {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Standing {
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence().cmp(&other.precedence())
    }
}

/// Sums over the facts, in minor units. They only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Totals {
    /// What may be captured; of a payout, its amount.
    pub authorised: i64,
    /// What was captured.
    pub captured: i64,
    /// What the provider kept.
    pub charged: i64,
    /// The refunds that were told one by one.
    pub refunded_singly: i64,
    /// The highest running total of refunds that was told.
    pub refunded_in_all: i64,
    /// The refunds that came back.
    pub refunds_failed: i64,
    /// The disputes that were opened.
    pub disputes_opened: i64,
    /// The disputes that were won.
    pub disputes_won: i64,
    /// The disputes that were lost.
    pub disputes_lost: i64,
}

/// A payment or payout as the events so far have made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Its identity.
    pub key: PaymentKey,
    /// Whose money it is, where the source has several accounts.
    pub merchant: Option<MerchantId>,
    /// Its currency; `None` until an event names an amount.
    pub currency: Option<Currency>,
    /// How far it has come; `None` where only money was reported.
    pub standing: Option<Standing>,
    /// What has moved.
    pub totals: Totals,
    /// The capture that is known is the only one that the payment can have.
    pub captures_closed: bool,
    /// The event that changed it last.
    pub last_event: EventId,
    /// How many events have changed it: 1 for a payment that has just been created.
    pub revision: i64,
}

impl Payment {
    /// A payment of which nothing is known yet.
    pub(crate) fn unheard_of(key: PaymentKey, merchant: Option<MerchantId>, event: &EventKey) -> Self {
        Self {
            key,
            merchant,
            currency: None,
            standing: None,
            totals: Totals::default(),
            captures_closed: false,
            last_event: event.event_id.clone(),
            revision: 0,
        }
    }

    /// What it is called.
    pub fn state(&self) -> PaymentState {
        let totals = &self.totals;
        let closed = totals.disputes_won.saturating_add(totals.disputes_lost);
        if totals.disputes_opened > closed {
            return PaymentState::DisputeOpened;
        }
        if totals.disputes_lost > 0 {
            return PaymentState::DisputeLost;
        }
        if totals.captured > 0 && self.refunded() >= totals.captured {
            return PaymentState::Refunded;
        }
        if self.refunded() > 0 {
            return PaymentState::PartlyRefunded;
        }
        if totals.disputes_won > 0 {
            return PaymentState::DisputeWon;
        }
        if self.captures_closed || (totals.captured > 0 && totals.captured >= totals.authorised) {
            return PaymentState::Succeeded;
        }
        if totals.captured > 0 {
            return PaymentState::PartlyCaptured;
        }
        self.standing.map_or(PaymentState::Created, |standing| standing.stage.into())
    }

    /// What has gone back to the payer and stayed there.
    pub fn refunded(&self) -> i64 {
        let told = self.totals.refunded_singly.max(self.totals.refunded_in_all);
        told.saturating_sub(self.totals.refunds_failed)
    }

    /// What banks have taken back and not returned.
    pub const fn disputed(&self) -> i64 {
        self.totals.disputes_opened.saturating_sub(self.totals.disputes_won)
    }

    /// The amount that it is about: what was captured, or else what was authorised, or paid out.
    pub fn amount(&self) -> Option<Money> {
        let minor_units =
            if self.totals.captured > 0 { self.totals.captured } else { self.totals.authorised };
        self.currency.map(|currency| Money::new(minor_units, currency))
    }

    /// Where its money stands. `None` when it does not fit 64 bits.
    pub fn position(&self) -> Option<Position> {
        let paid_out = match self.standing {
            Some(Standing { stage: Stage::PayoutPaid, .. }) => self.totals.authorised,
            _ => 0,
        };
        Position::of(self.totals.captured, self.refunded(), self.disputed(), self.totals.charged, paid_out)
    }

    /// Whose books its money is in.
    pub fn account(&self) -> AccountKey {
        AccountKey { source: self.key.source.clone(), merchant: self.merchant.clone() }
    }

    /// Whether it is a payout.
    pub fn is_payout(&self) -> bool {
        self.standing.is_some_and(|standing| standing.stage >= Stage::PayoutStarted)
    }
}

impl From<Stage> for PaymentState {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::Created => Self::Created,
            Stage::RequiresAction => Self::RequiresAction,
            Stage::Processing => Self::Processing,
            Stage::Failed => Self::Failed,
            Stage::Canceled => Self::Canceled,
            Stage::Authorised => Self::Authorised,
            Stage::Captured => Self::Succeeded,
            Stage::PayoutStarted => Self::PayoutStarted,
            Stage::PayoutPaid => Self::PayoutPaid,
            Stage::PayoutFailed => Self::PayoutFailed,
            Stage::PayoutCanceled => Self::PayoutCanceled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_found_by_its_name() {
        for state in PaymentState::ALL {
            assert_eq!(PaymentState::from_name(state.as_str()), Some(state));
        }
        assert_eq!(PaymentState::from_name("gone"), None);
    }

    #[test]
    fn a_stage_is_found_by_its_rank() {
        for stage in Stage::ALL {
            assert_eq!(Stage::from_rank(stage.rank()), Some(stage));
        }
        assert_eq!(Stage::from_rank(0), None);
    }
}
