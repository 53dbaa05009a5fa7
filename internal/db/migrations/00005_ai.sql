-- +goose Up
-- Connections to model providers. The API key is in "secrets", under the scope
-- "ai.connection:<id>".
CREATE TABLE ai_connections (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    base_url TEXT NOT NULL,
    default_model TEXT NOT NULL,
    available_models JSONB NOT NULL,
    token_budget BIGINT,
    window_minutes BIGINT,
    context_window_tokens BIGINT,
    model_family TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX ai_connections_name ON ai_connections (lower(name));

CREATE TABLE ai_conversations (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    title TEXT,
    integration_id TEXT,
    model TEXT,
    permission_mode TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    archived_at TIMESTAMPTZ
);
CREATE INDEX ai_conversations_user ON ai_conversations (user_id, updated_at);

-- seq orders the messages of a conversation; times can tie.
CREATE TABLE ai_messages (
    id TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES ai_conversations (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    role TEXT NOT NULL,
    content JSONB NOT NULL,
    parts JSONB NOT NULL,
    model_messages JSONB,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (conversation_id, seq)
);

-- Audit log and proposal store in one. proposed_payload is encrypted.
-- finished_at is null while an applied change is being carried out.
CREATE TABLE ai_tool_calls (
    id TEXT PRIMARY KEY,
    principal_kind TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    transport TEXT NOT NULL,
    conversation_id TEXT REFERENCES ai_conversations (id) ON DELETE SET NULL,
    tool_name TEXT NOT NULL,
    effect TEXT NOT NULL,
    args_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    proposal_nonce TEXT,
    proposal_expires_at TIMESTAMPTZ,
    applied_by_kind TEXT,
    applied_by_id TEXT,
    result_snapshot JSONB,
    proposed_payload TEXT,
    error TEXT,
    proposed_at TIMESTAMPTZ,
    applied_at TIMESTAMPTZ,
    finished_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX ai_tool_calls_principal ON ai_tool_calls (principal_kind, principal_id, created_at);
CREATE INDEX ai_tool_calls_status ON ai_tool_calls (status, proposal_expires_at);
CREATE INDEX ai_tool_calls_conversation ON ai_tool_calls (conversation_id);

CREATE TABLE ai_spend (
    id TEXT PRIMARY KEY,
    integration_id TEXT NOT NULL,
    principal_kind TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    conversation_id TEXT,
    model TEXT,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    total_tokens BIGINT NOT NULL,
    estimated BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX ai_spend_window ON ai_spend (integration_id, principal_kind, principal_id, created_at);
