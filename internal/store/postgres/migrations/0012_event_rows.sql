-- A row of events holds those of one commit, as a JSON list; seq is the number of the last.
-- Rows of one event are read as before. An earlier release does not know of it.
COMMENT ON TABLE event IS 'A row holds the events of one commit; seq is the number of the last.';
