-- Payments with all that moves, their facts, double entry, and what the rest of the company is to hear. All of
-- it belongs to a consumer: two consumers of the same events each have their own effects.

ALTER TABLE payments RENAME TO payments_before;

-- Payments and payouts, as their events have made them.
CREATE TABLE payments (
    consumer              TEXT    NOT NULL,
    source                TEXT    NOT NULL,
    payment_id            TEXT    NOT NULL,
    merchant              TEXT,
    -- What it is called, which follows from the sums and the stage.
    state                 TEXT    NOT NULL,
    -- What it is about: captured, or else authorised or paid out.
    amount_minor          INTEGER NOT NULL CHECK (amount_minor >= 0),
    currency              TEXT    CHECK (length(currency) = 3),
    -- The latest report of how far it has come; a later stage has a higher number.
    standing_at           INTEGER,
    standing_stage        INTEGER,
    authorised_minor      INTEGER NOT NULL CHECK (authorised_minor >= 0),
    captured_minor        INTEGER NOT NULL CHECK (captured_minor >= 0),
    charged_minor         INTEGER NOT NULL CHECK (charged_minor >= 0),
    refunded_singly_minor INTEGER NOT NULL CHECK (refunded_singly_minor >= 0),
    refunded_in_all_minor INTEGER NOT NULL CHECK (refunded_in_all_minor >= 0),
    refunds_failed_minor  INTEGER NOT NULL CHECK (refunds_failed_minor >= 0),
    disputes_opened_minor INTEGER NOT NULL CHECK (disputes_opened_minor >= 0),
    disputes_won_minor    INTEGER NOT NULL CHECK (disputes_won_minor >= 0),
    disputes_lost_minor   INTEGER NOT NULL CHECK (disputes_lost_minor >= 0),
    -- What is captured is all that can be.
    captures_closed       INTEGER NOT NULL CHECK (captures_closed IN (0, 1)),
    -- What has gone back to the payer and stayed there.
    refunded_minor        INTEGER NOT NULL GENERATED ALWAYS AS
        (max(refunded_singly_minor, refunded_in_all_minor) - refunds_failed_minor) STORED,
    -- What banks have taken back and not returned.
    disputed_minor        INTEGER NOT NULL GENERATED ALWAYS AS
        (disputes_opened_minor - disputes_won_minor) STORED,
    last_event_id         TEXT    NOT NULL,
    -- How many events have changed the payment.
    revision              INTEGER NOT NULL CHECK (revision >= 1),
    created_at            INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    updated_at            INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (consumer, source, payment_id),
    CONSTRAINT payments_standing_check CHECK ((standing_at IS NULL) = (standing_stage IS NULL)),
    CONSTRAINT payments_refunded_check CHECK (refunded_minor >= 0 AND refunded_minor <= captured_minor),
    CONSTRAINT payments_disputed_check CHECK (disputed_minor >= disputes_lost_minor)
) STRICT, WITHOUT ROWID;

-- What is known of payments. Two events that tell one fact have one effect, since it is here only once.
CREATE TABLE payment_facts (
    consumer       TEXT    NOT NULL,
    source         TEXT    NOT NULL,
    payment_id     TEXT    NOT NULL,
    fact           TEXT    NOT NULL,
    event_id       TEXT    NOT NULL,
    amount_minor   INTEGER,
    currency       TEXT    CHECK (length(currency) = 3),
    established_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (consumer, source, payment_id, fact),
    CONSTRAINT payment_facts_amount_check CHECK ((amount_minor IS NULL) = (currency IS NULL))
) STRICT, WITHOUT ROWID;

