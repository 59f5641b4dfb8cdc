-- How far each destination of the outbox has come, and who relays to it.
CREATE TABLE outbox_destinations (
    consumer    TEXT    NOT NULL,
    destination TEXT    NOT NULL,
    -- The highest outbox.seq that was handed out. There is one writer, so nothing comes later below it: every
    -- message up to this place is delivered or in outbox_retries.
    position    INTEGER NOT NULL CHECK (position >= 0),
    -- The relay that has, or last had, the lease.
    owner       TEXT,
    -- Rises with every lease; whoever writes must name its own.
    term        INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER,
    -- When a relay last wrote here.
    relayed_at  INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    created_at  INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (consumer, destination)
) STRICT, WITHOUT ROWID;

-- Messages of the outbox that a destination has not taken, and those of the same payment behind them.
CREATE TABLE outbox_retries (
    consumer       TEXT    NOT NULL,
    destination    TEXT    NOT NULL,
    seq            INTEGER NOT NULL,
    source         TEXT    NOT NULL,
    payment_id     TEXT    NOT NULL,
    -- waiting, or failed: given up
    state          TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'failed')),
    attempts       INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    -- When it is tried again; none while it waits behind another.
    next_at        INTEGER,
    first_tried_at INTEGER,
    last_error     TEXT,
    created_at     INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    PRIMARY KEY (consumer, destination, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_retries_due ON outbox_retries (consumer, destination, next_at)
    WHERE state = 'waiting' AND next_at IS NOT NULL;

CREATE INDEX outbox_retries_by_payment ON outbox_retries (consumer, destination, source, payment_id, seq)
    WHERE state = 'waiting';
