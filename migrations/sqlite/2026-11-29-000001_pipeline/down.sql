DROP TABLE store_identity;
DROP TABLE recorded_events;
DROP TABLE payments;
DROP TABLE processed_events;