-- Double entry: the entries of one event sum to zero. Never changed and never removed.
CREATE TABLE ledger_entries (
    consumer     TEXT    NOT NULL,
    source       TEXT    NOT NULL,
    event_id     TEXT    NOT NULL,
    account      TEXT    NOT NULL,
    ledger       TEXT    NOT NULL,
    currency     TEXT    NOT NULL CHECK (length(currency) = 3),
    -- A debit when positive, a credit when negative.
    amount_minor INTEGER NOT NULL CHECK (amount_minor <> 0),
    payment_id   TEXT    NOT NULL,
    posted_at    INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (consumer, source, event_id, account, ledger, currency)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER ledger_entries_are_not_changed BEFORE UPDATE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger_entries is append-only');
END;

CREATE TRIGGER ledger_entries_are_not_removed BEFORE DELETE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger_entries is append-only');
END;

-- The sums of the ledger entries, changed only together with them.
CREATE TABLE account_balances (
    consumer      TEXT    NOT NULL,
    account       TEXT    NOT NULL,
    ledger        TEXT    NOT NULL,
    currency      TEXT    NOT NULL CHECK (length(currency) = 3),
    balance_minor INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (consumer, account, ledger, currency)
) STRICT, WITHOUT ROWID;

-- What the rest of the company is to hear, stored together with what has happened.
CREATE TABLE outbox (
    seq          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    consumer     TEXT    NOT NULL,
    -- The message's id: the same however often the fact is told.
    id           TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    source       TEXT    NOT NULL,
    payment_id   TEXT    NOT NULL,
    account      TEXT    NOT NULL,
    fact         TEXT    NOT NULL,
    amount_minor INTEGER,
    currency     TEXT    CHECK (length(currency) = 3),
    occurred_at  INTEGER NOT NULL,
    event_id     TEXT    NOT NULL,
    created_at   INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    CONSTRAINT outbox_id_key UNIQUE (consumer, id),
    CONSTRAINT outbox_amount_check CHECK ((amount_minor IS NULL) = (currency IS NULL))
) STRICT;

-- What may be missing on purpose: rows of that table that belong to facts from before that moment. Written
-- before they are removed. An event is stored earlier than its facts, by as long as a unit of work may last.
CREATE TABLE purges (
    consumer TEXT    NOT NULL,
    purged   TEXT    NOT NULL CHECK (purged IN ('processed_events', 'outbox')),
    before   INTEGER NOT NULL,
    PRIMARY KEY (consumer, purged)
) STRICT, WITHOUT ROWID;

ALTER TABLE recorded_events ADD COLUMN payment_id TEXT;

CREATE INDEX recorded_events_by_payment ON recorded_events (consumer, source, payment_id)
    WHERE payment_id IS NOT NULL;

-- What the step before knows: payments that were paid in full by one event.

INSERT INTO payments
    (consumer, source, payment_id, state, amount_minor, currency, standing_at, standing_stage,
     authorised_minor, captured_minor, charged_minor, refunded_singly_minor, refunded_in_all_minor,
     refunds_failed_minor, disputes_opened_minor, disputes_won_minor, disputes_lost_minor, captures_closed,
     last_event_id, revision, created_at, updated_at)
SELECT coalesce(e.consumer, 'main'), p.source, p.payment_id, p.state, p.amount_minor, p.currency,
    0, 100, 0, p.amount_minor, 0, 0, 0, 0, 0, 0, 0, 1,
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
SELECT consumer, source, last_event_id, source, 'provider_clearing', currency, amount_minor, payment_id, created_at
FROM payments WHERE amount_minor <> 0
UNION ALL
SELECT consumer, source, last_event_id, source, 'merchant', currency, -amount_minor, payment_id, created_at
FROM payments WHERE amount_minor <> 0;

INSERT INTO account_balances (consumer, account, ledger, currency, balance_minor)
SELECT consumer, account, ledger, currency, sum(amount_minor)
FROM ledger_entries GROUP BY consumer, account, ledger, currency;

INSERT INTO purges (consumer, purged, before)
SELECT consumer, 'outbox', CAST(unixepoch('subsec') * 1000000 AS INTEGER) + 1 FROM payments GROUP BY consumer;

UPDATE recorded_events SET payment_id = e.payment_id FROM processed_events AS e
WHERE e.event_id = recorded_events.event_id AND e.source = recorded_events.source
  AND e.consumer = recorded_events.consumer;
