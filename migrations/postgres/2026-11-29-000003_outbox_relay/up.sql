-- How far each destination of the outbox has come, and who relays to it.

CREATE TABLE outbox_destinations (
    consumer    text        COLLATE "C" NOT NULL,
    destination text        COLLATE "C" NOT NULL,
    position    bigint      NOT NULL CHECK (position >= 0),
    gaps        text        NOT NULL DEFAULT '[]',
    settled     bigint      NOT NULL CHECK (settled >= 0 AND settled <= position),
    owner       text,
    term        bigint      NOT NULL DEFAULT 0,
    lease_until timestamptz,
    relayed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, destination)
-- One row for each destination, changed by every batch: with room for its next versions beside it.
) WITH (fillfactor = 20);

COMMENT ON TABLE outbox_destinations IS 'How far each destination has come, and who relays to it.';
COMMENT ON COLUMN outbox_destinations.position IS 'The highest outbox.seq that was handed out.';
COMMENT ON COLUMN outbox_destinations.gaps IS
    'Places up to the position that were not there, and may still come: [[first, last, transaction], ...]. '
    'Given up when every transaction before that one has ended.';
COMMENT ON COLUMN outbox_destinations.settled IS
    'Every message up to this place is delivered, in outbox_retries, or will never be there.';
COMMENT ON COLUMN outbox_destinations.owner IS 'The relay that has, or last had, the lease.';
COMMENT ON COLUMN outbox_destinations.term IS 'Rises with every lease; whoever writes must name its own.';
COMMENT ON COLUMN outbox_destinations.relayed_at IS 'When a relay last wrote here.';

-- Messages that a destination did not take, and those that wait behind them.

CREATE TABLE outbox_retries (
    consumer       text        COLLATE "C" NOT NULL,
    destination    text        COLLATE "C" NOT NULL,
    seq            bigint      NOT NULL,
    source         text        COLLATE "C" NOT NULL,
    payment_id     text        COLLATE "C" NOT NULL,
    state          text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'failed')),
    attempts       integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_at        timestamptz,
    first_tried_at timestamptz,
    last_error     text,
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, destination, seq)
);

COMMENT ON TABLE outbox_retries IS
    'Messages of the outbox that a destination has not taken, and those of the same payment behind them.';
COMMENT ON COLUMN outbox_retries.state IS 'waiting, or failed: given up';
COMMENT ON COLUMN outbox_retries.next_at IS 'When it is tried again; none while it waits behind another.';

CREATE INDEX outbox_retries_due ON outbox_retries (consumer, destination, next_at)
    WHERE state = 'waiting' AND next_at IS NOT NULL;

CREATE INDEX outbox_retries_by_payment ON outbox_retries (consumer, destination, source, payment_id, seq)
    WHERE state = 'waiting';
