package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
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

// recalled gives the stored messages as the model needs them, with the cards in
// them in the present state of their proposals: whoever believes that a card
// still waits neither reports its end nor proposes anew.
func (s *Service) recalled(ctx context.Context, conversationID string) ([]Message, error) {
	messages, err := s.past(ctx, conversationID)
	if err != nil {
		return nil, err
	}
	type place struct{ message, entry int }
	cards := map[string]place{}
	for i, m := range messages {
		for j, e := range m.model {
			if id := cardID(e); id != "" {
				cards[id] = place{i, j}
			}
		}
	}
	records, err := s.gate.Records(ctx, slices.Collect(maps.Keys(cards))...)
	if err != nil {
		return nil, err
	}
	for id, at := range cards {
		rec := records[id]
		if rec != nil && rec.Status == proposal.Proposed {
			continue
		}
		e := &messages[at.message].model[at.entry]
		now, err := cardNow(json.RawMessage(e.Text), rec)
		if err != nil {
			return nil, err
		}
		e.Text = string(now)
	}
	return messages, nil
}

// cardID gives the id of the proposal that a tool's answer to the model is a
// card of; empty when it is none.
func cardID(m llm.Message) string {
	if m.Role != llm.RoleTool || m.IsError || !strings.Contains(m.Text, `"__confirm"`) {
		return ""
	}
	var card struct {
		Confirm bool   `json:"__confirm"`
		ID      string `json:"toolCallId"`
	}
	if json.Unmarshal([]byte(m.Text), &card) != nil || !card.Confirm {
		return ""
	}
	return card.ID
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
