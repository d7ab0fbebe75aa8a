-- Times are nanoseconds since 1970 in UTC, 0 for none. Bodies are JSON.

-- The plan stands apart from the run, because every commit rewrites the run's
-- row and a plan may be large.
CREATE TABLE run (
  id                  TEXT    NOT NULL PRIMARY KEY,
  session_id          TEXT    NOT NULL,
  requester           TEXT    NOT NULL,
  format              INTEGER NOT NULL,
  state               TEXT    NOT NULL,
  owner               TEXT    NOT NULL,
  epoch               INTEGER NOT NULL,
  lease_until         INTEGER NOT NULL,
  wake_seq            INTEGER NOT NULL,
  handled_seq         INTEGER NOT NULL,
  wake_at             INTEGER NOT NULL,
  parked              INTEGER NOT NULL,
  cancel_requested_at INTEGER NOT NULL,
  cancelled_by        TEXT    NOT NULL,
  ledger_seq          INTEGER NOT NULL,
  ledger_head         TEXT    NOT NULL,
  verdict             TEXT    NOT NULL,
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  finished_at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX run_created ON run (created_at, id);
CREATE INDEX run_session ON run (session_id, created_at, id);
CREATE INDEX run_requester ON run (requester, created_at, id);
-- What may be due. An ordinary commit of a held run changes none of these.
CREATE INDEX run_awake ON run (created_at, id) WHERE finished_at = 0 AND parked = 0;
CREATE INDEX run_woken ON run (created_at, id) WHERE finished_at = 0 AND parked = 1 AND wake_seq > handled_seq;
CREATE INDEX run_timer ON run (wake_at, id) WHERE finished_at = 0 AND parked = 1 AND wake_at > 0;
CREATE INDEX run_ended ON run (finished_at, id) WHERE finished_at > 0;

CREATE TABLE plan (
  run_id TEXT NOT NULL PRIMARY KEY,
  body   TEXT NOT NULL
) STRICT;

CREATE TABLE node (
  place   INTEGER PRIMARY KEY,
  run_id  TEXT NOT NULL,
  node_id TEXT NOT NULL,
  body    TEXT NOT NULL,
  UNIQUE (run_id, node_id)
) STRICT;

CREATE TABLE interrupt (
  place      INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  run_id     TEXT NOT NULL,
  code       TEXT NOT NULL,
  type       TEXT NOT NULL,
  status     TEXT NOT NULL,
  body       TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX interrupt_code ON interrupt (code) WHERE status = 'open' AND code <> '';
CREATE INDEX interrupt_run ON interrupt (run_id);
CREATE INDEX interrupt_session ON interrupt (session_id);
CREATE INDEX interrupt_open ON interrupt (place) WHERE status = 'open';

CREATE TABLE intent (
  place     INTEGER PRIMARY KEY,
  run_id    TEXT    NOT NULL,
  node_id   TEXT    NOT NULL,
  n         INTEGER NOT NULL,
  key       TEXT    NOT NULL UNIQUE,
  nonce     TEXT    NOT NULL UNIQUE,
  operation TEXT    NOT NULL,
  outcome   TEXT    NOT NULL,
  consumed  INTEGER NOT NULL,
  body      TEXT    NOT NULL,
  UNIQUE (run_id, node_id, n)
) STRICT;

CREATE TABLE event (
  session_id TEXT    NOT NULL,
  seq        INTEGER NOT NULL,
  run_id     TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

-- The number of a session's last event outlives the events.
CREATE TABLE event_seq (
  session_id TEXT    NOT NULL PRIMARY KEY,
  seq        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Entries are never deleted.
CREATE TABLE ledger (
  run_id TEXT    NOT NULL,
  seq    INTEGER NOT NULL,
  body   TEXT    NOT NULL,
  PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob (
  sha256 TEXT NOT NULL PRIMARY KEY,
  kind   TEXT NOT NULL,
  body   BLOB NOT NULL
) STRICT;

-- Which runs name a blob; one that no run names is collected.
CREATE TABLE blob_name (
  sha256 TEXT NOT NULL,
  run_id TEXT NOT NULL,
  PRIMARY KEY (sha256, run_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_name_run ON blob_name (run_id);

CREATE TABLE node_data (
  run_id     TEXT    NOT NULL,
  node_id    TEXT    NOT NULL,
  expires_at INTEGER NOT NULL,
  body       BLOB    NOT NULL,
  PRIMARY KEY (run_id, node_id)
) STRICT;

CREATE INDEX node_data_expiry ON node_data (expires_at);

CREATE TABLE held_lock (
  key     TEXT    NOT NULL PRIMARY KEY,
  run_id  TEXT    NOT NULL,
  node_id TEXT    NOT NULL,
  since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX held_lock_node ON held_lock (run_id, node_id);

-- The queue of a key. A waiter is woken when the key is freed and keeps its
-- place until it takes the key or rests without it.
CREATE TABLE lock_waiter (
  place   INTEGER PRIMARY KEY,
  key     TEXT    NOT NULL,
  run_id  TEXT    NOT NULL,
  node_id TEXT    NOT NULL,
  woken   INTEGER NOT NULL,
  UNIQUE (key, run_id, node_id)
) STRICT;

CREATE INDEX lock_waiter_run ON lock_waiter (run_id);

CREATE TABLE session (
  id          TEXT    NOT NULL PRIMARY KEY,
  owner       TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  webhook_url TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  body        TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_created ON session (created_at, id);
CREATE INDEX session_owner ON session (owner, created_at, id);

CREATE TABLE turn (
  place        INTEGER PRIMARY KEY,
  conversation TEXT NOT NULL,
  key          TEXT NOT NULL,
  model        TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  interrupt_id TEXT NOT NULL,
  body         TEXT NOT NULL,
  UNIQUE (conversation, key, model)
) STRICT;

CREATE INDEX turn_session ON turn (session_id);
CREATE INDEX turn_interrupt ON turn (interrupt_id) WHERE interrupt_id <> '';

CREATE TABLE preview (
  owner      TEXT    NOT NULL,
  plan_hash  TEXT    NOT NULL,
  expires_at INTEGER NOT NULL,
  body       TEXT    NOT NULL,
  PRIMARY KEY (owner, plan_hash)
) STRICT;

CREATE INDEX preview_expiry ON preview (expires_at);

CREATE TABLE outbox (
  place      INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  session_id TEXT    NOT NULL,
  url        TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  attempts   INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX outbox_due ON outbox (due_at, place);

CREATE TABLE secret (
  name  TEXT NOT NULL PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
  id         TEXT    NOT NULL PRIMARY KEY,
  hash       TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL,
  body       TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE domain (
  name           TEXT    NOT NULL PRIMARY KEY,
  managed_by     TEXT    NOT NULL,
  registration   TEXT    NOT NULL,
  active_digest  TEXT    NOT NULL,
  active_etag    TEXT    NOT NULL,
  pending_digest TEXT    NOT NULL,
  pending_etag   TEXT    NOT NULL,
  revision       INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE manifest (
  digest TEXT NOT NULL PRIMARY KEY,
  body   BLOB NOT NULL
) STRICT;
