-- What has been accepted and is not settled yet: the main queue, and what waits for another attempt.
CREATE TABLE events (
    -- Given by the one writer, rising: the order of the main queue.
    id INTEGER NOT NULL PRIMARY KEY,
    source TEXT NOT NULL,
    event_id TEXT NOT NULL,
    -- Moments are microseconds since the epoch.
    received_at INTEGER NOT NULL,
    content_type TEXT,
    -- The kept request headers: [["name", "value"], ...].
    headers TEXT NOT NULL,
    traceparent TEXT,
    tracestate TEXT,
    payload BLOB NOT NULL,
    failed_attempts INTEGER NOT NULL DEFAULT 0,
    -- The failures, oldest first: [{"at": .., "class": .., "error": ..}, ...].
    history TEXT NOT NULL DEFAULT '[]',
    -- How often the process ended without a word while it had this event in hand.
    unclean_stops INTEGER NOT NULL DEFAULT 0,
    -- When the next attempt is due; none for what is in the main queue.
    due_at INTEGER
) STRICT;

-- Finds what is due, walks the main queue (the rows without a moment, by id), and counts both without
-- reading the payloads.
CREATE INDEX events_by_due ON events (due_at, id);

-- What was given up, whole, and why.
CREATE TABLE dead_letters (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    event_id TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    content_type TEXT,
    headers TEXT NOT NULL,
    traceparent TEXT,
    tracestate TEXT,
    payload BLOB NOT NULL,
    failed_attempts INTEGER NOT NULL,
    history TEXT NOT NULL,
    unclean_stops INTEGER NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    dead_lettered_at INTEGER NOT NULL,
    -- The release that gave up on it.
    release TEXT NOT NULL
) STRICT;

-- Counts them without reading the payloads.
CREATE INDEX dead_letters_by_moment ON dead_letters (dead_lettered_at);

-- Written to find out whether the disk takes anything.
CREATE TABLE probe (id INTEGER NOT NULL PRIMARY KEY, padding BLOB NOT NULL) STRICT;
