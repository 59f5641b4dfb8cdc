//! What an event does to a payment.
//!
//! [`decide`] is the only place where a payment changes. It is pure: the use case loads the payment under a
//! lock, and what is known of the event's facts, asks, and saves the answer in the same transaction.

use crate::announcement::Announcement;
use crate::event::{Effect, NoEffect, PaymentChange, PaymentEvent};
use crate::fact::{Fact, FactKey, Progress};
use crate::id::PaymentId;
use crate::ledger::LedgerEntry;
use crate::money::{Currency, Money};
use crate::payment::{Payment, Stage, Standing};
use crate::timestamp::Timestamp;

/// What an event that is possible does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The payment becomes this, and this is to be kept with it.
    Apply(Box<Change>),
    /// Nothing changes, for this reason.
    Record(RecordReason),
    /// Nothing can be done before another event has come.
    NotReady(NotReady),
}

/// Everything that one event changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The payment as it is now.
    pub payment: Payment,
    /// The facts that were not known before, at least one.
    pub facts: Vec<EstablishedFact>,
    /// The ledger entries; they sum to zero.
    pub entries: Vec<LedgerEntry>,
    /// What is to be announced.
    pub announcements: Vec<Announcement>,
}

/// A fact that is known of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EstablishedFact {
    /// Which fact.
    pub key: FactKey,
    /// The amount that it names, where it names one.
    pub amount: Option<Money>,
}

/// Why an event had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordReason {
    /// Its kind does not change a payment.
    NoEffect,
    /// It is a hint that the provider has not confirmed.
    Unconfirmed,
    /// It belongs to the other mode, live or test, than its source.
    OtherMode,
    /// Another event has said the same before.
    FactAlreadyKnown,
    /// A later event has said otherwise before.
    Superseded,
}

impl RecordReason {
    /// The name under which it is stored, shown and counted.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoEffect => "no_effect",
            Self::Unconfirmed => "unconfirmed",
            Self::OtherMode => "other_mode",
            Self::FactAlreadyKnown => "fact_already_known",
            Self::Superseded => "superseded",
        }
    }
}

impl From<NoEffect> for RecordReason {
    fn from(reason: NoEffect) -> Self {
        match reason {
            NoEffect::Kind => Self::NoEffect,
            NoEffect::Unconfirmed => Self::Unconfirmed,
            NoEffect::OtherMode => Self::OtherMode,
        }
    }
}

/// What an event waits for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotReady {
    /// More was refunded than is known to be captured.
    #[error("payment {payment} has {refunded} refunded and only {captured} captured so far")]
    Capture {
        /// The payment.
        payment: PaymentId,
        /// What would be refunded.
        refunded: Money,
        /// What is captured.
        captured: Money,
    },
    /// A refund is said to have failed that was not told before.
    #[error("payment {payment} has a failed refund whose refund has not arrived")]
    Refund {
        /// The payment.
        payment: PaymentId,
    },
    /// A payment is disputed whose capture was not told before.
    #[error("payment {payment} is disputed and its capture has not arrived")]
    DisputedCapture {
        /// The payment.
        payment: PaymentId,
    },
    /// A dispute is said to be closed that was not opened.
    #[error("payment {payment} has a closed dispute whose opening has not arrived")]
    Dispute {
        /// The payment.
        payment: PaymentId,
    },
}

/// Why an event is impossible. It goes to the dead letters with this text, and changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The same fact is known with another amount.
    #[error("{fact} of payment {payment} is known with {stored}, but this event says {claimed}")]
    AmountMismatch {
        /// The payment.
        payment: PaymentId,
        /// The fact.
        fact: FactKey,
        /// The amount that is stored.
        stored: Money,
        /// The amount that the event names.
        claimed: Money,
    },
    /// Less than nothing.
    #[error("{fact} of payment {payment} cannot be {claimed}: the amount is negative")]
    NegativeAmount {
        /// The payment.
        payment: PaymentId,
        /// The fact.
        fact: FactKey,
        /// The amount that the event names.
        claimed: Money,
    },
    /// Another currency than the payment has.
    #[error("payment {payment} is in {stored}, but this event says {claimed}")]
    OtherCurrency {
        /// The payment.
        payment: PaymentId,
        /// The currency that is stored.
        stored: Currency,
        /// The currency that the event names.
        claimed: Currency,
    },
    /// Another merchant than the payment has.
    #[error("payment {payment} belongs to another account than this event says")]
    OtherMerchant {
        /// The payment.
        payment: PaymentId,
    },
    /// More than was captured.
    #[error("payment {payment} cannot have {refunded} refunded: only {captured} was captured")]
    RefundOverCaptured {
        /// The payment.
        payment: PaymentId,
        /// What would be refunded.
        refunded: Money,
        /// What is captured.
        captured: Money,
    },
    /// A payout's event over a payment, or the other way round.
    #[error("{payment} is a payment and a payout at once, by this event")]
    PaymentAndPayout {
        /// The payment.
        payment: PaymentId,
    },
    /// A sum does not fit.
    #[error("a sum over payment {payment} does not fit 64 bits of minor units")]
    Overflow {
        /// The payment.
        payment: PaymentId,
    },
}

