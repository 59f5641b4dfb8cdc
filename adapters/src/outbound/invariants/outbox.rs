//! What the rest of the company hears.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        name: "every announced fact has its message",
        query: "SELECT source || '/' || payment_id || ' has ' || fact || ', and no message says so' AS detail \
                FROM payment_facts AS f WHERE consumer = $1 \
                  AND fact NOT LIKE 'progress:%' AND fact NOT LIKE 'charged:%' AND NOT EXISTS \
                    (SELECT 1 FROM outbox AS o WHERE o.consumer = $1 \
                     AND o.id = f.source || '/' || replace(replace(f.payment_id, '%', '%25'), '/', '%2F') \
                       || '/' || replace(replace(f.fact, '%', '%25'), '/', '%2F')) \
                  AND established_at >= coalesce( \
                    (SELECT before FROM purges WHERE consumer = $1 AND purged = 'outbox'), established_at) \
                LIMIT $2",
    },
    Invariant {
        name: "every message says what is known",
        query: "SELECT 'message ' || id || ' of ' || event_id || ' says ' || coalesce(amount_minor, 0) || ' ' \
                    || coalesce(currency, 'of nothing') || ', which is not known' AS detail \
                FROM outbox AS o WHERE consumer = $1 AND NOT EXISTS \
                    (SELECT 1 FROM payment_facts AS f WHERE f.consumer = $1 AND f.source = o.source \
                     AND f.payment_id = o.payment_id AND f.fact = o.fact AND f.event_id = o.event_id \
                     AND coalesce(f.amount_minor, -1) = coalesce(o.amount_minor, -1) \
                     AND coalesce(f.currency, '') = coalesce(o.currency, '')) \
                LIMIT $2",
    },
];
