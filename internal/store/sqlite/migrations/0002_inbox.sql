-- What came in through channels that deliver at least once. The body goes when
-- an item is finished; its id stays for a while, so that a repeat is known.
CREATE TABLE inbox (
  place       INTEGER PRIMARY KEY,
  channel     TEXT    NOT NULL,
  id          TEXT    NOT NULL,
  reply       TEXT    NOT NULL,
  finished    INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  body        TEXT    NOT NULL,
  UNIQUE (channel, id)
) STRICT;

CREATE INDEX inbox_unfinished ON inbox (channel, place) WHERE finished = 0;
CREATE INDEX inbox_finished ON inbox (received_at) WHERE finished = 1;