/// What `event` does to `current`, which is the payment that it names, or `None` while there is none.
/// `known` tells the facts of that payment that were established before.
///
/// # Errors
/// The event is impossible for this payment.
pub fn decide(
    current: Option<&Payment>,
    known: impl Fn(&FactKey) -> Option<EstablishedFact>,
    event: &PaymentEvent,
) -> Result<Decision, Refusal> {
    let (change, key) = match (&event.effect, event.payment_key()) {
        (Effect::Change(change), Some(key)) => (change, key),
        (Effect::Nothing(reason), _) => return Ok(Decision::Record((*reason).into())),
        (Effect::Change(_), None) => return Ok(Decision::Record(RecordReason::NoEffect)),
    };
    let before = match current {
        Some(payment) => payment.clone(),
        None => Payment::unheard_of(key, change.merchant.clone(), &event.key),
    };
    let mut draft =
        Draft { payment: before.clone(), facts: Vec::new(), announcements: Vec::new(), superseded: false };
    draft.check_owner(change)?;
    for fact in &change.facts {
        draft.add(fact, &known, event)?;
    }
    if draft.facts.is_empty() {
        let reason = if draft.superseded { RecordReason::Superseded } else { RecordReason::FactAlreadyKnown };
        return Ok(Decision::Record(reason));
    }
    if let Some(waits_for) = draft.waits_for()? {
        return Ok(Decision::NotReady(waits_for));
    }
    draft.finish(&before, event)
}

/// A payment while an event's facts are added to it.
struct Draft {
    payment: Payment,
    facts: Vec<EstablishedFact>,
    announcements: Vec<Announcement>,
    superseded: bool,
}

impl Draft {
    fn id(&self) -> PaymentId {
        self.payment.key.payment_id.clone()
    }

    fn check_owner(&self, change: &PaymentChange) -> Result<(), Refusal> {
        if self.payment.merchant == change.merchant {
            return Ok(());
        }
        Err(Refusal::OtherMerchant { payment: self.id() })
    }

    fn add(
        &mut self,
        fact: &Fact,
        known: &impl Fn(&FactKey) -> Option<EstablishedFact>,
        event: &PaymentEvent,
    ) -> Result<(), Refusal> {
        let key = fact.key(event.occurred_at);
        self.check_amount(fact, &key)?;
        if let Some(established) = known(&key) {
            return self.check_same(fact, key, &established);
        }
        if fact.is_payout() != self.payment.is_payout() && self.payment.revision > 0 {
            return Err(Refusal::PaymentAndPayout { payment: self.id() });
        }
        if !self.reach(fact, event.occurred_at) {
            self.superseded = true;
            return Ok(());
        }
        self.sum_up(fact)?;
        if let Some(kind) = fact.announced_as() {
            self.announcements.push(Announcement {
                kind,
                payment: self.payment.key.clone(),
                account: self.payment.account(),
                fact: key.clone(),
                amount: fact.amount(),
                at: event.occurred_at.unwrap_or(event.received_at),
            });
        }
        self.facts.push(EstablishedFact { key, amount: fact.amount() });
        Ok(())
    }

    fn check_amount(&mut self, fact: &Fact, key: &FactKey) -> Result<(), Refusal> {
        let Some(amount) = fact.amount() else { return Ok(()) };
        if amount.minor_units() < 0 {
            return Err(Refusal::NegativeAmount { payment: self.id(), fact: key.clone(), claimed: amount });
        }
        match self.payment.currency {
            Some(stored) if stored != amount.currency() => {
                Err(Refusal::OtherCurrency { payment: self.id(), stored, claimed: amount.currency() })
            }
            _ => {
                self.payment.currency = Some(amount.currency());
                Ok(())
            }
        }
    }

    fn check_same(&self, fact: &Fact, key: FactKey, established: &EstablishedFact) -> Result<(), Refusal> {
        match (established.amount, fact.amount()) {
            (Some(stored), Some(claimed)) if stored != claimed => {
                Err(Refusal::AmountMismatch { payment: self.id(), fact: key, stored, claimed })
            }
            _ => Ok(()),
        }
    }

    /// Moves the standing forward. `false` when the fact says nothing but a standing that is behind.
    fn reach(&mut self, fact: &Fact, at: Option<Timestamp>) -> bool {
        let Some(stage) = stage_of(fact) else { return true };
        let at = if fact.is_payout() { None } else { at };
        let standing = Standing { at: at.unwrap_or(Timestamp::from_micros(0)), stage };
        let ahead = self.payment.standing.is_none_or(|current| standing > current);
        if ahead {
            self.payment.standing = Some(standing);
        }
        ahead || !matches!(fact, Fact::Progressed { .. })
    }

