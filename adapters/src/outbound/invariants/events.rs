//! Every event is settled once, and its effect is there.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        name: "no event is processed twice",
        query: "SELECT source || '/' || event_id || ' is processed ' || count(*) || ' times' AS detail \
                FROM processed_events WHERE consumer = $1 \
                GROUP BY source, event_id HAVING count(*) > 1 LIMIT $2",
    },
    Invariant {
        name: "every applied event has established a fact",
        query: "SELECT source || '/' || event_id || ' is applied, but has established no fact of payment ' \
                    || coalesce(payment_id, '(none named)') AS detail \
                FROM processed_events AS e WHERE consumer = $1 AND outcome = 1 AND NOT EXISTS \
                    (SELECT 1 FROM payment_facts AS f WHERE f.consumer = $1 AND f.source = e.source \
                     AND f.payment_id = e.payment_id AND f.event_id = e.event_id) \
                LIMIT $2",
    },
    Invariant {
        name: "every fact was established by an applied event",
        query: "SELECT source || '/' || payment_id || ' has ' || fact || ' from ' || event_id \
                    || ', which is not an applied event of it' AS detail \
                FROM payment_facts AS f WHERE consumer = $1 AND NOT EXISTS \
                    (SELECT 1 FROM processed_events AS e WHERE e.event_id = f.event_id AND e.source = f.source \
                     AND e.consumer = f.consumer AND e.outcome = 1 AND e.payment_id = f.payment_id) \
                  AND established_at >= coalesce( \
                    (SELECT before FROM purges WHERE consumer = $1 AND purged = 'processed_events'), \
                    established_at) \
                LIMIT $2",
    },
    Invariant {
        name: "every recorded event has its bytes",
        query: "SELECT source || '/' || event_id || ' is recorded, but its bytes are not kept' AS detail \
                FROM processed_events AS e WHERE consumer = $1 AND outcome = 2 AND NOT EXISTS \
                    (SELECT 1 FROM recorded_events AS r WHERE r.consumer = $1 \
                     AND r.event_id = e.event_id AND r.source = e.source) \
                LIMIT $2",
    },
    Invariant {
        name: "bytes are kept of recorded events only",
        query: "SELECT source || '/' || event_id || ' has its bytes kept, but is not recorded' AS detail \
                FROM recorded_events AS r WHERE consumer = $1 AND NOT EXISTS \
                    (SELECT 1 FROM processed_events AS e WHERE e.consumer = $1 AND e.outcome = 2 \
                     AND e.event_id = r.event_id AND e.source = r.source) \
                LIMIT $2",
    },
];
