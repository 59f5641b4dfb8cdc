-- Events by moment: for people who look for one, and for what removes the old ones.
CREATE INDEX processed_events_by_moment ON processed_events (consumer, processed_at);
