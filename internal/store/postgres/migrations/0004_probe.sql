-- One row that is written to find out whether anything can be.
CREATE TABLE probe (
  one SMALLINT PRIMARY KEY CHECK (one = 1),
  at  BIGINT   NOT NULL
);
