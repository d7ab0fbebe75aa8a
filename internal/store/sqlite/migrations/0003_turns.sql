-- Sessions and turns are saved only if nobody else has saved them since, and
-- turns that were interrupted are found by whoever finishes them.
ALTER TABLE session ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN begun_at INTEGER NOT NULL DEFAULT 0;
UPDATE turn SET outcome = coalesce(json_extract(body, '$.Outcome'), '');

CREATE INDEX turn_unfinished ON turn (begun_at) WHERE outcome = '';
