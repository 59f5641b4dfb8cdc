DROP INDEX recorded_events_by_payment;
ALTER TABLE recorded_events DROP COLUMN payment_id;
DROP TABLE purges;
DROP TABLE outbox;
DROP TABLE account_balances;
DROP TABLE ledger_entries;
DROP TABLE payment_facts;

ALTER TABLE payments RENAME TO payments_after;

CREATE TABLE payments (
    source        TEXT    NOT NULL,
    payment_id    TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    amount_minor  INTEGER NOT NULL CHECK (amount_minor >= 0),
    currency      TEXT    NOT NULL CHECK (length(currency) = 3),
    last_event_id TEXT    NOT NULL,
    -- How many events have changed the payment.
    revision      INTEGER NOT NULL CHECK (revision >= 1),
    created_at    INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    updated_at    INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (source, payment_id)
) STRICT, WITHOUT ROWID;

-- That step knows paid payments only, and one consumer's.
INSERT INTO payments
    (source, payment_id, state, amount_minor, currency, last_event_id, revision, created_at, updated_at)
SELECT source, payment_id, state, amount_minor, currency, last_event_id, revision, created_at, updated_at
FROM payments_after WHERE state = 'succeeded' AND currency IS NOT NULL
ON CONFLICT (source, payment_id) DO NOTHING;

DROP TABLE payments_after;
