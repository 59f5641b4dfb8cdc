//! Between rows and the domain.

use diesel::pg::data_types::PgTimestamp;
use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt, Text, Timestamptz};
use domain::Timestamp;

/// The columns of [`PaymentRow`](crate::outbound::payment_row::PaymentRow).
pub(super) type PaymentSql = (
    (Text, Text, Nullable<Text>, Text, BigInt),
    (Nullable<Text>, Nullable<Timestamptz>, Nullable<SmallInt>, Bool),
    (BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt),
);

/// An event with an effect, in `processed_events.outcome`.
pub(super) const OUTCOME_APPLIED: i16 = 1;
/// An event without one.
pub(super) const OUTCOME_RECORDED: i16 = 2;

/// 2000-01-01T00:00:00Z, from which PostgreSQL counts.
const POSTGRES_EPOCH_MICROS: i64 = 946_684_800_000_000;

/// 4713-01-01 before our era in the Julian calendar, the earliest moment that PostgreSQL takes.
const EARLIEST: PgTimestamp = PgTimestamp(-211_813_488_000_000_000);

/// A moment, as PostgreSQL has it; the earliest that it takes for one that is earlier.
pub(super) fn moment(timestamp: Timestamp) -> PgTimestamp {
    PgTimestamp(timestamp.as_micros().saturating_sub(POSTGRES_EPOCH_MICROS).max(EARLIEST.0))
}

/// A moment of PostgreSQL.
pub(super) fn timestamp(moment: PgTimestamp) -> Timestamp {
    Timestamp::from_micros(moment.0.saturating_add(POSTGRES_EPOCH_MICROS))
}

/// The place of an ordinal number, which PostgreSQL counts from 1.
pub(super) fn place(ordinal: i64) -> Option<usize> {
    usize::try_from(ordinal.checked_sub(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_counted_from_2000() {
        assert_eq!(moment(Timestamp::from_micros(POSTGRES_EPOCH_MICROS)), PgTimestamp(0));
        assert_eq!(timestamp(PgTimestamp(0)), Timestamp::from_micros(POSTGRES_EPOCH_MICROS));
    }

    #[test]
    fn a_moment_before_all_that_can_be_stored_is_the_earliest() {
        assert_eq!(moment(Timestamp::from_micros(i64::MIN)), EARLIEST);
    }

    #[test]
    fn places_are_counted_from_0() {
        assert_eq!((place(1), place(0), place(i64::MIN)), (Some(0), None, None));
    }
}
