-- +goose Up
-- turn_seen_at changes while somebody other than the sender listens to the
-- turn that runs in the conversation.
ALTER TABLE ai_conversations ADD COLUMN turn_seen_at TIMESTAMPTZ;
-- outdated marks a proposal that failed because its target had changed.
ALTER TABLE ai_tool_calls ADD COLUMN outdated BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX ai_tool_calls_outdated ON ai_tool_calls (proposal_expires_at) WHERE outdated;
