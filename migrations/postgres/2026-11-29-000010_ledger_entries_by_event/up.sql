-- As for payments.
CREATE UNIQUE INDEX CONCURRENTLY ledger_entries_by_event
    ON ledger_entries (event_id, source, consumer, account, ledger, currency);
