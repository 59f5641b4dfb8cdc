-- The worker that gave up on it; none for letters of a release before, and for what ended the process itself.
ALTER TABLE dead_letters ADD COLUMN worker TEXT;
