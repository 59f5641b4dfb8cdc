//! The invariants, each a query for what breaks it.

use application::ports::store_audit::Violation;
use diesel::sql_types::{BigInt, Text};
use diesel::{QueryResult, RunQueryDsl, SqliteConnection};

/// Names and queries. `?1` is the consumer and `?2` the greatest number of rows; each row is one text,
/// `detail`.
const INVARIANTS: [(&str, &str); 7] = [
    (
        "no event is processed twice",
        "SELECT source || '/' || event_id || ' is processed ' || count(*) || ' times' AS detail \
         FROM processed_events WHERE consumer = ?1 \
         GROUP BY source, event_id HAVING count(*) > 1 LIMIT ?2",
    ),
    (
        "every applied event has its payment",
        "SELECT source || '/' || event_id || ' is applied, but there is no payment ' \
             || coalesce(payment_id, '(none named)') AS detail \
         FROM processed_events AS e WHERE consumer = ?1 AND outcome = 1 AND NOT EXISTS \
             (SELECT 1 FROM payments AS p WHERE p.source = e.source AND p.payment_id = e.payment_id) \
         LIMIT ?2",
    ),
    (
        "every payment was last changed by an applied event",
        "SELECT source || '/' || payment_id || ' was last changed by ' || last_event_id \
             || ', which is not an applied event' AS detail \
         FROM payments AS p WHERE NOT EXISTS \
             (SELECT 1 FROM processed_events AS e WHERE e.consumer = ?1 AND e.outcome = 1 \
              AND e.source = p.source AND e.event_id = p.last_event_id AND e.payment_id = p.payment_id) \
         LIMIT ?2",
    ),
    (
        "every payment has as many revisions as applied events",
        "SELECT p.source || '/' || p.payment_id || ' has revision ' || p.revision || ' and ' \
             || coalesce(e.events, 0) || ' applied events' AS detail \
         FROM payments AS p LEFT JOIN \
             (SELECT source, payment_id, count(*) AS events FROM processed_events \
              WHERE consumer = ?1 AND outcome = 1 GROUP BY source, payment_id) AS e \
             USING (source, payment_id) \
         WHERE p.revision <> coalesce(e.events, 0) LIMIT ?2",
    ),
    (
        "every recorded event has its bytes",
        "SELECT source || '/' || event_id || ' is recorded, but its bytes are not kept' AS detail \
         FROM processed_events AS e WHERE consumer = ?1 AND outcome = 2 AND NOT EXISTS \
             (SELECT 1 FROM recorded_events AS r WHERE r.consumer = ?1 \
              AND r.event_id = e.event_id AND r.source = e.source) LIMIT ?2",
    ),
    (
        "bytes are kept of recorded events only",
        "SELECT source || '/' || event_id || ' has its bytes kept, but is not recorded' AS detail \
         FROM recorded_events AS r WHERE consumer = ?1 AND NOT EXISTS \
             (SELECT 1 FROM processed_events AS e WHERE e.consumer = ?1 AND e.outcome = 2 \
              AND e.event_id = r.event_id AND e.source = r.source) LIMIT ?2",
    ),
    (
        "no amount is negative and every revision is at least 1",
        "SELECT source || '/' || payment_id || ' has ' || amount_minor || ' ' || currency \
             || ' and revision ' || revision AS detail \
         FROM payments WHERE amount_minor < 0 OR revision < 1 LIMIT ?2",
    ),
];

#[derive(diesel::QueryableByName)]
struct Broken {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// Every violation in the transaction of `connection`, at most `limit` for each invariant.
pub(super) fn check(
    connection: &mut SqliteConnection,
    consumer: &str,
    limit: u32,
) -> QueryResult<Vec<Violation>> {
    let mut violations = Vec::new();
    for (invariant, query) in INVARIANTS {
        let broken: Vec<Broken> = diesel::sql_query(query)
            .bind::<Text, _>(consumer)
            .bind::<BigInt, _>(i64::from(limit))
            .load(connection)?;
        violations.extend(broken.into_iter().map(|Broken { detail }| Violation { invariant, detail }));
    }
    Ok(violations)
}
