DROP INDEX recorded_events_by_payment;
ALTER TABLE recorded_events DROP COLUMN payment_id;
DROP TABLE purges;
DROP TABLE outbox;
DROP TABLE account_balances;
DROP TABLE ledger_entries;
DROP FUNCTION refuse_change();
DROP TABLE payment_facts;

ALTER TABLE payments RENAME TO payments_after;
ALTER TABLE payments_after RENAME CONSTRAINT payments_pkey TO payments_after_pkey;

CREATE TABLE payments (
    source        text        COLLATE "C" NOT NULL,
    payment_id    text        COLLATE "C" NOT NULL,
    state         text        NOT NULL,
    amount_minor  bigint      NOT NULL CHECK (amount_minor >= 0),
    currency      text        NOT NULL CHECK (length(currency) = 3),
    last_event_id text        COLLATE "C" NOT NULL,
    revision      bigint      NOT NULL CHECK (revision >= 1),
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (source, payment_id)
);

COMMENT ON COLUMN payments.revision IS 'How many events have changed the payment.';

-- That step knows paid payments only, and one consumer's.
INSERT INTO payments
    (source, payment_id, state, amount_minor, currency, last_event_id, revision, created_at, updated_at)
SELECT source, payment_id, state, amount_minor, currency, last_event_id, revision, created_at, updated_at
FROM payments_after WHERE state = 'succeeded' AND currency IS NOT NULL
ON CONFLICT (source, payment_id) DO NOTHING;

DROP TABLE payments_after;
