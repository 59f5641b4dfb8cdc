//! Between rows and the domain.

use application::ports::BoxError;
use application::ports::unit_of_work::{RecordedEvent, StoreError};
use domain::{
    ConsumerName, Currency, EventId, Money, Payment, PaymentEvent, PaymentId, PaymentKey, PaymentState,
    SourceName,
};

use super::statements::{KnownEvent, KnownPayment, NewEvent, PaymentNow, Unapplied};

/// An event with an effect, in `processed_events.outcome`.
const OUTCOME_APPLIED: i64 = 1;
/// An event without one.
const OUTCOME_RECORDED: i64 = 2;

/// Source, payment id, state, minor units, currency, last event and revision.
pub(super) type PaymentRow = (String, String, String, i64, String, String, i64);

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

/// The payment of a row. A row that this release cannot read may have been written by a newer one, so another
/// worker may do better: that is transient.
pub(super) fn payment(row: PaymentRow) -> Result<Payment, StoreError> {
    let name = format!("{}/{}", row.0, row.1);
    read(row).map_err(|error| StoreError::Transient(format!("cannot read payment {name}: {error}").into()))
}

fn read(
    (source, payment_id, state, minor, currency, last_event, revision): PaymentRow,
) -> Result<Payment, BoxError> {
    Ok(Payment {
        key: PaymentKey { source: SourceName::parse(&source)?, payment_id: PaymentId::parse(&payment_id)? },
        state: PaymentState::from_name(&state).ok_or_else(|| format!("unknown state {state:?}"))?,
        amount: Money::new(minor, Currency::parse(&currency)?),
        last_event: EventId::parse(&last_event)?,
        revision,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_an_unknown_state_is_not_read() {
        let row = ["payment", "pi_1", "gone", "USD", "evt_1"].map(str::to_owned);
        let [source, id, state, currency, event] = row;
        assert!(matches!(payment((source, id, state, 1, currency, event, 1)), Err(StoreError::Transient(_))));
    }
}
