//! What a sender's kinds can mean here.

use domain::{Fact, FactId, Money, Progress};

/// What a kind means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing about money yet.
    Progressed(Progress),
    /// An attempt has failed.
    Failed,
    /// Nobody will pay it any more.
    Canceled,
    /// Money is reserved.
    Authorised,
    /// The only capture of a payment.
    Captured,
    /// One capture of several.
    CapturedPartly,
    /// Money goes back.
    Refunded,
    /// Money that went back has come back.
    RefundFailed,
    /// The payer's bank takes money.
    DisputeOpened,
    /// The money is back.
    DisputeWon,
    /// The money is gone.
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

/// Every meaning, by its name in the configuration.
pub const MEANINGS: &[(&str, Meaning)] = &[
    ("created", Meaning::Progressed(Progress::Created)),
    ("requires_action", Meaning::Progressed(Progress::RequiresAction)),
    ("processing", Meaning::Progressed(Progress::Processing)),
    ("failed", Meaning::Failed),
    ("canceled", Meaning::Canceled),
    ("authorised", Meaning::Authorised),
    ("captured", Meaning::Captured),
    ("captured_partly", Meaning::CapturedPartly),
    ("refunded", Meaning::Refunded),
    ("refund_failed", Meaning::RefundFailed),
    ("dispute_opened", Meaning::DisputeOpened),
    ("dispute_won", Meaning::DisputeWon),
    ("dispute_lost", Meaning::DisputeLost),
    ("payout_started", Meaning::PayoutStarted),
    ("payout_paid", Meaning::PayoutPaid),
    ("payout_failed", Meaning::PayoutFailed),
    ("payout_canceled", Meaning::PayoutCanceled),
];

/// Which option tells a change apart from the others of its payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `capture`
    Capture,
    /// `refund`
    Refund,
    /// `dispute`
    Dispute,
}

impl Part {
    /// The option.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Refund => "refund",
            Self::Dispute => "dispute",
        }
    }
}

impl Meaning {
    /// Whether it needs an amount.
    pub const fn has_amount(self) -> bool {
        !matches!(self, Self::Progressed(_) | Self::Failed | Self::Canceled)
    }

    /// What tells it apart, where there can be several of a payment.
    pub const fn part(self) -> Option<Part> {
        match self {
            Self::CapturedPartly => Some(Part::Capture),
            Self::Refunded | Self::RefundFailed => Some(Part::Refund),
            Self::DisputeOpened | Self::DisputeWon | Self::DisputeLost => Some(Part::Dispute),
            _ => None,
        }
    }

    /// The facts. `id` is the part's id, or what stands for it: the payment's for a failure, the single
    /// capture for a capture; `amount` is there where [`Self::has_amount`], or there is no fact.
    ///
    /// The end of a dispute says that it was opened, too, and a failed refund that it was one: either may be
    /// the first that we hear of it.
    pub fn facts(self, id: FactId, amount: Option<Money>) -> Option<Vec<Fact>> {
        let before = match self {
            Self::RefundFailed => Self::Refunded.fact(id.clone(), amount),
            Self::DisputeWon | Self::DisputeLost => Self::DisputeOpened.fact(id.clone(), amount),
            _ => None,
        };
        let fact = self.fact(id, amount)?;
        Some(before.into_iter().chain([fact]).collect())
    }

    fn fact(self, id: FactId, amount: Option<Money>) -> Option<Fact> {
        Some(match self {
            Self::Progressed(progress) => Fact::Progressed { progress },
            Self::Failed => Fact::Failed { attempt: id },
            Self::Canceled => Fact::Canceled,
            Self::Authorised => Fact::Authorised { amount: amount? },
            Self::Captured => Fact::Captured { capture: id, amount: amount?, last: true },
            Self::CapturedPartly => Fact::Captured { capture: id, amount: amount?, last: false },
            Self::Refunded => Fact::Refunded { refund: id, amount: amount? },
            Self::RefundFailed => Fact::RefundFailed { refund: id, amount: amount? },
            Self::DisputeOpened => Fact::DisputeOpened { dispute: id, amount: amount? },
            Self::DisputeWon => Fact::DisputeWon { dispute: id, amount: amount? },
            Self::DisputeLost => Fact::DisputeLost { dispute: id, amount: amount? },
            Self::PayoutStarted => Fact::PayoutStarted { amount: amount? },
            Self::PayoutPaid => Fact::PayoutPaid { amount: amount? },
            Self::PayoutFailed => Fact::PayoutFailed { amount: amount? },
            Self::PayoutCanceled => Fact::PayoutCanceled { amount: amount? },
        })
    }
}
