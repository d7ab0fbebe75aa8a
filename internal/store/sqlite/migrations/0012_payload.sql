-- The payloads of ledger entries, those of one commit in one row: seq is the first
-- of them. Payloads of before are contents by hash.
CREATE TABLE payload (
  run_id TEXT    NOT NULL,
  seq    INTEGER NOT NULL,
  body   BLOB    NOT NULL,
  PRIMARY KEY (run_id, seq)
) STRICT;
