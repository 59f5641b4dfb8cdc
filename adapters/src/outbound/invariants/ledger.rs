//! Double entry.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        name: "the entries of every event sum to zero",
        query: "SELECT source || '/' || event_id || ' has entries that sum to ' || sum(amount_minor) || ' ' \
                    || currency AS detail \
                FROM ledger_entries WHERE consumer = $1 \
                GROUP BY source, event_id, currency HAVING sum(amount_minor) <> 0 LIMIT $2",
    },
    Invariant {
        name: "every entry was posted by an event that established a fact",
        query: "SELECT source || '/' || event_id || ' has an entry of ' || amount_minor || ' ' || currency \
                    || ' to ' || ledger || ', but has established nothing of payment ' || payment_id AS detail \
                FROM ledger_entries AS l WHERE consumer = $1 AND NOT EXISTS \
                    (SELECT 1 FROM payment_facts AS f WHERE f.consumer = $1 AND f.source = l.source \
                     AND f.payment_id = l.payment_id AND f.event_id = l.event_id) \
                LIMIT $2",
    },
    Invariant {
        name: "every entry is in its payment's account and currency",
        query: "SELECT l.source || '/' || l.payment_id || ' is of ' || p.source || coalesce(':' || p.merchant, '') \
                    || ' in ' || coalesce(p.currency, 'no currency') || ', but an entry of ' || l.event_id \
                    || ' is of ' || l.account || ' in ' || l.currency AS detail \
                FROM ledger_entries AS l JOIN payments AS p USING (consumer, source, payment_id) \
                WHERE l.consumer = $1 \
                  AND (l.account <> p.source || coalesce(':' || p.merchant, '') \
                    OR l.currency <> coalesce(p.currency, '')) \
                LIMIT $2",
    },
    Invariant {
        name: "every payment's entries are those of its sums",
        query: "SELECT source || '/' || payment_id || ' stands at ' || due.provider_clearing || '/' || due.merchant \
                    || '/' || due.refunds || '/' || due.disputes || '/' || due.fees || '/' || due.bank \
                    || ' by its sums, and at ' || coalesce(posted.provider_clearing, 0) || '/' \
                    || coalesce(posted.merchant, 0) || '/' || coalesce(posted.refunds, 0) || '/' \
                    || coalesce(posted.disputes, 0) || '/' || coalesce(posted.fees, 0) || '/' \
                    || coalesce(posted.bank, 0) \
                    || ' by its entries (provider_clearing/merchant/refunds/disputes/fees/bank)' AS detail \
                FROM (SELECT source, payment_id, \
                        captured_minor - refunded_minor - disputed_minor - charged_minor \
                          - CASE WHEN standing_stage = 120 THEN authorised_minor ELSE 0 END \
                          AS provider_clearing, \
                        -captured_minor AS merchant, refunded_minor AS refunds, disputed_minor AS disputes, \
                        charged_minor AS fees, \
                        CASE WHEN standing_stage = 120 THEN authorised_minor ELSE 0 END AS bank \
                      FROM payments WHERE consumer = $1) AS due \
                LEFT JOIN \
                     (SELECT source, payment_id, \
                        coalesce(sum(amount_minor) FILTER (WHERE ledger = 'provider_clearing'), 0) \
                          AS provider_clearing, \
                        coalesce(sum(amount_minor) FILTER (WHERE ledger = 'merchant'), 0) AS merchant, \
                        coalesce(sum(amount_minor) FILTER (WHERE ledger = 'refunds'), 0) AS refunds, \
                        coalesce(sum(amount_minor) FILTER (WHERE ledger = 'disputes'), 0) AS disputes, \
                        coalesce(sum(amount_minor) FILTER (WHERE ledger = 'fees'), 0) AS fees, \
                        coalesce(sum(amount_minor) FILTER (WHERE ledger = 'bank'), 0) AS bank \
                      FROM ledger_entries WHERE consumer = $1 GROUP BY source, payment_id) AS posted \
                     USING (source, payment_id) \
                WHERE due.provider_clearing <> coalesce(posted.provider_clearing, 0) \
                   OR due.merchant <> coalesce(posted.merchant, 0) \
                   OR due.refunds <> coalesce(posted.refunds, 0) \
                   OR due.disputes <> coalesce(posted.disputes, 0) \
                   OR due.fees <> coalesce(posted.fees, 0) \
                   OR due.bank <> coalesce(posted.bank, 0) \
                LIMIT $2",
    },
    Invariant {
        name: "every balance is the sum of its entries",
        query: "SELECT account || ' has ' || coalesce(b.balance_minor, 0) || ' ' || currency || ' in ' || ledger \
                    || ', and its entries sum to ' || coalesce(l.sum_minor, 0) AS detail \
                FROM (SELECT account, ledger, currency, sum(amount_minor) AS sum_minor \
                      FROM ledger_entries WHERE consumer = $1 GROUP BY account, ledger, currency) AS l \
                FULL JOIN \
                     (SELECT account, ledger, currency, balance_minor \
                      FROM account_balances WHERE consumer = $1) AS b \
                     USING (account, ledger, currency) \
                WHERE coalesce(b.balance_minor, 0) <> coalesce(l.sum_minor, 0) LIMIT $2",
    },
];
