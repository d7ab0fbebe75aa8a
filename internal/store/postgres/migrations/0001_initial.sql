-- Times are nanoseconds since 1970 in UTC, 0 for none; they are compared with
-- the clock of this server. Bodies are JSON as text: what was hashed comes back
-- byte by byte. Ids sort by their bytes, whatever the locale of the database.

-- The plan stands apart from the run, because every commit rewrites the run's
-- row and a plan may be large. The room in each page lets these rewrites stay
-- where they are.
CREATE TABLE run (
  id                  TEXT    COLLATE "C" PRIMARY KEY,
  session_id          TEXT    COLLATE "C" NOT NULL,
  requester           TEXT    COLLATE "C" NOT NULL,
  format              INTEGER NOT NULL,
  state               TEXT    NOT NULL,
  owner               TEXT    NOT NULL,
  epoch               BIGINT  NOT NULL,
  lease_until         BIGINT  NOT NULL,
  wake_seq            BIGINT  NOT NULL,
  handled_seq         BIGINT  NOT NULL,
  wake_at             BIGINT  NOT NULL,
  parked              BOOLEAN NOT NULL,
  cancel_requested_at BIGINT  NOT NULL,
  cancelled_by        TEXT    NOT NULL,
  ledger_seq          BIGINT  NOT NULL,
  ledger_head         TEXT    NOT NULL,
  verdict             TEXT    NOT NULL,
  created_at          BIGINT  NOT NULL,
  updated_at          BIGINT  NOT NULL,
  finished_at         BIGINT  NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX run_created ON run (created_at, id);
CREATE INDEX run_session ON run (session_id, created_at, id);
CREATE INDEX run_requester ON run (requester, created_at, id);
-- What may be due. An ordinary commit of a held run changes none of these.
CREATE INDEX run_awake ON run (created_at, id) WHERE finished_at = 0 AND NOT parked;
CREATE INDEX run_woken ON run (created_at, id) WHERE finished_at = 0 AND parked AND wake_seq > handled_seq;
CREATE INDEX run_timer ON run (wake_at, id) WHERE finished_at = 0 AND parked AND wake_at > 0;
CREATE INDEX run_ended ON run (finished_at, id) WHERE finished_at > 0;

CREATE TABLE plan (
  run_id TEXT COLLATE "C" PRIMARY KEY,
  body   TEXT NOT NULL
);

CREATE TABLE node (
  place   BIGINT GENERATED ALWAYS AS IDENTITY,
  run_id  TEXT COLLATE "C" NOT NULL,
  node_id TEXT COLLATE "C" NOT NULL,
  body    TEXT NOT NULL,
  PRIMARY KEY (run_id, node_id)
) WITH (fillfactor = 80);

CREATE TABLE interrupt (
  place      BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id         TEXT    COLLATE "C" NOT NULL UNIQUE,
  session_id TEXT    COLLATE "C" NOT NULL,
  run_id     TEXT    COLLATE "C" NOT NULL,
  code       TEXT    COLLATE "C" NOT NULL,
  type       TEXT    NOT NULL,
  status     TEXT    NOT NULL,
  version    BIGINT  NOT NULL,
  -- Who may see it: whose session it belongs to, and what somebody needs who
  -- could decide it.
  owner      TEXT    COLLATE "C" NOT NULL,
  roles      TEXT[]  NOT NULL,
  domain     TEXT    NOT NULL,
  class      TEXT    NOT NULL,
  created_at BIGINT  NOT NULL,
  body       TEXT    NOT NULL
);

CREATE UNIQUE INDEX interrupt_code ON interrupt (code) WHERE status = 'open' AND code <> '';
CREATE INDEX interrupt_run ON interrupt (run_id);
CREATE INDEX interrupt_session ON interrupt (session_id);
CREATE INDEX interrupt_open ON interrupt (place) WHERE status = 'open';
CREATE INDEX interrupt_owner ON interrupt (owner, place);

CREATE TABLE intent (
  place     BIGINT  GENERATED ALWAYS AS IDENTITY,
  run_id    TEXT    COLLATE "C" NOT NULL,
  node_id   TEXT    COLLATE "C" NOT NULL,
  n         INTEGER NOT NULL,
  key       TEXT    COLLATE "C" NOT NULL UNIQUE,
  nonce     TEXT    COLLATE "C" PRIMARY KEY,
  operation TEXT    NOT NULL,
  outcome   TEXT    NOT NULL,
  consumed  BOOLEAN NOT NULL,
  body      TEXT    NOT NULL,
  UNIQUE (run_id, node_id, n)
);

CREATE TABLE event (
  session_id TEXT   COLLATE "C" NOT NULL,
  seq        BIGINT NOT NULL,
  run_id     TEXT   COLLATE "C" NOT NULL,
  body       TEXT   NOT NULL,
  PRIMARY KEY (session_id, seq)
);

-- The number of a session's last event outlives the events. Whoever appends
-- holds the row until the commit: commit order is number order.
CREATE TABLE event_seq (
  session_id TEXT   COLLATE "C" PRIMARY KEY,
  seq        BIGINT NOT NULL
) WITH (fillfactor = 70);

-- Entries are never deleted.
CREATE TABLE ledger (
  run_id TEXT   COLLATE "C" NOT NULL,
  seq    BIGINT NOT NULL,
  body   TEXT   NOT NULL,
  PRIMARY KEY (run_id, seq)
);

CREATE TABLE blob (
  sha256 TEXT  COLLATE "C" PRIMARY KEY,
  kind   TEXT  NOT NULL,
  body   BYTEA NOT NULL
);

-- Which runs name a blob; one that no run names is collected.
CREATE TABLE blob_name (
  sha256 TEXT COLLATE "C" NOT NULL,
  run_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (sha256, run_id)
);

CREATE INDEX blob_name_run ON blob_name (run_id);

CREATE TABLE node_data (
  run_id     TEXT   COLLATE "C" NOT NULL,
  node_id    TEXT   COLLATE "C" NOT NULL,
  expires_at BIGINT NOT NULL,
  body       BYTEA  NOT NULL,
  PRIMARY KEY (run_id, node_id)
);

CREATE INDEX node_data_expiry ON node_data (expires_at);

CREATE TABLE held_lock (
  key     TEXT   COLLATE "C" PRIMARY KEY,
  run_id  TEXT   COLLATE "C" NOT NULL,
  node_id TEXT   COLLATE "C" NOT NULL,
  since   BIGINT NOT NULL
);

CREATE INDEX held_lock_node ON held_lock (run_id, node_id);

-- The queue of a key. A waiter is woken when the key is freed and keeps its
-- place until it takes the key or rests without it.
CREATE TABLE lock_waiter (
  place   BIGINT  GENERATED ALWAYS AS IDENTITY,
  key     TEXT    COLLATE "C" NOT NULL,
  run_id  TEXT    COLLATE "C" NOT NULL,
  node_id TEXT    COLLATE "C" NOT NULL,
  woken   BOOLEAN NOT NULL,
  PRIMARY KEY (key, run_id, node_id)
);

CREATE INDEX lock_waiter_run ON lock_waiter (run_id);

CREATE TABLE session (
  id          TEXT   COLLATE "C" PRIMARY KEY,
  version     BIGINT NOT NULL,
  owner       TEXT   COLLATE "C" NOT NULL,
  name        TEXT   NOT NULL,
  webhook_url TEXT   NOT NULL,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  body        TEXT   NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX session_created ON session (created_at, id);
CREATE INDEX session_owner ON session (owner, created_at, id);
CREATE INDEX session_updated ON session (updated_at, id);

-- Turns are saved only if nobody else has saved them since, and those that were
-- interrupted are found by whoever finishes them.
CREATE TABLE turn (
  place        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  conversation TEXT   COLLATE "C" NOT NULL,
  key          TEXT   COLLATE "C" NOT NULL,
  model        TEXT   COLLATE "C" NOT NULL,
  version      BIGINT NOT NULL,
  session_id   TEXT   COLLATE "C" NOT NULL,
  interrupt_id TEXT   COLLATE "C" NOT NULL,
  run_id       TEXT   COLLATE "C" NOT NULL,
  outcome      TEXT   NOT NULL,
  begun_at     BIGINT NOT NULL,
  body         TEXT   NOT NULL,
  UNIQUE (conversation, key, model)
) WITH (fillfactor = 80);

CREATE INDEX turn_session ON turn (session_id);
CREATE INDEX turn_interrupt ON turn (interrupt_id) WHERE interrupt_id <> '';
CREATE INDEX turn_unfinished ON turn (begun_at) WHERE outcome = '';

CREATE TABLE preview (
  owner      TEXT   COLLATE "C" NOT NULL,
  plan_hash  TEXT   COLLATE "C" NOT NULL,
  expires_at BIGINT NOT NULL,
  body       TEXT   NOT NULL,
  PRIMARY KEY (owner, plan_hash)
);

CREATE INDEX preview_expiry ON preview (expires_at);

CREATE TABLE outbox (
  place      BIGINT  GENERATED ALWAYS AS IDENTITY,
  id         TEXT    COLLATE "C" PRIMARY KEY,
  session_id TEXT    COLLATE "C" NOT NULL,
  url        TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  attempts   INTEGER NOT NULL,
  due_at     BIGINT  NOT NULL,
  created_at BIGINT  NOT NULL
);

CREATE INDEX outbox_due ON outbox (due_at, place);
CREATE INDEX outbox_session ON outbox (session_id);

-- What came in through channels that deliver at least once. The body goes when
-- an item is finished; its id stays for a while, so that a repeat is known.
CREATE TABLE inbox (
  place       BIGINT   GENERATED ALWAYS AS IDENTITY,
  channel     TEXT     COLLATE "C" NOT NULL,
  id          TEXT     COLLATE "C" NOT NULL,
  reply       TEXT     NOT NULL,
  finished    SMALLINT NOT NULL,
  received_at BIGINT   NOT NULL,
  body        TEXT     NOT NULL,
  PRIMARY KEY (channel, id)
);

CREATE INDEX inbox_unfinished ON inbox (channel, place) WHERE finished = 0;
CREATE INDEX inbox_finished ON inbox (received_at) WHERE finished <> 0;

CREATE TABLE secret (
  name  TEXT  COLLATE "C" PRIMARY KEY,
  value BYTEA NOT NULL
);

CREATE TABLE api_key (
  id         TEXT   COLLATE "C" PRIMARY KEY,
  hash       TEXT   NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT NOT NULL,
  body       TEXT   NOT NULL
);

CREATE TABLE domain (
  name           TEXT   COLLATE "C" PRIMARY KEY,
  managed_by     TEXT   NOT NULL,
  registration   TEXT   NOT NULL,
  active_digest  TEXT   NOT NULL,
  active_etag    TEXT   NOT NULL,
  pending_digest TEXT   NOT NULL,
  pending_etag   TEXT   NOT NULL,
  revision       BIGINT NOT NULL,
  created_at     BIGINT NOT NULL,
  updated_at     BIGINT NOT NULL
);

CREATE TABLE manifest (
  digest TEXT  COLLATE "C" PRIMARY KEY,
  body   BYTEA NOT NULL
);
