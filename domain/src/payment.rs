//! A payment and what an event does to it.
//!
//! [`decide`] is the only place where a payment changes. It is pure: the use case loads the payment under a
//! lock, asks, and saves the answer in the same transaction.

use crate::event::{Fact, PaymentEvent};
use crate::id::{EventId, PaymentId, SourceName};
use crate::money::Money;

/// The identity of a payment: a provider's id is unique only within its source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaymentKey {
    /// Where its events come in.
    pub source: SourceName,
    /// The provider's id.
    pub payment_id: PaymentId,
}

/// How far a payment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaymentState {
    /// Paid in full.
    Succeeded,
}

impl PaymentState {
    /// The name under which it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
        }
    }

    /// The state of that stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "succeeded" => Some(Self::Succeeded),
            _ => None,
        }
    }
}

/// A payment as the events so far have made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Its identity.
    pub key: PaymentKey,
    /// How far it has come.
    pub state: PaymentState,
    /// What was paid.
    pub amount: Money,
    /// The event that changed it last.
    pub last_event: EventId,
    /// How many events have changed it: 1 for a payment that has just been created.
    pub revision: i64,
}

/// What an event that is possible does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The payment becomes this.
    Apply(Payment),
    /// Nothing changes, for this reason.
    Record(RecordReason),
}

/// Why an event had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordReason {
    /// Its kind does not change a payment.
    NoEffect,
    /// Another event has said the same before.
    FactAlreadyKnown,
}

impl RecordReason {
    /// The name under which it is stored, shown and counted.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoEffect => "no_effect",
            Self::FactAlreadyKnown => "fact_already_known",
        }
    }
}

/// Why an event is impossible. It goes to the dead letters with this text, and changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The payment has succeeded with another amount.
    #[error("payment {payment} has succeeded with {stored}, but this event says {claimed}")]
    AmountMismatch {
        /// The payment.
        payment: PaymentId,
        /// The amount that is stored.
        stored: Money,
        /// The amount that the event names.
        claimed: Money,
    },
    /// A payment of less than nothing.
    #[error("payment {payment} cannot succeed with {claimed}: the amount is negative")]
    NegativeAmount {
        /// The payment.
        payment: PaymentId,
        /// The amount that the event names.
        claimed: Money,
    },
}

/// What `event` does to `current`, which is the payment that it names, or `None` while there is none.
///
/// # Errors
/// The event is impossible for this payment.
pub fn decide(current: Option<&Payment>, event: &PaymentEvent) -> Result<Decision, Refusal> {
    let (Some(change), Some(key)) = (&event.change, event.payment_key()) else {
        return Ok(Decision::Record(RecordReason::NoEffect));
    };
    match change.fact {
        Fact::Succeeded { amount } => succeed(current, key, amount, event),
    }
}

fn succeed(
    current: Option<&Payment>,
    key: PaymentKey,
    amount: Money,
    event: &PaymentEvent,
) -> Result<Decision, Refusal> {
    if amount.minor_units() < 0 {
        return Err(Refusal::NegativeAmount { payment: key.payment_id, claimed: amount });
    }
    match current {
        None => Ok(Decision::Apply(Payment {
            key,
            state: PaymentState::Succeeded,
            amount,
            last_event: event.key.event_id.clone(),
            revision: 1,
        })),
        Some(payment) if payment.amount == amount => Ok(Decision::Record(RecordReason::FactAlreadyKnown)),
        Some(payment) => {
            Err(Refusal::AmountMismatch { payment: key.payment_id, stored: payment.amount, claimed: amount })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EventKey, PaymentChange};
    use crate::id::EventKind;
    use crate::money::Currency;
    use crate::timestamp::Timestamp;

    fn event(id: &str, minor_units: i64) -> PaymentEvent {
        let amount = Money::new(minor_units, Currency::parse("USD").unwrap());
        PaymentEvent {
            key: EventKey {
                source: SourceName::parse("payment").unwrap(),
                event_id: EventId::parse(id).unwrap(),
            },
            kind: EventKind::parse("payment_intent.succeeded").unwrap(),
            change: Some(PaymentChange {
                payment: PaymentId::parse("pi_1").unwrap(),
                fact: Fact::Succeeded { amount },
            }),
            received_at: Timestamp::from_micros(0),
        }
    }

    fn applied(current: Option<&Payment>, event: &PaymentEvent) -> Payment {
        match decide(current, event) {
            Ok(Decision::Apply(payment)) => payment,
            other => panic!("not applied: {other:?}"),
        }
    }

    #[test]
    fn a_succeeded_event_creates_the_payment() {
        let payment = applied(None, &event("evt_1", 4999));
        assert_eq!(payment.state, PaymentState::Succeeded);
        assert_eq!(payment.amount.minor_units(), 4999);
        assert_eq!(payment.last_event.as_str(), "evt_1");
        assert_eq!(payment.revision, 1);
    }

    #[test]
    fn a_second_event_for_the_same_fact_has_no_effect() {
        let payment = applied(None, &event("evt_1", 4999));
        assert_eq!(
            decide(Some(&payment), &event("evt_2", 4999)),
            Ok(Decision::Record(RecordReason::FactAlreadyKnown))
        );
    }

    #[test]
    fn a_second_event_with_another_amount_is_impossible() {
        let payment = applied(None, &event("evt_1", 4999));
        assert!(matches!(decide(Some(&payment), &event("evt_2", 5000)), Err(Refusal::AmountMismatch { .. })));
    }

    #[test]
    fn a_negative_amount_is_impossible_and_zero_is_not() {
        assert!(matches!(decide(None, &event("evt_1", -1)), Err(Refusal::NegativeAmount { .. })));
        assert_eq!(applied(None, &event("evt_1", 0)).amount.minor_units(), 0);
    }

    #[test]
    fn a_kind_without_effect_is_recorded() {
        let event = PaymentEvent { change: None, ..event("evt_1", 1) };
        assert_eq!(decide(None, &event), Ok(Decision::Record(RecordReason::NoEffect)));
    }

    #[test]
    fn a_state_is_found_by_its_name() {
        let state = PaymentState::Succeeded;
        assert_eq!(PaymentState::from_name(state.as_str()), Some(state));
        assert_eq!(PaymentState::from_name("gone"), None);
    }
}
