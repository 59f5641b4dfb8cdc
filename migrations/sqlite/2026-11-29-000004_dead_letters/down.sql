DROP TABLE operator_actions;
DROP TABLE replay_members;
DROP TABLE replay_jobs;
DROP TABLE dead_letters;
