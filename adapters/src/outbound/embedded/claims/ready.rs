//! Reads what may be handed out now.

use std::collections::BTreeSet;

use application::ports::BoxError;
use diesel::connection::DefaultLoadingMode;
use diesel::dsl::min;
use diesel::{ExpressionMethods, QueryDsl, RunQueryDsl, SelectableHelper, SqliteConnection};
use domain::Timestamp;

use crate::outbound::embedded::recovery::ALONE_AFTER_UNCLEAN_STOPS;
use crate::outbound::embedded::rows::EventRow;
use crate::outbound::embedded::schema::events;

/// The payload bytes that are enough for one batch, so that a batch of large payloads does not fill the memory.
const BATCH_BYTES_ENOUGH: usize = 8 * 1024 * 1024;

/// What was found.
#[derive(Default)]
pub(super) struct Ready {
    pub(super) rows: Vec<EventRow>,
    /// The last row of the main queue among them.
    pub(super) last_of_main: Option<i64>,
    /// The one row must be alone in hand.
    pub(super) alone: bool,
    /// The next row must be alone in hand, and something is in hand.
    pub(super) alone_waits: bool,
    /// The bytes are enough, so there may be more rows.
    pub(super) heavy: bool,
    /// When the next retry is due, where there was room for more.
    pub(super) next_due: Option<i64>,
    bytes: usize,
}

/// Retries that are due, in the order in which they became so, and then the main queue beyond `cursor`; in both
/// without what is `held`.
pub(super) fn ready(
    connection: &mut SqliteConnection,
    held: &BTreeSet<i64>,
    cursor: i64,
    now: Timestamp,
    max: usize,
) -> Result<Ready, BoxError> {
    let now = now.as_micros();
    let mut found = Ready::default();
    // Both are read row by row, in the order of an index, and no further than needed.
    let due = events::table
        .filter(events::due_at.le(now))
        .order((events::due_at.asc(), events::id.asc()))
        .select(EventRow::as_select());
    for row in due.load_iter::<EventRow, DefaultLoadingMode>(connection)? {
        if !found.take(row?, held, max) {
            return Ok(found);
        }
    }
    let main = events::table
        .filter(events::due_at.is_null())
        .filter(events::id.gt(cursor))
        .order(events::id.asc())
        .select(EventRow::as_select());
    for row in main.load_iter::<EventRow, DefaultLoadingMode>(connection)? {
        if !found.take(row?, held, max) {
            return Ok(found);
        }
    }
    found.next_due =
        events::table.filter(events::due_at.gt(now)).select(min(events::due_at)).first(connection)?;
    Ok(found)
}

impl Ready {
    /// Takes the row, unless it is held. Whether there is room for more.
    fn take(&mut self, row: EventRow, held: &BTreeSet<i64>, max: usize) -> bool {
        if held.contains(&row.id) {
            return true;
        }
        if self.rows.len() >= max {
            return false;
        }
        let suspect = row.unclean_stops >= ALONE_AFTER_UNCLEAN_STOPS;
        if suspect && !(held.is_empty() && self.rows.is_empty()) {
            self.alone_waits = true;
            return false;
        }
        if row.due_at.is_none() {
            self.last_of_main = Some(row.id);
        }
        self.bytes += row.payload_len();
        self.rows.push(row);
        self.alone = suspect;
        self.heavy = self.bytes >= BATCH_BYTES_ENOUGH;
        !(suspect || self.heavy || self.rows.len() >= max)
    }
}
