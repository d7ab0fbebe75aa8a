-- Runs by their state, the newest first. What is written for it is written when a run ends,
-- and when it is parked and goes on, but not when its state changes before. finished_at makes
-- the indexes of ended runs whole for SQLite, so that it reads no rows to count them.
CREATE INDEX run_over ON run (state, created_at, id, finished_at) WHERE finished_at > 0;
CREATE INDEX run_over_of ON run (requester, state, created_at, id, finished_at) WHERE finished_at > 0;
CREATE INDEX run_parked ON run (created_at, id) WHERE finished_at = 0 AND parked = 1;
