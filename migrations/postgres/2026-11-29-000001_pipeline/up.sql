-- Ids are compared byte by byte, as the domain does: COLLATE "C" keeps their order the same on every server
-- and their indexes fast.

CREATE TABLE processed_events (
    event_id     text        COLLATE "C" NOT NULL,
    source       text        COLLATE "C" NOT NULL,
    consumer     text        COLLATE "C" NOT NULL,
    fingerprint  bytea       NOT NULL CHECK (octet_length(fingerprint) = 16),
    outcome      smallint    NOT NULL CHECK (outcome IN (1, 2)),
    payment_id   text        COLLATE "C",
    received_at  timestamptz NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, source, consumer)
);

COMMENT ON TABLE processed_events IS
    'One row for each event that is settled. Its primary key is what makes every effect happen once.';
COMMENT ON COLUMN processed_events.fingerprint IS
    'What the event means; the same key with another fingerprint is a conflict.';
COMMENT ON COLUMN processed_events.outcome IS '1 applied, 2 recorded as having no effect';

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

CREATE TABLE recorded_events (
    event_id    text        COLLATE "C" NOT NULL,
    source      text        COLLATE "C" NOT NULL,
    consumer    text        COLLATE "C" NOT NULL,
    kind        text        NOT NULL,
    reason      text        NOT NULL,
    payload     bytea       NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, source, consumer),
    FOREIGN KEY (event_id, source, consumer) REFERENCES processed_events
);

COMMENT ON TABLE recorded_events IS 'Events that had no effect: why, and the bytes as they came.';

CREATE TABLE store_identity (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    id        uuid NOT NULL DEFAULT gen_random_uuid()
);

COMMENT ON TABLE store_identity IS
    'Names this store to the cache. After a restore from a backup it must be given a new id.';

INSERT INTO store_identity DEFAULT VALUES;
