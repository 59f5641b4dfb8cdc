ALTER TABLE purges DROP COLUMN recorded;
ALTER TABLE purges DROP COLUMN applied;
