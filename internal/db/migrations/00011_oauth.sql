-- +goose Up
-- One row, id 1; absent means the defaults.
CREATE TABLE oauth_settings (
    id BIGINT PRIMARY KEY,
    enabled BOOLEAN NOT NULL,
    allow_registration BOOLEAN NOT NULL,
    allow_proposals BOOLEAN NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- source is "manual", "dynamic" (RFC 7591) or "document" (the id is the address
-- of a metadata document, which is read again after refresh_at).
CREATE TABLE oauth_clients (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    redirect_uris JSONB NOT NULL,
    auth_method TEXT NOT NULL,
    secret_hash TEXT,
    source TEXT NOT NULL,
    created_by TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    refresh_at TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ
);
CREATE INDEX oauth_clients_unused ON oauth_clients (source, created_at);

-- A request to authorize that waits for a person. browser_hash ties it to the
-- browser that began it.
CREATE TABLE oauth_requests (
    id TEXT PRIMARY KEY,
    browser_hash TEXT NOT NULL,
    client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,
    scopes JSONB NOT NULL,
    state TEXT,
    challenge TEXT NOT NULL,
    resource TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX oauth_requests_expiry ON oauth_requests (expires_at);

-- What a person allowed a client. It outlives the tokens.
CREATE TABLE oauth_consents (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
    scopes JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE INDEX oauth_consents_client ON oauth_consents (client_id);

-- One sign-in of a client: the code it began with and the tokens that follow.
CREATE TABLE oauth_grants (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,
    scopes JSONB NOT NULL,
    challenge TEXT NOT NULL,
    resource TEXT NOT NULL,
    code_hash TEXT NOT NULL UNIQUE,
    code_expires_at TIMESTAMPTZ NOT NULL,
    code_used_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ
);
CREATE INDEX oauth_grants_user ON oauth_grants (user_id, client_id);
CREATE INDEX oauth_grants_client ON oauth_grants (client_id);

CREATE TABLE oauth_tokens (
    hash TEXT PRIMARY KEY,
    grant_id TEXT NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    scopes JSONB NOT NULL,
    used_at TIMESTAMPTZ,
    expires_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX oauth_tokens_grant ON oauth_tokens (grant_id);
CREATE INDEX oauth_tokens_expiry ON oauth_tokens (expires_at);

-- Fixed-window counters per address.
CREATE TABLE oauth_counters (
    id TEXT PRIMARY KEY,
    window_start TIMESTAMPTZ NOT NULL,
    used BIGINT NOT NULL
);
