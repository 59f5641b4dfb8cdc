-- Events that were given up, the jobs that replay them, and what operators have done. Payloads are bytes and
-- lists are JSON as text, so that whatever was given up can be kept.

CREATE TABLE dead_letters (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    arrival          bytea       NOT NULL UNIQUE CHECK (octet_length(arrival) = 32),
    consumer         text        COLLATE "C" NOT NULL,
    source           text        COLLATE "C",
    event_id         text        COLLATE "C",
    kind             text        COLLATE "C",
    received_at      timestamptz,
    content_type     text,
    headers          text        NOT NULL,
    traceparent      text,
    tracestate       text,
    payload          bytea       NOT NULL,
    failed_attempts  bigint      NOT NULL CHECK (failed_attempts >= 0),
    history          text        NOT NULL,
    reason           text        COLLATE "C" NOT NULL,
    detail           text        NOT NULL,
    dead_lettered_at timestamptz NOT NULL,
    worker           text,
    release          text,
    payment_id       text        COLLATE "C",
    account          text        COLLATE "C",
    amount_minor     bigint,
    currency         text        COLLATE "C" CHECK (length(currency) = 3),
    failure_group    bytea       NOT NULL CHECK (octet_length(failure_group) = 16),
    state            text        COLLATE "C" NOT NULL DEFAULT 'open'
                     CHECK (state IN ('open', 'replaying', 'replayed', 'discarded')),
    came_back        boolean     NOT NULL DEFAULT false,
    replays          bigint      NOT NULL DEFAULT 0 CHECK (replays >= 0),
    linked_to        bigint      REFERENCES dead_letters,
    stored_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    settled_at       timestamptz,
    discard_reason   text        CHECK (btrim(discard_reason) <> ''),
    CONSTRAINT dead_letters_key_check CHECK ((source IS NULL) = (event_id IS NULL)),
    CONSTRAINT dead_letters_amount_check CHECK ((amount_minor IS NULL) = (currency IS NULL)),
    CONSTRAINT dead_letters_settled_check
        CHECK ((state IN ('replayed', 'discarded')) = (settled_at IS NOT NULL)),
    CONSTRAINT dead_letters_discarded_check CHECK ((state = 'discarded') = (discard_reason IS NOT NULL))
-- Payloads out of the way, so that a change of state does not write them once more.
) WITH (toast_tuple_target = 256);

COMMENT ON TABLE dead_letters IS 'Events that were given up, whole, and why.';
COMMENT ON COLUMN dead_letters.arrival IS 'The same for every delivery of one message: stored once.';
COMMENT ON COLUMN dead_letters.source IS 'None, as the event id, for a message that could not be read.';
COMMENT ON COLUMN dead_letters.headers IS 'The kept request headers: [["name", "value"], ...].';
COMMENT ON COLUMN dead_letters.history IS
    'The failures, oldest first: [{"at": microseconds since 1970, "class": .., "error": ..}, ...].';
COMMENT ON COLUMN dead_letters.failure_group IS 'Letters with the same one failed alike.';
COMMENT ON COLUMN dead_letters.came_back IS
    'It arrived again while it was being replayed, so it is open again afterwards.';
COMMENT ON COLUMN dead_letters.replays IS 'How often its event had been replayed before.';
COMMENT ON COLUMN dead_letters.linked_to IS 'For an edited copy: the letter that it was made of.';

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

CREATE TABLE replay_jobs (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer        text        COLLATE "C" NOT NULL,
    state           text        COLLATE "C" NOT NULL DEFAULT 'running'
                    CHECK (state IN ('running', 'paused', 'canceled', 'finished')),
    selection       text        NOT NULL,
    actor           text        NOT NULL CHECK (btrim(actor) <> ''),
    why             text        NOT NULL CHECK (btrim(why) <> ''),
    ordered_at      timestamptz NOT NULL,
    ramp            text        NOT NULL,
    rate_per_second bigint      NOT NULL CHECK (rate_per_second > 0),
    not_before      timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at        timestamptz,
    CONSTRAINT replay_jobs_ended_check CHECK ((state IN ('canceled', 'finished')) = (ended_at IS NOT NULL))
);

COMMENT ON TABLE replay_jobs IS 'Letters that go back to the main queue together. Which ones is decided once.';
COMMENT ON COLUMN replay_jobs.selection IS 'What was selected, in words.';
COMMENT ON COLUMN replay_jobs.ramp IS 'How many letters to take at a time: 1,5,20,100.';
COMMENT ON COLUMN replay_jobs.not_before IS 'Nobody takes letters of it before.';

CREATE INDEX replay_jobs_by_state ON replay_jobs (consumer, state, id);

CREATE TABLE replay_members (
    job_id         bigint      NOT NULL REFERENCES replay_jobs,
    dead_letter_id bigint      NOT NULL REFERENCES dead_letters,
    state          text        COLLATE "C" NOT NULL DEFAULT 'waiting'
                   CHECK (state IN ('waiting', 'replayed', 'failed', 'released')),
    leased_by      text,
    leased_until   timestamptz,
    failures       bigint      NOT NULL DEFAULT 0 CHECK (failures >= 0),
    error          text,
    settled_at     timestamptz,
    PRIMARY KEY (job_id, dead_letter_id),
    CONSTRAINT replay_members_lease_check CHECK ((leased_by IS NULL) = (leased_until IS NULL)),
    CONSTRAINT replay_members_settled_check CHECK ((state = 'waiting') = (settled_at IS NULL))
);

COMMENT ON TABLE replay_members IS 'The letters of jobs, and what became of each.';

-- What makes two jobs never share a letter.
CREATE UNIQUE INDEX replay_members_in_one_job ON replay_members (dead_letter_id)
    WHERE state = 'waiting';
CREATE INDEX replay_members_waiting ON replay_members (job_id, failures, dead_letter_id)
    WHERE state = 'waiting';

CREATE TABLE operator_actions (
    id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor  text        NOT NULL CHECK (btrim(actor) <> ''),
    at     timestamptz NOT NULL,
    what   text        NOT NULL CHECK (btrim(what) <> ''),
    target text        NOT NULL,
    why    text        NOT NULL CHECK (btrim(why) <> '')
);

COMMENT ON TABLE operator_actions IS 'What operators have done. Added to, never changed.';

CREATE FUNCTION refuse_to_change_operator_actions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'operator_actions is added to and never changed' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER operator_actions_never_change
    BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_actions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_operator_actions();
