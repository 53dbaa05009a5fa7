-- +goose Up
-- Health checks: what is probed (configurations), where (assignments, which also
-- carry the schedule and the present state), and what came out (runs).
CREATE TABLE health_check_configurations (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    strategy_id TEXT NOT NULL,
    config JSONB NOT NULL,
    collectors JSONB NOT NULL,
    interval_seconds BIGINT NOT NULL,
    paused BOOLEAN NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- One row per slice. Times that the scheduler computes with are epoch
-- milliseconds, so that the next slot is the same arithmetic on both databases.
-- Copies of the configuration's columns let a claim read one table only.
CREATE TABLE health_check_assignments (
    slice_id BIGINT PRIMARY KEY,
    system_id TEXT NOT NULL REFERENCES systems (id) ON DELETE CASCADE,
    configuration_id TEXT NOT NULL REFERENCES health_check_configurations (id) ON DELETE CASCADE,
    enabled BOOLEAN NOT NULL,
    thresholds TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    configuration_version BIGINT NOT NULL,
    interval_ms BIGINT NOT NULL,
    phase_ms BIGINT NOT NULL,
    lease_ms BIGINT NOT NULL,
    next_due_ms BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    claimed_by TEXT NOT NULL,
    claimed_until_ms BIGINT NOT NULL,
    recent TEXT NOT NULL,
    status TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    last_run_ms BIGINT NOT NULL,
    reason TEXT NOT NULL,
    UNIQUE (system_id, configuration_id)
);
CREATE INDEX health_check_assignments_due ON health_check_assignments (next_due_ms) WHERE active;
CREATE INDEX health_check_assignments_configuration ON health_check_assignments (configuration_id);

-- The id is a UUIDv7 made from the run's own time, so its order is the order of
-- time, and the second index answers history and charts without the table.
-- There is no foreign key: checking one would cost every insert, and deleting a
-- system must not wait for millions of rows. Rows without a parent are invisible
-- and swept in batches.
CREATE TABLE health_check_runs (
    id TEXT PRIMARY KEY,
    slice_id BIGINT NOT NULL,
    configuration_id TEXT NOT NULL,
    system_id TEXT NOT NULL,
    status TEXT NOT NULL,
    timestamp TIMESTAMPTZ NOT NULL,
    latency_ms BIGINT,
    message TEXT NOT NULL,
    result JSONB NOT NULL
);
CREATE INDEX health_check_runs_slice ON health_check_runs (slice_id, id, status, latency_ms);
CREATE INDEX health_check_runs_failing ON health_check_runs (id) WHERE status <> 'healthy';

-- The rollup: one row per system that a check was ever assigned to.
CREATE TABLE health_check_systems (
    system_id TEXT PRIMARY KEY REFERENCES systems (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    since_ms BIGINT NOT NULL
);

-- Like runs without a foreign key: writing one must not wait for the deletion of
-- a system that waits for the writer.
CREATE TABLE health_check_state_transitions (
    id TEXT PRIMARY KEY,
    system_id TEXT NOT NULL,
    configuration_id TEXT,
    from_status TEXT,
    to_status TEXT NOT NULL,
    transitioned_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX health_check_state_transitions_system ON health_check_state_transitions (system_id, id);
