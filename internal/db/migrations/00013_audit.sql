-- +goose Up
-- The audit log is read newest first, filtered by tool or by state, and old
-- calls are deleted by their age.
CREATE INDEX ai_tool_calls_tool ON ai_tool_calls (tool_name, id);
CREATE INDEX ai_tool_calls_state ON ai_tool_calls (status, id);
CREATE INDEX ai_tool_calls_created ON ai_tool_calls (created_at);
