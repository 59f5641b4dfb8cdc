-- The key with its most different column first, so that finding a place in it compares one column, not three.
-- Another step makes it the primary key.
CREATE UNIQUE INDEX CONCURRENTLY payments_by_id ON payments (payment_id, source, consumer);
