DROP INDEX ledger_entries_by_event;
