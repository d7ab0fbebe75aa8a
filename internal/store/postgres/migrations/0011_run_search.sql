-- What lists of runs are filtered by: the goal with small ASCII letters, and the domains
-- of the plan between commas. It stands apart from the plan, which is large to read.
CREATE TABLE run_search (
  created_at BIGINT NOT NULL,
  run_id     TEXT   COLLATE "C" NOT NULL,
  goal       TEXT   COLLATE "C" NOT NULL,
  domains    TEXT   COLLATE "C" NOT NULL,
  PRIMARY KEY (created_at, run_id)
);
