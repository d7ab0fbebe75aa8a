-- The payloads of ledger entries, those of one commit in one row: seq is the first
-- of them. Payloads of before are contents by hash.
CREATE TABLE payload (
  run_id TEXT   COLLATE "C" NOT NULL,
  seq    BIGINT NOT NULL,
  body   BYTEA  NOT NULL,
  PRIMARY KEY (run_id, seq)
);
