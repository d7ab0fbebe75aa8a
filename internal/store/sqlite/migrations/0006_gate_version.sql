-- An interrupt is changed only if nobody else has changed it since it was read.
ALTER TABLE interrupt ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
