-- Times are nanoseconds since 1970, so that they compare as they are.
CREATE TABLE flowise_guard (
	run_id TEXT NOT NULL, sha256 TEXT NOT NULL, expires_at BIGINT NOT NULL, used_by TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (run_id, sha256)
);
CREATE INDEX flowise_guard_expiry ON flowise_guard (expires_at);
CREATE TABLE flowise_body (sha256 TEXT PRIMARY KEY, flow_data BYTEA NOT NULL);
CREATE TABLE flowise_version (
	instance TEXT NOT NULL, chatflow_id TEXT NOT NULL, number INTEGER NOT NULL, label TEXT NOT NULL, labelled BOOLEAN NOT NULL,
	name TEXT NOT NULL, kind TEXT NOT NULL, sha256 TEXT NOT NULL, reason TEXT NOT NULL, run_id TEXT NOT NULL, created_at BIGINT NOT NULL,
	PRIMARY KEY (instance, chatflow_id, number)
);
CREATE INDEX flowise_version_body ON flowise_version (sha256);
CREATE TABLE flowise_operation (
	instance TEXT NOT NULL, capability TEXT NOT NULL, key TEXT NOT NULL, chatflow_id TEXT NOT NULL,
	before_sha256 TEXT NOT NULL, after_sha256 TEXT NOT NULL, before_name TEXT NOT NULL, after_name TEXT NOT NULL,
	previous_version INTEGER NOT NULL, expires_at BIGINT NOT NULL,
	PRIMARY KEY (instance, capability, key)
);
CREATE INDEX flowise_operation_expiry ON flowise_operation (expires_at);
CREATE TABLE flowise_pattern (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, category TEXT NOT NULL, kind TEXT NOT NULL,
	node_types TEXT NOT NULL, fingerprint TEXT NOT NULL, flow_data BYTEA NOT NULL, sha256 TEXT NOT NULL, saved_by TEXT NOT NULL UNIQUE,
	uses INTEGER NOT NULL DEFAULT 0, created_at BIGINT NOT NULL, last_used_at BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE flowise_snapshot (
	instance TEXT NOT NULL, kind TEXT NOT NULL, body BYTEA NOT NULL, refreshed_at BIGINT NOT NULL,
	PRIMARY KEY (instance, kind)
);
CREATE TABLE flowise_repair (
	instance TEXT NOT NULL, run_id TEXT NOT NULL, node TEXT NOT NULL, action TEXT NOT NULL, reason TEXT NOT NULL, at BIGINT NOT NULL
);
CREATE INDEX flowise_repair_run ON flowise_repair (run_id);
