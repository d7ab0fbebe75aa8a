-- Who does what only one of all processes does.
CREATE TABLE leader (
  name        TEXT   COLLATE "C" PRIMARY KEY,
  owner       TEXT   NOT NULL,
  lease_until BIGINT NOT NULL
);
