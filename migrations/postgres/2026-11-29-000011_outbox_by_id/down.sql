DROP INDEX outbox_by_id;
