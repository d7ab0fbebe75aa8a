-- Times are nanoseconds since 1970, so that they keep their precision.
CREATE TABLE idempotency_key (
	scope       TEXT   NOT NULL,
	key         TEXT   NOT NULL,
	fingerprint TEXT   NOT NULL,
	state       TEXT   NOT NULL,
	token       TEXT   NOT NULL,
	operation   TEXT   NOT NULL,
	lease_until BIGINT NOT NULL,
	expires_at  BIGINT NOT NULL,
	result      BYTEA,
	PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_key_expiry ON idempotency_key (expires_at);
