package agent

import (
	"encoding/json"

	"github.com/checkstack/checkstack/internal/ai/llm"
)

// replayable reads stored model messages. One invalid entry spoils the row: a
// call without its result, or the reverse, is refused by providers.
func replayable(raw json.RawMessage) []llm.Message {
	if len(raw) == 0 {
		return nil
	}
	var entries []struct {
		llm.Message
		Text *string `json:"text"`
	}
	if json.Unmarshal(raw, &entries) != nil {
		return nil
	}
	out := make([]llm.Message, 0, len(entries))
	for _, e := range entries {
		m := e.Message
		if e.Text != nil {
			m.Text = *e.Text
		}
		switch {
		case !m.Role.Valid(),
			m.Role == llm.RoleTool && m.ToolCallID == "",
			m.Role != llm.RoleTool && e.Text == nil && len(m.ToolCalls) == 0:
			return nil
		}
		out = append(out, m)
	}
	return out
}

// replay turns stored messages into what the model is told of them.
func replay(messages []Message) []llm.Message {
	var out []llm.Message
	for _, m := range messages {
		switch {
		case len(m.model) > 0:
			out = append(out, m.model...)
		case m.Role == llm.RoleTool:
		default:
			out = append(out, llm.Message{Role: m.Role, Text: m.Text})
		}
	}
	return out
}
