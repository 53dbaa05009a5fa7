-- +goose Up
-- reserved is the part of total_tokens that a running round has reserved.
ALTER TABLE ai_spend ADD COLUMN reserved BIGINT NOT NULL DEFAULT 0;
