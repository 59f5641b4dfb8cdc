DROP INDEX dead_letters_open;
DROP TABLE failure_alerts;
