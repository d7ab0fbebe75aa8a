-- The last transaction of the writer of each process that was committed. A transaction of the writer holds
-- its row: whoever asks for it after a connection was lost learns whether it was
-- committed. (Numbers of transactions do not tell: after a crash the server gives
-- those anew that had not reached its log.)
CREATE TABLE writer (
  origin  TEXT   COLLATE "C" PRIMARY KEY,
  attempt BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
) WITH (fillfactor = 50);
