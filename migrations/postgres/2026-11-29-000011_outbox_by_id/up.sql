-- As for payments.
CREATE UNIQUE INDEX CONCURRENTLY outbox_by_id ON outbox (id, consumer);
