-- Retention looks for sessions in which nothing has happened for long.
CREATE INDEX session_updated ON session (updated_at, id);
