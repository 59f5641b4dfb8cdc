-- Text is compared byte by byte (BINARY, the default), as the domain does. Moments are microseconds since 1970.

-- One row for each event that is settled. Its primary key is what makes every effect happen once.
CREATE TABLE processed_events (
    event_id     TEXT    NOT NULL,
    source       TEXT    NOT NULL,
    consumer     TEXT    NOT NULL,
    -- What the event means; the same key with another fingerprint is a conflict.
    fingerprint  BLOB    NOT NULL CHECK (length(fingerprint) = 16),
    -- 1 applied, 2 recorded as having no effect
    outcome      INTEGER NOT NULL CHECK (outcome IN (1, 2)),
    payment_id   TEXT,
    received_at  INTEGER NOT NULL,
    processed_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (event_id, source, consumer)
) STRICT, WITHOUT ROWID;

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

-- Events that had no effect: why, and the bytes as they came. The rows are large, so they are not in their key.
CREATE TABLE recorded_events (
    event_id    TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    consumer    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    payload     BLOB    NOT NULL,
    recorded_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (event_id, source, consumer),
    FOREIGN KEY (event_id, source, consumer) REFERENCES processed_events
) STRICT;

-- Names this store to the cache, together with the number of the file, which a copy does not have.
CREATE TABLE store_identity (
    singleton INTEGER PRIMARY KEY DEFAULT 1 CHECK (singleton = 1),
    id        TEXT    NOT NULL DEFAULT (lower(hex(randomblob(16)))),
    -- When somebody last made sure that the store can be written to.
    probed_at INTEGER
) STRICT;

INSERT INTO store_identity DEFAULT VALUES;
