//! What an event says about a payment or a payout.
//!
//! A fact is identified within its payment by its [`FactKey`], whichever event tells of it: two events for
//! one change carry one fact, which has one effect.

use std::fmt;

use crate::id::FactId;
use crate::money::Money;
use crate::timestamp::Timestamp;

/// The [`FactId`] text for a payment that can be captured once only.
pub const SINGLE: &str = "single";

/// How far a payment that is not paid has come, as its provider reports it. In the order in which two
/// reports of the same moment are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Progress {
    /// It exists.
    Created,
    /// The payer has to do something.
    RequiresAction,
    /// The provider is at work.
    Processing,
}

impl Progress {
    /// The name under which it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::RequiresAction => "requires_action",
            Self::Processing => "processing",
        }
    }
}

/// One thing that became true of a payment or a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// The payment has come this far. A later report replaces it; an earlier one that comes late does nothing.
    Progressed {
        /// How far.
        progress: Progress,
    },
    /// An attempt to pay has failed. Another attempt may still succeed.
    Failed {
        /// Which attempt.
        attempt: FactId,
    },
    /// Nobody will pay it any more.
    Canceled,
    /// This much may be captured.
    Authorised {
        /// How much.
        amount: Money,
    },
    /// Money was taken from the payer.
    Captured {
        /// Which capture; [`SINGLE`] where there can be one only.
        capture: FactId,
        /// How much, in this capture.
        amount: Money,
        /// It is the only capture that the payment can have, so what it names is the whole payment.
        last: bool,
    },
    /// The provider kept this much of the payment.
    Charged {
        /// Which fee: usually the capture's id.
        fee: FactId,
        /// How much.
        amount: Money,
    },
    /// Money went back, or is on its way back, to the payer.
    Refunded {
        /// Which refund.
        refund: FactId,
        /// How much, in this refund.
        amount: Money,
    },
    /// So much has been refunded in all, as a provider says that does not tell which refund it was.
    RefundedInAll {
        /// How much in all.
        total: Money,
    },
    /// A refund that was told before did not reach the payer; the money is back.
    RefundFailed {
        /// Which refund.
        refund: FactId,
        /// How much, in this refund.
        amount: Money,
    },
    /// The payer's bank took money back.
    DisputeOpened {
        /// Which dispute.
        dispute: FactId,
        /// How much is disputed.
        amount: Money,
    },
    /// A dispute ended for the merchant: the money is back.
    DisputeWon {
        /// Which dispute.
        dispute: FactId,
        /// How much came back.
        amount: Money,
    },
    /// A dispute ended for the payer: the money is gone.
    DisputeLost {
        /// Which dispute.
        dispute: FactId,
        /// How much is gone.
        amount: Money,
    },
    /// A payout is on its way to the merchant's bank.
    PayoutStarted {
        /// How much.
        amount: Money,
    },
    /// A payout has reached the merchant's bank.
    PayoutPaid {
        /// How much.
        amount: Money,
    },
    /// A payout failed, perhaps after it was said to be paid; the money stays at the provider.
    PayoutFailed {
        /// How much.
        amount: Money,
    },
    /// A payout was canceled.
    PayoutCanceled {
        /// How much.
        amount: Money,
    },
}

impl Fact {
    /// The fact's identity within its payment. `at` is when it became true, as the provider says.
    pub fn key(&self, at: Option<Timestamp>) -> FactKey {
        let text = match self {
            Self::Progressed { progress } => {
                format!("progress:{}:{}", progress.as_str(), at.map_or(0, Timestamp::as_micros))
            }
            Self::Failed { attempt } => format!("failed:{attempt}"),
            Self::Canceled => "canceled".to_owned(),
            Self::Authorised { .. } => "authorised".to_owned(),
            Self::Captured { capture, .. } => format!("captured:{capture}"),
            Self::Charged { fee, .. } => format!("charged:{fee}"),
            Self::Refunded { refund, .. } => format!("refunded:{refund}"),
            Self::RefundedInAll { total } => format!("refunded_in_all:{}", total.minor_units()),
            Self::RefundFailed { refund, .. } => format!("refund_failed:{refund}"),
            Self::DisputeOpened { dispute, .. } => format!("dispute_opened:{dispute}"),
            Self::DisputeWon { dispute, .. } => format!("dispute_won:{dispute}"),
            Self::DisputeLost { dispute, .. } => format!("dispute_lost:{dispute}"),
            Self::PayoutStarted { .. } => "payout_started".to_owned(),
            Self::PayoutPaid { .. } => "payout_paid".to_owned(),
            Self::PayoutFailed { .. } => "payout_failed".to_owned(),
            Self::PayoutCanceled { .. } => "payout_canceled".to_owned(),
        };
        FactKey(text)
    }

    /// The amount that it names, where it names one.
    pub const fn amount(&self) -> Option<Money> {
        match self {
            Self::Progressed { .. } | Self::Failed { .. } | Self::Canceled => None,
            Self::Authorised { amount }
            | Self::Captured { amount, .. }
            | Self::Charged { amount, .. }
            | Self::Refunded { amount, .. }
            | Self::RefundedInAll { total: amount }
            | Self::RefundFailed { amount, .. }
            | Self::DisputeOpened { amount, .. }
            | Self::DisputeWon { amount, .. }
            | Self::DisputeLost { amount, .. }
            | Self::PayoutStarted { amount }
            | Self::PayoutPaid { amount }
            | Self::PayoutFailed { amount }
            | Self::PayoutCanceled { amount } => Some(*amount),
        }
    }

    /// Whether it is about a payout rather than a payment.
    pub const fn is_payout(&self) -> bool {
        matches!(
            self,
            Self::PayoutStarted { .. }
                | Self::PayoutPaid { .. }
                | Self::PayoutFailed { .. }
                | Self::PayoutCanceled { .. }
        )
    }

    /// What the rest of the company hears of it, such as `payment.succeeded`; `None` for what is on its way
    /// only. The names never change.
    pub const fn announced_as(&self) -> Option<&'static str> {
        match self {
            Self::Progressed { .. } | Self::Charged { .. } => None,
            Self::Failed { .. } => Some("payment.failed"),
            Self::Canceled => Some("payment.canceled"),
            Self::Authorised { .. } => Some("payment.authorised"),
            Self::Captured { last: true, .. } => Some("payment.succeeded"),
            Self::Captured { last: false, .. } => Some("payment.captured"),
            Self::Refunded { .. } => Some("payment.refunded"),
            Self::RefundedInAll { .. } => Some("payment.refund_total"),
            Self::RefundFailed { .. } => Some("payment.refund_failed"),
            Self::DisputeOpened { .. } => Some("payment.dispute_opened"),
            Self::DisputeWon { .. } => Some("payment.dispute_won"),
            Self::DisputeLost { .. } => Some("payment.dispute_lost"),
            Self::PayoutStarted { .. } => Some("payout.started"),
            Self::PayoutPaid { .. } => Some("payout.paid"),
            Self::PayoutFailed { .. } => Some("payout.failed"),
            Self::PayoutCanceled { .. } => Some("payout.canceled"),
        }
    }
}

/// A fact's identity within its payment. As long as an id may be, and the name of its kind before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactKey(String);

impl FactKey {
    /// The text under which it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// From the stored text.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for FactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
