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

-- Every change of the catalog raises one of these counters, chosen at random so
-- that writers do not wait for each other. Their sum tells whether a list that
-- was read before is still true.
CREATE TABLE catalog_revisions (
    shard BIGINT PRIMARY KEY,
    n BIGINT NOT NULL
);
INSERT INTO catalog_revisions (shard, n)
VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 0), (14, 0), (15, 0);
