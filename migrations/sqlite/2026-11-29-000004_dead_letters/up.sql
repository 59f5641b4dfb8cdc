-- Events that were given up, the jobs that replay them, and what operators have done. Payloads are bytes and
-- lists are JSON as text, so that whatever was given up can be kept.

-- Events that were given up, whole, and why.
CREATE TABLE dead_letters (
    id               INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    -- The same for every delivery of one message: stored once.
    arrival          BLOB    NOT NULL UNIQUE CHECK (length(arrival) = 32),
    consumer         TEXT    NOT NULL,
    -- None, as the event id, for a message that could not be read.
    source           TEXT,
    event_id         TEXT,
    kind             TEXT,
    received_at      INTEGER,
    content_type     TEXT,
    -- The kept request headers: [["name", "value"], ...].
    headers          TEXT    NOT NULL,
    traceparent      TEXT,
    tracestate       TEXT,
    failed_attempts  INTEGER NOT NULL CHECK (failed_attempts >= 0),
    -- The failures, oldest first: [{"at": microseconds since 1970, "class": .., "error": ..}, ...].
    history          TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    detail           TEXT    NOT NULL,
    dead_lettered_at INTEGER NOT NULL,
    worker           TEXT,
    release          TEXT,
    payment_id       TEXT,
    account          TEXT,
    amount_minor     INTEGER,
    currency         TEXT    CHECK (length(currency) = 3),
    -- Letters with the same one failed alike.
    failure_group    BLOB    NOT NULL CHECK (length(failure_group) = 16),
    state            TEXT    NOT NULL DEFAULT 'open'
                     CHECK (state IN ('open', 'replaying', 'replayed', 'discarded')),
    -- It arrived again while it was being replayed, so it is open again afterwards.
    came_back        INTEGER NOT NULL DEFAULT 0 CHECK (came_back IN (0, 1)),
    -- How often its event had been replayed before.
    replays          INTEGER NOT NULL DEFAULT 0 CHECK (replays >= 0),
    -- For an edited copy: the letter that it was made of.
    linked_to        INTEGER REFERENCES dead_letters,
    stored_at        INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    settled_at       INTEGER,
    discard_reason   TEXT    CHECK (trim(discard_reason) <> ''),
    -- Last, so that no list reads through it.
    payload          BLOB    NOT NULL,
    CONSTRAINT dead_letters_key_check CHECK ((source IS NULL) = (event_id IS NULL)),
    CONSTRAINT dead_letters_amount_check CHECK ((amount_minor IS NULL) = (currency IS NULL)),
    CONSTRAINT dead_letters_settled_check
        CHECK ((state IN ('replayed', 'discarded')) = (settled_at IS NOT NULL)),
    CONSTRAINT dead_letters_discarded_check CHECK ((state = 'discarded') = (discard_reason IS NOT NULL))
) STRICT;

-- Copies are asked for by their letter alone, so they are in no other list.
CREATE INDEX dead_letters_by_moment ON dead_letters (consumer, dead_lettered_at, id)
    WHERE linked_to IS NULL;
CREATE INDEX dead_letters_by_state ON dead_letters (consumer, state, dead_lettered_at, id)
    WHERE linked_to IS NULL;
CREATE INDEX dead_letters_by_group ON dead_letters (consumer, failure_group, state)
    WHERE linked_to IS NULL;
CREATE INDEX dead_letters_by_event ON dead_letters (consumer, source, event_id)
    WHERE source IS NOT NULL;
CREATE INDEX dead_letters_by_payment ON dead_letters (consumer, source, payment_id)
    WHERE payment_id IS NOT NULL;
CREATE INDEX dead_letters_by_original ON dead_letters (linked_to)
    WHERE linked_to IS NOT NULL;

-- Letters that go back to the main queue together. Which ones is decided once.
CREATE TABLE replay_jobs (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    consumer        TEXT    NOT NULL,
    state           TEXT    NOT NULL DEFAULT 'running'
                    CHECK (state IN ('running', 'paused', 'canceled', 'finished')),
    -- What was selected, in words.
    selection       TEXT    NOT NULL,
    actor           TEXT    NOT NULL CHECK (trim(actor) <> ''),
    why             TEXT    NOT NULL CHECK (trim(why) <> ''),
    ordered_at      INTEGER NOT NULL,
    -- How many letters to take at a time: 1,5,20,100.
    ramp            TEXT    NOT NULL,
    rate_per_second INTEGER NOT NULL CHECK (rate_per_second > 0),
    -- Nobody takes letters of it before.
    not_before      INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
    ended_at        INTEGER,
    CONSTRAINT replay_jobs_ended_check CHECK ((state IN ('canceled', 'finished')) = (ended_at IS NOT NULL))
) STRICT;

CREATE INDEX replay_jobs_by_state ON replay_jobs (consumer, state, id);

-- The letters of jobs, and what became of each.
CREATE TABLE replay_members (
    job_id         INTEGER NOT NULL REFERENCES replay_jobs,
    dead_letter_id INTEGER NOT NULL REFERENCES dead_letters,
    state          TEXT    NOT NULL DEFAULT 'waiting'
                   CHECK (state IN ('waiting', 'replayed', 'failed', 'released')),
    leased_by      TEXT,
    leased_until   INTEGER,
    failures       INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    error          TEXT,
    settled_at     INTEGER,
    PRIMARY KEY (job_id, dead_letter_id),
    CONSTRAINT replay_members_lease_check CHECK ((leased_by IS NULL) = (leased_until IS NULL)),
    CONSTRAINT replay_members_settled_check CHECK ((state = 'waiting') = (settled_at IS NULL))
) STRICT, WITHOUT ROWID;

-- What makes two jobs never share a letter.
CREATE UNIQUE INDEX replay_members_in_one_job ON replay_members (dead_letter_id)
    WHERE state = 'waiting';
CREATE INDEX replay_members_waiting ON replay_members (job_id, failures, dead_letter_id)
    WHERE state = 'waiting';

-- What operators have done. Added to, never changed.
CREATE TABLE operator_actions (
    id     INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    actor  TEXT    NOT NULL CHECK (trim(actor) <> ''),
    at     INTEGER NOT NULL,
    what   TEXT    NOT NULL CHECK (trim(what) <> ''),
    target TEXT    NOT NULL,
    why    TEXT    NOT NULL CHECK (trim(why) <> '')
) STRICT;

CREATE TRIGGER operator_actions_are_not_changed BEFORE UPDATE ON operator_actions
BEGIN
    SELECT RAISE(ABORT, 'operator_actions is added to and never changed');
END;

CREATE TRIGGER operator_actions_are_not_removed BEFORE DELETE ON operator_actions
BEGIN
    SELECT RAISE(ABORT, 'operator_actions is added to and never changed');
END;
