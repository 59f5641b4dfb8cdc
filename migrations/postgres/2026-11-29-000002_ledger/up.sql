-- Payments with all that moves, their facts, double entry, and what the rest of the company is to hear. All of
-- it belongs to a consumer: two consumers of the same events each have their own effects.

ALTER TABLE payments RENAME TO payments_before;
ALTER TABLE payments_before RENAME CONSTRAINT payments_pkey TO payments_before_pkey;

CREATE TABLE payments (
    consumer              text        COLLATE "C" NOT NULL,
    source                text        COLLATE "C" NOT NULL,
    payment_id            text        COLLATE "C" NOT NULL,
    merchant              text        COLLATE "C",
    state                 text        NOT NULL,
    amount_minor          bigint      NOT NULL CHECK (amount_minor >= 0),
    currency              text        CHECK (length(currency) = 3),
    standing_at           timestamptz,
    standing_stage        smallint,
    authorised_minor      bigint      NOT NULL CHECK (authorised_minor >= 0),
    captured_minor        bigint      NOT NULL CHECK (captured_minor >= 0),
    charged_minor         bigint      NOT NULL CHECK (charged_minor >= 0),
    refunded_singly_minor bigint      NOT NULL CHECK (refunded_singly_minor >= 0),
    refunded_in_all_minor bigint      NOT NULL CHECK (refunded_in_all_minor >= 0),
    refunds_failed_minor  bigint      NOT NULL CHECK (refunds_failed_minor >= 0),
    disputes_opened_minor bigint      NOT NULL CHECK (disputes_opened_minor >= 0),
    disputes_won_minor    bigint      NOT NULL CHECK (disputes_won_minor >= 0),
    disputes_lost_minor   bigint      NOT NULL CHECK (disputes_lost_minor >= 0),
    captures_closed       boolean     NOT NULL,
    refunded_minor        bigint      NOT NULL GENERATED ALWAYS AS
        (greatest(refunded_singly_minor, refunded_in_all_minor) - refunds_failed_minor) STORED,
    disputed_minor        bigint      NOT NULL GENERATED ALWAYS AS
        (disputes_opened_minor - disputes_won_minor) STORED,
    last_event_id         text        COLLATE "C" NOT NULL,
    revision              bigint      NOT NULL CHECK (revision >= 1),
    created_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, source, payment_id),
    CONSTRAINT payments_standing_check CHECK ((standing_at IS NULL) = (standing_stage IS NULL)),
    CONSTRAINT payments_refunded_check CHECK (refunded_minor >= 0 AND refunded_minor <= captured_minor),
    CONSTRAINT payments_disputed_check CHECK (disputed_minor >= disputes_lost_minor)
);

COMMENT ON TABLE payments IS 'Payments and payouts, as their events have made them.';
COMMENT ON COLUMN payments.state IS 'What it is called, which follows from the sums and the stage.';
COMMENT ON COLUMN payments.amount_minor IS 'What it is about: captured, or else authorised or paid out.';
COMMENT ON COLUMN payments.standing_stage IS 'The latest report of how far it has come; a later stage has a higher number.';
COMMENT ON COLUMN payments.captures_closed IS 'What is captured is all that can be.';
COMMENT ON COLUMN payments.refunded_minor IS 'What has gone back to the payer and stayed there.';
COMMENT ON COLUMN payments.disputed_minor IS 'What banks have taken back and not returned.';
COMMENT ON COLUMN payments.revision IS 'How many events have changed the payment.';

CREATE TABLE payment_facts (
    consumer       text        COLLATE "C" NOT NULL,
    source         text        COLLATE "C" NOT NULL,
    payment_id     text        COLLATE "C" NOT NULL,
    fact           text        COLLATE "C" NOT NULL,
    event_id       text        COLLATE "C" NOT NULL,
    amount_minor   bigint,
    currency       text        CHECK (length(currency) = 3),
    established_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, source, payment_id, fact),
    CONSTRAINT payment_facts_amount_check CHECK ((amount_minor IS NULL) = (currency IS NULL))
);

COMMENT ON TABLE payment_facts IS
    'What is known of payments. Two events that tell one fact have one effect, since it is here only once.';

CREATE TABLE ledger_entries (
    consumer     text        COLLATE "C" NOT NULL,
    source       text        COLLATE "C" NOT NULL,
    event_id     text        COLLATE "C" NOT NULL,
    account      text        COLLATE "C" NOT NULL,
    ledger       text        COLLATE "C" NOT NULL,
    currency     text        COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    amount_minor bigint      NOT NULL CHECK (amount_minor <> 0),
    payment_id   text        COLLATE "C" NOT NULL,
    posted_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, source, event_id, account, ledger, currency)
);

