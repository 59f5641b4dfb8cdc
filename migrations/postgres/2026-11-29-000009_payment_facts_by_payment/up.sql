-- As for payments.
CREATE UNIQUE INDEX CONCURRENTLY payment_facts_by_payment ON payment_facts (payment_id, source, consumer, fact);
