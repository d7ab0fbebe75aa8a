-- What was learned of catalogs, so that one server learns it for all.
CREATE TABLE learned (
  id      TEXT   COLLATE "C" PRIMARY KEY,
  body    BYTEA  NOT NULL,
  kept_at BIGINT NOT NULL
);
ALTER TABLE learned ALTER COLUMN body SET STORAGE EXTERNAL;
