CREATE UNIQUE INDEX outbox_by_id ON outbox (id, consumer);
CREATE UNIQUE INDEX ledger_entries_by_event
    ON ledger_entries (event_id, source, consumer, account, ledger, currency);
CREATE UNIQUE INDEX payment_facts_by_payment ON payment_facts (payment_id, source, consumer, fact);
CREATE UNIQUE INDEX payments_by_id ON payments (payment_id, source, consumer);

ALTER TABLE outbox
    DROP CONSTRAINT outbox_id_key, ADD CONSTRAINT outbox_id_key UNIQUE (consumer, id);
ALTER TABLE ledger_entries
    DROP CONSTRAINT ledger_entries_pkey,
    ADD CONSTRAINT ledger_entries_pkey PRIMARY KEY (consumer, source, event_id, account, ledger, currency);
ALTER TABLE payment_facts
    DROP CONSTRAINT payment_facts_pkey,
    ADD CONSTRAINT payment_facts_pkey PRIMARY KEY (consumer, source, payment_id, fact);
ALTER TABLE payments
    DROP CONSTRAINT payments_pkey, ADD CONSTRAINT payments_pkey PRIMARY KEY (consumer, source, payment_id);
