-- +goose Up
-- Shared by every domain: stored credentials and counters that replicas share.
CREATE TABLE secrets (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (scope, name)
);

CREATE TABLE throttles (
    key TEXT NOT NULL,
    window_start BIGINT NOT NULL,
    n BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (key, window_start)
);
CREATE INDEX throttles_expires_at ON throttles (expires_at);
