//! What is given up and not settled, for the sum of all that was accepted.

use diesel::sql_types::BigInt;

/// What [`DEAD_LETTERS`] counts.
#[derive(diesel::QueryableByName)]
pub(in crate::outbound) struct GivenUp {
    #[diesel(sql_type = BigInt)]
    pub(in crate::outbound) dead_letters: i64,
}

/// How many events are dead letters, as `dead_letters`. `$1` is the consumer, `$2` what their ids begin with. A
/// message that could not be read has no id; it counts where no beginning is asked for.
pub(in crate::outbound) const DEAD_LETTERS: &str = "\
    SELECT count(*) AS dead_letters FROM ( \
        SELECT source, event_id, \
            CASE WHEN reason = 'conflict' THEN 1 ELSE 0 END AS other_meaning, \
            CASE WHEN source IS NULL THEN id END AS unreadable \
        FROM dead_letters AS d \
        WHERE consumer = $1 AND linked_to IS NULL AND state <> 'replayed' \
          AND ($2 = '' OR substr(event_id, 1, length($2)) = $2) \
          AND (reason = 'conflict' OR NOT EXISTS \
              (SELECT 1 FROM processed_events AS e \
               WHERE e.consumer = $1 AND e.event_id = d.event_id AND e.source = d.source)) \
        GROUP BY 1, 2, 3, 4 \
    ) AS events";