COMMENT ON TABLE ledger_entries IS
    'Double entry: the entries of one event sum to zero. Never changed and never removed.';
COMMENT ON COLUMN ledger_entries.amount_minor IS 'A debit when positive, a credit when negative.';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER ledger_entries_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE account_balances (
    consumer      text        COLLATE "C" NOT NULL,
    account       text        COLLATE "C" NOT NULL,
    ledger        text        COLLATE "C" NOT NULL,
    currency      text        COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    balance_minor bigint      NOT NULL,
    updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, account, ledger, currency)
-- A few rows that nearly every batch changes: with room for their next versions beside them.
) WITH (fillfactor = 20);

COMMENT ON TABLE account_balances IS 'The sums of the ledger entries, changed only together with them.';

CREATE TABLE outbox (
    seq          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer     text        COLLATE "C" NOT NULL,
    id           text        COLLATE "C" NOT NULL,
    kind         text        NOT NULL,
    source       text        COLLATE "C" NOT NULL,
    payment_id   text        COLLATE "C" NOT NULL,
    account      text        COLLATE "C" NOT NULL,
    fact         text        COLLATE "C" NOT NULL,
    amount_minor bigint,
    currency     text        CHECK (length(currency) = 3),
    occurred_at  timestamptz NOT NULL,
    event_id     text        COLLATE "C" NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT outbox_id_key UNIQUE (consumer, id),
    CONSTRAINT outbox_amount_check CHECK ((amount_minor IS NULL) = (currency IS NULL))
);

COMMENT ON TABLE outbox IS 'What the rest of the company is to hear, stored together with what has happened.';
COMMENT ON COLUMN outbox.id IS 'The message''s id: the same however often the fact is told.';

CREATE TABLE purges (
    consumer text        COLLATE "C" NOT NULL,
    purged   text        NOT NULL CHECK (purged IN ('processed_events', 'outbox')),
    before   timestamptz NOT NULL,
    PRIMARY KEY (consumer, purged)
);

COMMENT ON TABLE purges IS
    'What may be missing on purpose: rows of that table that belong to facts from before that moment. Written '
    'before they are removed. An event is stored earlier than its facts, by as long as a unit of work may last.';

ALTER TABLE recorded_events ADD COLUMN payment_id text COLLATE "C";

CREATE INDEX recorded_events_by_payment ON recorded_events (consumer, source, payment_id)
    WHERE payment_id IS NOT NULL;

-- What the step before knows: payments that were paid in full by one event.

INSERT INTO payments
    (consumer, source, payment_id, state, amount_minor, currency, standing_at, standing_stage,
     authorised_minor, captured_minor, charged_minor, refunded_singly_minor, refunded_in_all_minor,
     refunds_failed_minor, disputes_opened_minor, disputes_won_minor, disputes_lost_minor, captures_closed,
     last_event_id, revision, created_at, updated_at)
SELECT coalesce(e.consumer, 'main'), p.source, p.payment_id, p.state, p.amount_minor, p.currency,
    to_timestamp(0), 100, 0, p.amount_minor, 0, 0, 0, 0, 0, 0, 0, true,
    p.last_event_id, p.revision, p.created_at, p.updated_at
FROM payments_before AS p
LEFT JOIN processed_events AS e ON e.source = p.source AND e.event_id = p.last_event_id AND e.outcome = 1;

DROP TABLE payments_before;

INSERT INTO payment_facts
    (consumer, source, payment_id, fact, event_id, amount_minor, currency, established_at)
SELECT consumer, source, payment_id, 'captured:single', last_event_id, amount_minor, currency, created_at
FROM payments;

INSERT INTO ledger_entries
    (consumer, source, event_id, account, ledger, currency, amount_minor, payment_id, posted_at)
SELECT p.consumer, p.source, p.last_event_id, p.source, side.ledger, p.currency, side.sign * p.amount_minor,
    p.payment_id, p.created_at
FROM payments AS p CROSS JOIN (VALUES ('provider_clearing', 1), ('merchant', -1)) AS side (ledger, sign)
WHERE p.amount_minor <> 0;

INSERT INTO account_balances (consumer, account, ledger, currency, balance_minor)
SELECT consumer, account, ledger, currency, sum(amount_minor)::bigint
FROM ledger_entries GROUP BY consumer, account, ledger, currency;

INSERT INTO purges (consumer, purged, before)
SELECT consumer, 'outbox', clock_timestamp() FROM payments GROUP BY consumer;

UPDATE recorded_events AS r SET payment_id = e.payment_id FROM processed_events AS e
WHERE e.event_id = r.event_id AND e.source = r.source AND e.consumer = r.consumer;
