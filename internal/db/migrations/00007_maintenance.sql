-- +goose Up

-- A series is a rule that makes maintenances. start_local is the wall clock
-- time of its start in time_zone and what the rule counts from; start_at says
-- which instant was meant where that wall clock time comes twice.
CREATE TABLE maintenance_series (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    description TEXT,
    suppress_notifications BOOLEAN NOT NULL,
    rule TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    start_local TEXT NOT NULL,
    start_at TIMESTAMPTZ NOT NULL,
    duration_ms BIGINT NOT NULL,
    -- Occurrences up to this key exist, or existed.
    generated_through TEXT NOT NULL,
    -- When the next occurrence has to be made; null when there is none to come.
    extend_at TIMESTAMPTZ,
    -- Why no occurrences can be made, for the operator.
    problem TEXT,
    ended_at TIMESTAMPTZ,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX maintenance_series_extend_at ON maintenance_series (extend_at);

CREATE TABLE maintenance_series_systems (
    series_id TEXT NOT NULL REFERENCES maintenance_series (id) ON DELETE CASCADE,
    system_id TEXT NOT NULL REFERENCES systems (id) ON DELETE CASCADE,
    PRIMARY KEY (series_id, system_id)
);
CREATE INDEX maintenance_series_systems_system_id ON maintenance_series_systems (system_id);

-- Occurrences that were deleted and must not come back.
CREATE TABLE maintenance_series_exclusions (
    series_id TEXT NOT NULL REFERENCES maintenance_series (id) ON DELETE CASCADE,
    occurrence_key TEXT NOT NULL,
    PRIMARY KEY (series_id, occurrence_key)
);

CREATE TABLE maintenances (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    -- The title in lower case, for searching.
    title_key TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    suppress_notifications BOOLEAN NOT NULL,
    start_at TIMESTAMPTZ NOT NULL,
    end_at TIMESTAMPTZ NOT NULL,
    started_at TIMESTAMPTZ,
    ended_at TIMESTAMPTZ,
    -- When the clock moves the status next; null when nothing is left to come.
    next_transition_at TIMESTAMPTZ,
    series_id TEXT REFERENCES maintenance_series (id) ON DELETE SET NULL,
    -- Local date of the occurrence in the zone of its series.
    occurrence_key TEXT,
    -- Somebody changed this occurrence by hand; changes of the series pass it over.
    detached BOOLEAN NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (series_id, occurrence_key)
);
CREATE INDEX maintenances_next_transition_at ON maintenances (next_transition_at, id);
-- With the title: a search reads the index alone until it finds something.
CREATE INDEX maintenances_start_at ON maintenances (start_at, id, title_key);
CREATE INDEX maintenances_open ON maintenances (start_at, id) WHERE status IN ('scheduled', 'in_progress');
CREATE INDEX maintenances_status ON maintenances (status, start_at, id);
CREATE INDEX maintenances_created_at ON maintenances (created_at, id);

CREATE TABLE maintenance_systems (
    maintenance_id TEXT NOT NULL REFERENCES maintenances (id) ON DELETE CASCADE,
    system_id TEXT NOT NULL REFERENCES systems (id) ON DELETE CASCADE,
    PRIMARY KEY (maintenance_id, system_id)
);
CREATE INDEX maintenance_systems_system_id ON maintenance_systems (system_id, maintenance_id);

CREATE TABLE maintenance_updates (
    id TEXT PRIMARY KEY,
    maintenance_id TEXT NOT NULL REFERENCES maintenances (id) ON DELETE CASCADE,
    message TEXT NOT NULL,
    status_change TEXT,
    audience TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    author_id TEXT
);
CREATE INDEX maintenance_updates_maintenance_id ON maintenance_updates (maintenance_id, created_at, id);
CREATE INDEX maintenance_updates_created_at ON maintenance_updates (created_at, id);

CREATE TABLE maintenance_links (
    id TEXT PRIMARY KEY,
    maintenance_id TEXT NOT NULL REFERENCES maintenances (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    url TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX maintenance_links_maintenance_id ON maintenance_links (maintenance_id);
