DROP TABLE outbox_retries;
DROP TABLE outbox_destinations;
