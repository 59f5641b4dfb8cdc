//! Between rows and the domain.

use application::ports::unit_of_work::RecordedEvent;
use domain::{ConsumerName, Currency, Payment, PaymentEvent, PaymentKey};

use super::statements::{KnownEvent, KnownPayment, NewEvent, PaymentNow, Unapplied};

/// An event with an effect, in `processed_events.outcome`.
const OUTCOME_APPLIED: i64 = 1;
/// An event without one.
const OUTCOME_RECORDED: i64 = 2;

/// A claimed event as a row; `fingerprint` is its own.
pub(super) fn new_event<'a>(
    consumer: &'a ConsumerName,
    event: &'a PaymentEvent,
    fingerprint: &'a [u8],
) -> NewEvent<'a> {
    NewEvent {
        event_id: event.key.event_id.as_str(),
        source: event.key.source.as_str(),
        consumer: consumer.as_str(),
        fingerprint,
        outcome: if event.change.is_some() { OUTCOME_APPLIED } else { OUTCOME_RECORDED },
        payment_id: event.change.as_ref().map(|change| change.payment.as_str()),
        received_at: event.received_at.as_micros(),
    }
}

/// The key of an event as a row.
pub(super) fn known_event<'a>(consumer: &'a ConsumerName, event: &'a PaymentEvent) -> KnownEvent<'a> {
    KnownEvent {
        event_id: event.key.event_id.as_str(),
        source: event.key.source.as_str(),
        consumer: consumer.as_str(),
    }
}

/// An event without effect as a row.
pub(super) fn unapplied<'a>(consumer: &'a ConsumerName, recorded: &'a RecordedEvent) -> Unapplied<'a> {
    Unapplied {
        event_id: recorded.event.key.event_id.as_str(),
        source: recorded.event.key.source.as_str(),
        consumer: consumer.as_str(),
        kind: recorded.event.kind.as_str(),
        reason: recorded.reason.as_str(),
        payload: &recorded.payload,
    }
}

/// The key of a payment as a row.
pub(super) fn known_payment(key: &PaymentKey) -> KnownPayment<'_> {
    KnownPayment { source: key.source.as_str(), payment_id: key.payment_id.as_str() }
}

/// A payment as a row; `currency` is its own.
pub(super) fn payment_now<'a>(payment: &'a Payment, currency: &'a Currency) -> PaymentNow<'a> {
    PaymentNow {
        source: payment.key.source.as_str(),
        payment_id: payment.key.payment_id.as_str(),
        state: payment.state.as_str(),
        amount_minor: payment.amount.minor_units(),
        currency: currency.code(),
        last_event_id: payment.last_event.as_str(),
        revision: payment.revision,
    }
}
