-- +goose Up
CREATE TABLE systems (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    metadata JSONB NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX systems_name ON systems (lower(name));

CREATE TABLE system_links (
    id TEXT PRIMARY KEY,
    system_id TEXT NOT NULL REFERENCES systems (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    url TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX system_links_system_id ON system_links (system_id);

CREATE TABLE system_groups (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    metadata JSONB NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE system_group_members (
    group_id TEXT NOT NULL REFERENCES system_groups (id) ON DELETE CASCADE,
    system_id TEXT NOT NULL REFERENCES systems (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, system_id)
);
CREATE INDEX system_group_members_system_id ON system_group_members (system_id);
