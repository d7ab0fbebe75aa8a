-- Tokens that count, of browsers that are signed in and of links that sign in:
-- their hashes, when somebody was last seen with each, and until when it counts.
CREATE TABLE sign_in (
  hash    TEXT   COLLATE "C" PRIMARY KEY,
  seen_at BIGINT NOT NULL,
  until   BIGINT NOT NULL
);
CREATE INDEX sign_in_over ON sign_in (until);
