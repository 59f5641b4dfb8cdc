DROP INDEX payments_by_id;
