ALTER TABLE purges DROP COLUMN recorded, DROP COLUMN applied;
