CREATE INDEX flowise_version_time ON flowise_version (instance, created_at);
CREATE TABLE flowise_suite (
	instance TEXT NOT NULL, chatflow_id TEXT NOT NULL, body BYTEA NOT NULL, updated_at BIGINT NOT NULL,
	PRIMARY KEY (instance, chatflow_id)
);
