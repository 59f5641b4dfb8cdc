ALTER TABLE dead_letters DROP COLUMN worker;
