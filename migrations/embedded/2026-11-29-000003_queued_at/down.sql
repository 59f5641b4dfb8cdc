ALTER TABLE events DROP COLUMN queued_at;
