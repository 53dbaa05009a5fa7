-- +goose Up
-- What the assistant was asked to remember. A memory of scope "user" belongs to
-- its owner, one of scope "system" to everybody who may see the system. terms
-- holds the words of hint, tags and content, each between spaces, so that a
-- search reads only the rows that have one of its words.
CREATE TABLE ai_memories (
    id TEXT PRIMARY KEY,
    owner_kind TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    system_id TEXT REFERENCES systems (id) ON DELETE CASCADE,
    recall_hint TEXT NOT NULL,
    content TEXT NOT NULL,
    tags JSONB NOT NULL,
    terms TEXT NOT NULL,
    always_inject BOOLEAN NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX ai_memories_owner ON ai_memories (owner_kind, owner_id, updated_at);
CREATE INDEX ai_memories_system ON ai_memories (system_id, updated_at);
CREATE INDEX ai_memories_systems ON ai_memories (updated_at) WHERE scope = 'system';
CREATE INDEX ai_memories_systems_always ON ai_memories (updated_at) WHERE scope = 'system' AND always_inject;

-- Skills that people wrote; those of the product are in the program.
CREATE TABLE ai_skills (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    targets JSONB NOT NULL,
    system_prompt TEXT,
    prompt_template TEXT,
    suggested_output_fields JSONB NOT NULL,
    tags JSONB NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX ai_skills_updated ON ai_skills (updated_at);
CREATE INDEX ai_skills_owner ON ai_skills (owner_id, updated_at);
