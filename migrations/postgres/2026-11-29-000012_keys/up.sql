-- The same keys as before, their columns in another order. Each takes the name of the one that it stands for. The
-- tables are locked in the order in which a batch locks them.

ALTER TABLE payments
    DROP CONSTRAINT payments_pkey, ADD CONSTRAINT payments_pkey PRIMARY KEY USING INDEX payments_by_id;
ALTER TABLE payment_facts
    DROP CONSTRAINT payment_facts_pkey,
    ADD CONSTRAINT payment_facts_pkey PRIMARY KEY USING INDEX payment_facts_by_payment;
ALTER TABLE outbox
    DROP CONSTRAINT outbox_id_key, ADD CONSTRAINT outbox_id_key UNIQUE USING INDEX outbox_by_id;
ALTER TABLE ledger_entries
    DROP CONSTRAINT ledger_entries_pkey,
    ADD CONSTRAINT ledger_entries_pkey PRIMARY KEY USING INDEX ledger_entries_by_event;
