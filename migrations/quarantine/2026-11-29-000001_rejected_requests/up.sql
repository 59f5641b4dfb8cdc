-- Requests whose signature does not hold, bounded: the newest are kept.
CREATE TABLE rejected_requests (
    -- Never used twice, so that an operator's number means one request for ever.
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    -- Microseconds since the epoch.
    received_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    -- How much room it takes, in bytes; before the large columns, so that it is read without them.
    bytes INTEGER NOT NULL,
    query TEXT NOT NULL,
    -- [["name", "base64 of the value"], ...]: a header's value need not be text.
    headers TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;
