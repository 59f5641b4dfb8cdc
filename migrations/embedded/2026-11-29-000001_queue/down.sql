DROP TABLE probe;
DROP TABLE dead_letters;
DROP TABLE events;