    fn sum_up(&mut self, fact: &Fact) -> Result<(), Refusal> {
        let payment = self.id();
        let overflow = || Refusal::Overflow { payment: payment.clone() };
        let totals = &mut self.payment.totals;
        let add = |sum: &mut i64, amount: Money| {
            *sum = sum.checked_add(amount.minor_units()).ok_or_else(overflow)?;
            Ok::<(), Refusal>(())
        };
        match *fact {
            Fact::Progressed { .. } | Fact::Failed { .. } | Fact::Canceled => Ok(()),
            Fact::Authorised { amount } => add(&mut totals.authorised, amount),
            Fact::Captured { amount, last, .. } => {
                self.payment.captures_closed |= last;
                add(&mut totals.captured, amount)
            }
            Fact::Charged { amount, .. } => add(&mut totals.charged, amount),
            Fact::Refunded { amount, .. } => add(&mut totals.refunded_singly, amount),
            Fact::RefundedInAll { total } => {
                totals.refunded_in_all = totals.refunded_in_all.max(total.minor_units());
                Ok(())
            }
            Fact::RefundFailed { amount, .. } => add(&mut totals.refunds_failed, amount),
            Fact::DisputeOpened { amount, .. } => add(&mut totals.disputes_opened, amount),
            Fact::DisputeWon { amount, .. } => add(&mut totals.disputes_won, amount),
            Fact::DisputeLost { amount, .. } => add(&mut totals.disputes_lost, amount),
            Fact::PayoutStarted { amount }
            | Fact::PayoutPaid { amount }
            | Fact::PayoutFailed { amount }
            | Fact::PayoutCanceled { amount } => self.same_payout(fact, amount),
        }
    }

    /// A payout has one amount, whichever of its events names it.
    fn same_payout(&mut self, fact: &Fact, claimed: Money) -> Result<(), Refusal> {
        let stored = Money::new(self.payment.totals.authorised, claimed.currency());
        if self.payment.revision > 0 && stored != claimed {
            return Err(Refusal::AmountMismatch {
                payment: self.id(),
                fact: fact.key(None),
                stored,
                claimed,
            });
        }
        self.payment.totals.authorised = claimed.minor_units();
        Ok(())
    }

    fn waits_for(&self) -> Result<Option<NotReady>, Refusal> {
        let (payment, totals) = (self.id(), &self.payment.totals);
        let Some(currency) = self.payment.currency else { return Ok(None) };
        if totals.refunds_failed > totals.refunded_singly.max(totals.refunded_in_all) {
            return Ok(Some(NotReady::Refund { payment }));
        }
        let closed = totals
            .disputes_won
            .checked_add(totals.disputes_lost)
            .ok_or_else(|| Refusal::Overflow { payment: payment.clone() })?;
        if closed > totals.disputes_opened {
            return Ok(Some(NotReady::Dispute { payment }));
        }
        if totals.disputes_opened > 0 && totals.captured == 0 {
            return Ok(Some(NotReady::DisputedCapture { payment }));
        }
        if self.payment.refunded() <= totals.captured {
            return Ok(None);
        }
        let refunded = Money::new(self.payment.refunded(), currency);
        let captured = Money::new(totals.captured, currency);
        if self.payment.captures_closed {
            return Err(Refusal::RefundOverCaptured { payment, refunded, captured });
        }
        Ok(Some(NotReady::Capture { payment, refunded, captured }))
    }

    fn finish(mut self, before: &Payment, event: &PaymentEvent) -> Result<Decision, Refusal> {
        let overflow = || Refusal::Overflow { payment: before.key.payment_id.clone() };
        let moves = match self.payment.currency {
            Some(currency) => {
                let (from, to) =
                    (before.position().ok_or_else(overflow)?, self.payment.position().ok_or_else(overflow)?);
                to.moves_from(from, currency).ok_or_else(overflow)?
            }
            None => Vec::new(),
        };
        let account = self.payment.account();
        let entries = moves
            .into_iter()
            .map(|(ledger, amount)| LedgerEntry {
                event: event.key.clone(),
                payment: self.payment.key.clone(),
                account: account.clone(),
                ledger,
                amount,
            })
            .collect();
        self.payment.last_event = event.key.event_id.clone();
        self.payment.revision = before.revision.checked_add(1).ok_or_else(overflow)?;
        Ok(Decision::Apply(Box::new(Change {
            payment: self.payment,
            facts: self.facts,
            entries,
            announcements: self.announcements,
        })))
    }
}

const fn stage_of(fact: &Fact) -> Option<Stage> {
    match fact {
        Fact::Progressed { progress: Progress::Created } => Some(Stage::Created),
        Fact::Progressed { progress: Progress::RequiresAction } => Some(Stage::RequiresAction),
        Fact::Progressed { progress: Progress::Processing } => Some(Stage::Processing),
        Fact::Failed { .. } => Some(Stage::Failed),
        Fact::Canceled => Some(Stage::Canceled),
        Fact::Authorised { .. } => Some(Stage::Authorised),
        Fact::Captured { .. } => Some(Stage::Captured),
        Fact::PayoutStarted { .. } => Some(Stage::PayoutStarted),
        Fact::PayoutPaid { .. } => Some(Stage::PayoutPaid),
        Fact::PayoutFailed { .. } => Some(Stage::PayoutFailed),
        Fact::PayoutCanceled { .. } => Some(Stage::PayoutCanceled),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
