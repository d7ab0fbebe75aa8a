-- What was learned of catalogs, so that it is not learned again after a restart.
CREATE TABLE learned (
  id      TEXT    NOT NULL PRIMARY KEY,
  body    BLOB    NOT NULL,
  kept_at INTEGER NOT NULL
) STRICT;
