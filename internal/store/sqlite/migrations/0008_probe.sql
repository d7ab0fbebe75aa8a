-- One row that is written to find out whether anything can be.
CREATE TABLE probe (
  one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  at  INTEGER NOT NULL
) STRICT;
