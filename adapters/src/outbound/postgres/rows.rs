//! Between rows and the domain.

use application::ports::BoxError;
use application::ports::unit_of_work::StoreError;
use diesel::pg::data_types::PgTimestamp;
use domain::{Currency, EventId, Money, Payment, PaymentId, PaymentKey, PaymentState, SourceName, Timestamp};

/// An event with an effect, in `processed_events.outcome`.
pub(super) const OUTCOME_APPLIED: i16 = 1;
/// An event without one.
pub(super) const OUTCOME_RECORDED: i16 = 2;

/// 2000-01-01T00:00:00Z, from which PostgreSQL counts.
const POSTGRES_EPOCH_MICROS: i64 = 946_684_800_000_000;

/// Source, payment id, state, minor units, currency, last event and revision.
pub(super) type PaymentRow = (String, String, String, i64, String, String, i64);

/// A moment, as PostgreSQL has it.
pub(super) fn moment(timestamp: Timestamp) -> PgTimestamp {
    PgTimestamp(timestamp.as_micros().saturating_sub(POSTGRES_EPOCH_MICROS))
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
    fn a_moment_is_counted_from_2000() {
        assert_eq!(moment(Timestamp::from_micros(POSTGRES_EPOCH_MICROS)), PgTimestamp(0));
        assert_eq!(moment(Timestamp::from_micros(i64::MIN)), PgTimestamp(i64::MIN));
    }

    #[test]
    fn a_row_of_an_unknown_state_is_not_read() {
        let row = ["payment", "pi_1", "gone", "USD", "evt_1"].map(str::to_owned);
        let [source, id, state, currency, event] = row;
        assert!(matches!(payment((source, id, state, 1, currency, event, 1)), Err(StoreError::Transient(_))));
    }
}
