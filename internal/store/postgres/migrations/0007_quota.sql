-- Which servers live, and the places of limits that are too small to be shared.
CREATE TABLE server (
  origin      TEXT   COLLATE "C" PRIMARY KEY,
  alive_until BIGINT NOT NULL
);

CREATE TABLE place (
  key           TEXT    COLLATE "C" NOT NULL,
  number        INTEGER NOT NULL,
  owner         TEXT    COLLATE "C" NOT NULL,
  claimed_until BIGINT  NOT NULL,
  PRIMARY KEY (key, number)
);
