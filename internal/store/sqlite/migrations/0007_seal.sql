-- What people see is sealed: for each scope the sum of the keyed hashes of its
-- rows. logged is the version that the log has a leaf of.
CREATE TABLE seal (
  scope   TEXT    NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  logged  INTEGER NOT NULL DEFAULT 0,
  sum     BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX seal_pending ON seal (scope) WHERE version <> logged;

-- The key that the sums were made with; no row while nothing is sealed.
CREATE TABLE seal_key (
  one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  id  TEXT    NOT NULL
) STRICT;

-- The transparency log: its leaves, the hashes of its tree by their storage
-- index, and the roots that were signed.
CREATE TABLE log_leaf (
  place INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  body  TEXT NOT NULL
) STRICT;

CREATE INDEX log_leaf_scope ON log_leaf (scope, place);

CREATE TABLE log_hash (
  place INTEGER PRIMARY KEY,
  hash  BLOB NOT NULL
) STRICT;

CREATE TABLE log_root (
  size INTEGER NOT NULL PRIMARY KEY,
  body TEXT    NOT NULL
) STRICT;
