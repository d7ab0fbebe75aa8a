-- What people see is sealed: for each scope the sum of the keyed hashes of its
-- rows. logged is the version that the log has a leaf of. Version 0 is in no
-- transaction but its own.
CREATE TABLE seal (
  scope   TEXT   COLLATE "C" PRIMARY KEY,
  version BIGINT NOT NULL,
  logged  BIGINT NOT NULL DEFAULT 0,
  sum     BYTEA  NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX seal_pending ON seal (scope) WHERE version <> logged;

-- The key that the sums were made with, and how many columns are watched by the
-- triggers; no row while nothing is sealed.
CREATE TABLE seal_key (
  one     SMALLINT PRIMARY KEY CHECK (one = 1),
  id      TEXT     NOT NULL,
  watched INTEGER  NOT NULL
);

-- The transparency log: its leaves, the hashes of its tree by their storage
-- index, and the roots that were signed.
CREATE TABLE log_leaf (
  place BIGINT PRIMARY KEY,
  scope TEXT   COLLATE "C" NOT NULL,
  body  TEXT   NOT NULL
);

CREATE INDEX log_leaf_scope ON log_leaf (scope, place);

CREATE TABLE log_hash (
  place BIGINT PRIMARY KEY,
  hash  BYTEA  NOT NULL
);

CREATE TABLE log_root (
  size BIGINT PRIMARY KEY,
  body TEXT   NOT NULL
);
