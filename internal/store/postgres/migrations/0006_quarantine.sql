-- Runs that were open when the database was restored: nobody goes on with one until
-- a person has released it.
CREATE TABLE quarantine (
  run_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  since  BIGINT NOT NULL
);
