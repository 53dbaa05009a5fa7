-- +goose Up
ALTER TABLE ai_connections ADD COLUMN disable_topical_classifier BOOLEAN NOT NULL DEFAULT FALSE;

-- summary stands for the messages up to and including the named one.
ALTER TABLE ai_conversations ADD COLUMN summary TEXT;
ALTER TABLE ai_conversations ADD COLUMN summarized_through_message_id TEXT;

-- turn_id is the message that a turn is writing now; turn_alive_at is renewed
-- while its process lives. turn_stop asks that turn to end.
ALTER TABLE ai_conversations ADD COLUMN turn_id TEXT;
ALTER TABLE ai_conversations ADD COLUMN turn_alive_at TIMESTAMPTZ;
ALTER TABLE ai_conversations ADD COLUMN turn_stop BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX ai_conversations_turn ON ai_conversations (turn_alive_at) WHERE turn_id IS NOT NULL;

-- The cap sums a window before every turn, from the index alone.
DROP INDEX ai_spend_window;
CREATE INDEX ai_spend_window ON ai_spend (integration_id, principal_kind, principal_id, created_at, total_tokens);
CREATE INDEX ai_spend_time ON ai_spend (created_at);
