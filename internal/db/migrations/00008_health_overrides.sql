-- +goose Up
-- Health that people set by hand, such as an incident that says its systems are
-- down. It is folded into the rollup, worst wins. One row per source and system.
CREATE TABLE health_check_overrides (
    source TEXT NOT NULL,
    source_id TEXT NOT NULL,
    system_id TEXT NOT NULL REFERENCES systems (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    PRIMARY KEY (source, source_id, system_id)
);
CREATE INDEX health_check_overrides_system ON health_check_overrides (system_id, status);
