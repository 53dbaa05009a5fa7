-- +goose Up
-- private marks a proposal that only its proposer sees and decides.
ALTER TABLE ai_tool_calls ADD COLUMN private BOOLEAN NOT NULL DEFAULT FALSE;
