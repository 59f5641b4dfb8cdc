-- How many events were removed because of their age, so that everything that was accepted stays accounted for.

ALTER TABLE purges
    ADD COLUMN applied bigint NOT NULL DEFAULT 0 CHECK (applied >= 0),
    ADD COLUMN recorded bigint NOT NULL DEFAULT 0 CHECK (recorded >= 0);

COMMENT ON COLUMN purges.applied IS 'How many events with an effect were removed.';
COMMENT ON COLUMN purges.recorded IS 'How many events without one were removed.';
