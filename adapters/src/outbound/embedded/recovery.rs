//! Finds the event that kills the process.
//!
//! Whatever was in hand when the process ended without a word is counted. After a few times it is handed out
//! alone, so that only the culprit goes on being counted, and at the limit it becomes a dead letter.

use application::ports::BoxError;
use diesel::dsl::update;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl, SqliteConnection};
use domain::Timestamp;

use super::rows::read_history;
use super::schema::events;
use super::settling::{Onward, Step, apply};

/// How often the process may end with an event in hand before the event is taken for the cause. Events that
/// merely fail never get here: their attempts are counted apart.
pub const UNCLEAN_STOPS_MAX: i64 = 20;

/// From this count on an event is handed out alone, with nothing else in hand.
pub const ALONE_AFTER_UNCLEAN_STOPS: i64 = 3;

/// Counts one unclean stop for each of the events, and gives up those at the limit. Gives their number.
pub(super) fn count_unclean_stop(
    connection: &mut SqliteConnection,
    in_hand: &[i64],
    now: Timestamp,
) -> Result<usize, BoxError> {
    connection.immediate_transaction(|connection| {
        let mut given_up = 0;
        for id in in_hand {
            let row = events::table.filter(events::id.eq(id));
            update(row).set(events::unclean_stops.eq(events::unclean_stops + 1)).execute(connection)?;
            let counted: Option<(i64, String)> =
                row.select((events::unclean_stops, events::history)).first(connection).optional()?;
            if let Some((stops, history)) = counted
                && stops >= UNCLEAN_STOPS_MAX
            {
                let onward = Onward::delivery_limit(&detail(stops), &read_history(&history), now)?;
                apply(connection, &Step { id: *id, onward })?;
                given_up += 1;
            }
        }
        Ok(given_up)
    })
}

fn detail(stops: i64) -> String {
    format!(
        "the process ended {stops} times without a word while it had this event in hand, the last times this \
         event alone: processing it seems to kill the process"
    )
}
