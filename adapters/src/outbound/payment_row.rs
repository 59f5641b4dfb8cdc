//! A payment as both databases give it.

use application::ports::BoxError;
use application::ports::unit_of_work::StoreError;
use domain::{Currency, EventId, Money, Payment, PaymentId, PaymentKey, PaymentState, SourceName};

/// Source, payment id, state, minor units, currency, last event and revision.
pub(super) type PaymentRow = (String, String, String, i64, String, String, i64);

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
