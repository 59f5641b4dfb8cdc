-- When the event was put into the main queue; none for one of a release before: on its arrival.
ALTER TABLE events ADD COLUMN queued_at INTEGER;
