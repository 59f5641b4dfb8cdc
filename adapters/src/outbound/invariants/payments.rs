//! Payments say what their facts say.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        name: "every fact has its payment",
        query: "SELECT source || '/' || payment_id || ' has ' || fact || ', but there is no such payment' AS detail \
                FROM payment_facts AS f WHERE consumer = $1 AND NOT EXISTS \
                    (SELECT 1 FROM payments AS p WHERE p.consumer = $1 \
                     AND p.source = f.source AND p.payment_id = f.payment_id) \
                LIMIT $2",
    },
    Invariant {
        name: "every payment was last changed by an event that established a fact of it",
        query: "SELECT source || '/' || payment_id || ' was last changed by ' || last_event_id \
                    || ', which has established nothing of it' AS detail \
                FROM payments AS p WHERE consumer = $1 AND NOT EXISTS \
                    (SELECT 1 FROM payment_facts AS f WHERE f.consumer = $1 AND f.source = p.source \
                     AND f.payment_id = p.payment_id AND f.event_id = p.last_event_id) \
                LIMIT $2",
    },
    Invariant {
        name: "every payment has as many revisions as events that established facts of it",
        query: "SELECT p.source || '/' || p.payment_id || ' has revision ' || p.revision || ' and ' \
                    || coalesce(f.events, 0) || ' events with facts' AS detail \
                FROM payments AS p LEFT JOIN \
                    (SELECT source, payment_id, count(DISTINCT event_id) AS events FROM payment_facts \
                     WHERE consumer = $1 GROUP BY source, payment_id) AS f USING (source, payment_id) \
                WHERE p.consumer = $1 AND p.revision <> coalesce(f.events, 0) LIMIT $2",
    },
    Invariant {
        name: "no amount is negative",
        query: "SELECT source || '/' || payment_id || ' has ' || amount_minor || ' ' \
                    || coalesce(currency, 'of no currency') AS detail \
                FROM (SELECT source, payment_id, currency, amount_minor FROM payments \
                      WHERE consumer = $1 AND amount_minor < 0 \
                      UNION ALL \
                      SELECT source, payment_id, currency, amount_minor FROM payment_facts \
                      WHERE consumer = $1 AND amount_minor < 0) AS amounts \
                LIMIT $2",
    },
    Invariant {
        name: "no more is refunded than was captured",
        query: "SELECT source || '/' || payment_id || ' has ' || refunded_minor || ' refunded and ' \
                    || captured_minor || ' captured' AS detail \
                FROM payments WHERE consumer = $1 AND refunded_minor > captured_minor LIMIT $2",
    },
    Invariant {
        name: "no refund fails and no dispute ends that had not begun",
        query: "SELECT source || '/' || payment_id || ' has ' || refunds_failed_minor || ' of refunds failed and ' \
                    || refunded_minor || ' refunded, ' || disputes_opened_minor || ' of disputes opened and ' \
                    || disputes_won_minor || ' won and ' || disputes_lost_minor || ' lost' AS detail \
                FROM payments WHERE consumer = $1 \
                  AND (refunded_minor < 0 OR disputes_won_minor > disputes_opened_minor - disputes_lost_minor) \
                LIMIT $2",
    },
    Invariant {
        name: "every fact is in its payment's currency",
        query: "SELECT f.source || '/' || f.payment_id || ' is in ' || coalesce(p.currency, 'no currency') \
                    || ', but ' || f.fact || ' is in ' || f.currency AS detail \
                FROM payment_facts AS f JOIN payments AS p USING (consumer, source, payment_id) \
                WHERE f.consumer = $1 AND f.currency <> coalesce(p.currency, '') LIMIT $2",
    },
    Invariant {
        name: "no payment went backwards",
        query: "SELECT p.source || '/' || p.payment_id || ' stands at stage ' || coalesce(p.standing_stage, 0) \
                    || ', but has come to ' || f.stage AS detail \
                FROM payments AS p JOIN \
                    (SELECT source, payment_id, max(CASE \
                         WHEN fact = 'payout_canceled' THEN 140 \
                         WHEN fact = 'payout_failed' THEN 130 \
                         WHEN fact = 'payout_paid' THEN 120 \
                         WHEN fact = 'payout_started' THEN 110 \
                         WHEN fact LIKE 'captured:%' THEN 100 \
                         WHEN fact LIKE 'progress:%' OR fact LIKE 'failed:%' \
                           OR fact IN ('authorised', 'canceled') THEN 10 \
                         ELSE 0 END) AS stage \
                     FROM payment_facts WHERE consumer = $1 GROUP BY source, payment_id) AS f \
                    USING (source, payment_id) \
                WHERE p.consumer = $1 AND coalesce(p.standing_stage, 0) < f.stage LIMIT $2",
    },
    Invariant {
        name: "every payment's sums are those of its facts",
        query: "SELECT p.source || '/' || p.payment_id || ' has ' || p.authorised_minor || '/' || p.captured_minor \
                    || '/' || p.charged_minor || '/' || p.refunded_singly_minor || '/' \
                    || p.refunded_in_all_minor || '/' || p.refunds_failed_minor || '/' \
                    || p.disputes_opened_minor || '/' || p.disputes_won_minor || '/' || p.disputes_lost_minor \
                    || ', and its facts say ' || f.authorised || '/' || f.captured || '/' || f.charged || '/' \
                    || f.refunded_singly || '/' || f.refunded_in_all || '/' || f.refunds_failed || '/' \
                    || f.disputes_opened || '/' || f.disputes_won || '/' || f.disputes_lost \
                    || ' (authorised/captured/charged/refunded singly/in all/refunds failed/disputes \
                    opened/won/lost)' AS detail \
                FROM payments AS p JOIN \
                    (SELECT source, payment_id, \
                       coalesce(sum(amount_minor) FILTER (WHERE fact = 'authorised'), 0) \
                         + coalesce(max(amount_minor) FILTER (WHERE fact LIKE 'payout_%'), 0) AS authorised, \
                       coalesce(sum(amount_minor) FILTER (WHERE fact LIKE 'captured:%'), 0) AS captured, \
                       coalesce(sum(amount_minor) FILTER (WHERE fact LIKE 'charged:%'), 0) AS charged, \
                       coalesce(sum(amount_minor) FILTER (WHERE fact LIKE 'refunded:%'), 0) AS refunded_singly, \
                       coalesce(max(amount_minor) FILTER (WHERE fact LIKE 'refunded_in_all:%'), 0) \
                         AS refunded_in_all, \
                       coalesce(sum(amount_minor) FILTER (WHERE fact LIKE 'refund_failed:%'), 0) \
                         AS refunds_failed, \
                       coalesce(sum(amount_minor) FILTER (WHERE fact LIKE 'dispute_opened:%'), 0) \
                         AS disputes_opened, \
                       coalesce(sum(amount_minor) FILTER (WHERE fact LIKE 'dispute_won:%'), 0) AS disputes_won, \
                       coalesce(sum(amount_minor) FILTER (WHERE fact LIKE 'dispute_lost:%'), 0) AS disputes_lost \
                     FROM payment_facts WHERE consumer = $1 GROUP BY source, payment_id) AS f \
                    USING (source, payment_id) \
                WHERE p.consumer = $1 \
                  AND (p.authorised_minor <> f.authorised OR p.captured_minor <> f.captured \
                    OR p.charged_minor <> f.charged OR p.refunded_singly_minor <> f.refunded_singly \
                    OR p.refunded_in_all_minor <> f.refunded_in_all \
                    OR p.refunds_failed_minor <> f.refunds_failed \
                    OR p.disputes_opened_minor <> f.disputes_opened \
                    OR p.disputes_won_minor <> f.disputes_won OR p.disputes_lost_minor <> f.disputes_lost) \
                LIMIT $2",
    },
];
