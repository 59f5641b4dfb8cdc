-- How many events were removed because of their age, so that everything that was accepted stays accounted for:
-- those with an effect, and those without one.
ALTER TABLE purges ADD COLUMN applied INTEGER NOT NULL DEFAULT 0 CHECK (applied >= 0);
ALTER TABLE purges ADD COLUMN recorded INTEGER NOT NULL DEFAULT 0 CHECK (recorded >= 0);
