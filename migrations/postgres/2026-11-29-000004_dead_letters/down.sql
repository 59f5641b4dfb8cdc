DROP TABLE operator_actions;
DROP FUNCTION refuse_to_change_operator_actions;
DROP TABLE replay_members;
DROP TABLE replay_jobs;
DROP TABLE dead_letters;
