-- +goose Up
-- People, their sessions and passwords, roles with what they allow, and
-- applications (API keys).
CREATE TABLE users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    -- The address as it is compared: normalised and in lower case.
    email_key TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    last_login_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX users_email_key ON users (email_key);

CREATE TABLE credentials (
    user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    password_hash TEXT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    -- SHA-256 of the token in hexadecimal; the token itself is only in the cookie.
    token_hash TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    last_seen_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    ip_address TEXT NOT NULL,
    user_agent TEXT NOT NULL
);
CREATE UNIQUE INDEX sessions_token_hash ON sessions (token_hash);
CREATE INDEX sessions_user_id ON sessions (user_id);
CREATE INDEX sessions_expires_at ON sessions (expires_at);

CREATE TABLE roles (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    description TEXT NOT NULL,
    is_system BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX roles_name_key ON roles (name_key);

-- What the running version declares; rewritten at every start.
CREATE TABLE access_rules (
    id TEXT PRIMARY KEY,
    description TEXT NOT NULL,
    is_default BOOLEAN NOT NULL,
    is_public BOOLEAN NOT NULL
);

CREATE TABLE role_rules (
    role_id TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    rule_id TEXT NOT NULL REFERENCES access_rules (id) ON DELETE CASCADE,
    PRIMARY KEY (role_id, rule_id)
);
CREATE INDEX role_rules_rule_id ON role_rules (rule_id);

-- Rules an administrator took from "users" or "anonymous". There is no
-- reference to access_rules: the memory outlives a rule that goes and returns.
CREATE TABLE removed_default_rules (
    role_id TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    rule_id TEXT NOT NULL,
    PRIMARY KEY (role_id, rule_id)
);

CREATE TABLE user_roles (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role_id TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, role_id)
);
CREATE INDEX user_roles_role_id ON user_roles (role_id);

CREATE TABLE applications (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    -- SHA-256 of the secret in hexadecimal. The secret has 190 random bits, so
    -- a slow hash would add nothing but a cost per request.
    secret_hash TEXT NOT NULL,
    created_by TEXT REFERENCES users (id) ON DELETE SET NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ
);
CREATE INDEX applications_created_by ON applications (created_by);

CREATE TABLE application_roles (
    application_id TEXT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    role_id TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    PRIMARY KEY (application_id, role_id)
);
CREATE INDEX application_roles_role_id ON application_roles (role_id);

-- Settings of the installation that are changed while it runs; value is JSON.
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
