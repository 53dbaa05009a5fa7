-- +goose Up
CREATE TABLE incidents (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    -- The title in small letters, for searching: SQLite knows only those of ASCII.
    title_key TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    severity TEXT NOT NULL,
    suppress_notifications BOOLEAN NOT NULL,
    health_override TEXT,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    -- Set exactly while the status is resolved.
    resolved_at TIMESTAMPTZ
);
-- Both in the order of the list, with all that a filter looks at: whatever is
-- asked for is found without a look at the rows that do not match.
CREATE INDEX incidents_active ON incidents (id, status, severity, title_key) WHERE resolved_at IS NULL;
CREATE INDEX incidents_all ON incidents (id, status, severity, title_key);

CREATE TABLE incident_systems (
    incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    system_id TEXT NOT NULL REFERENCES systems (id) ON DELETE CASCADE,
    -- Whether the incident is active, kept here as well so that what concerns a
    -- system now is found without looking through all that ever did.
    active BOOLEAN NOT NULL,
    PRIMARY KEY (incident_id, system_id)
);
CREATE INDEX incident_systems_system ON incident_systems (system_id, incident_id);
CREATE INDEX incident_systems_active ON incident_systems (system_id, incident_id) WHERE active;

CREATE TABLE incident_updates (
    id TEXT PRIMARY KEY,
    incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    message TEXT NOT NULL,
    status_change TEXT,
    audience TEXT NOT NULL,
    author_id TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX incident_updates_incident ON incident_updates (incident_id, id);

CREATE TABLE incident_links (
    id TEXT PRIMARY KEY,
    incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    url TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX incident_links_incident ON incident_links (incident_id, id);
