//! Between rows and the domain.

use diesel::pg::data_types::PgTimestamp;
use domain::Timestamp;

/// An event with an effect, in `processed_events.outcome`.
pub(super) const OUTCOME_APPLIED: i16 = 1;
/// An event without one.
pub(super) const OUTCOME_RECORDED: i16 = 2;

/// 2000-01-01T00:00:00Z, from which PostgreSQL counts.
const POSTGRES_EPOCH_MICROS: i64 = 946_684_800_000_000;

/// A moment, as PostgreSQL has it.
pub(super) fn moment(timestamp: Timestamp) -> PgTimestamp {
    PgTimestamp(timestamp.as_micros().saturating_sub(POSTGRES_EPOCH_MICROS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_counted_from_2000() {
        assert_eq!(moment(Timestamp::from_micros(POSTGRES_EPOCH_MICROS)), PgTimestamp(0));
        assert_eq!(moment(Timestamp::from_micros(i64::MIN)), PgTimestamp(i64::MIN));
    }
}
