-- Tokens that count, of browsers that are signed in and of links that sign in:
-- their hashes, when somebody was last seen with each, and until when it counts.
CREATE TABLE sign_in (
  hash    TEXT    NOT NULL PRIMARY KEY,
  seen_at INTEGER NOT NULL,
  until   INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_in_over ON sign_in (until);
