package llm

import "strings"

// interrupted stands in for the result of a call that never got one.
const interrupted = "No result: the call was interrupted before it finished."

// Normalize prepares a history for a strict provider, spec/ai-platform.md 16.2:
// blank text messages go, neighbours of the same role are joined, the list
// starts with a user message, and every call is followed by exactly its
// results. A trailing user message survives even when it is blank. The input
// is not changed; normalizing twice changes nothing more.
func Normalize(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for i, m := range messages {
		if m.structured() {
			out = append(out, m)
			continue
		}
		last := i == len(messages)-1 && m.Role == RoleUser
		if strings.TrimSpace(m.Text) == "" && !last {
			continue
		}
		if n := len(out); n > 0 && joins(out[n-1], m) {
			out[n-1].Text = joinText(out[n-1].Text, m.Text)
			continue
		}
		out = append(out, m)
	}
	for len(out) > 0 && out[0].Role != RoleUser {
		out = out[1:]
	}
	return pairResults(out)
}

func joins(a, b Message) bool {
	return a.Role == b.Role && !a.structured() && (a.Role == RoleUser || a.Role == RoleAssistant)
}

func joinText(a, b string) string {
	if strings.TrimSpace(b) == "" {
		return a
	}
	if strings.TrimSpace(a) == "" {
		return b
	}
	return a + "\n\n" + b
}

// pairResults drops results nobody asked for and adds the missing ones:
// providers refuse a call without its result, and the reverse.
func pairResults(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m.Role == RoleTool {
			continue
		}
		out = append(out, m)
		if len(m.ToolCalls) == 0 {
			continue
		}
		results := map[string]Message{}
		for i+1 < len(messages) && messages[i+1].Role == RoleTool {
			i++
			if _, seen := results[messages[i].ToolCallID]; !seen {
				results[messages[i].ToolCallID] = messages[i]
			}
		}
		for _, call := range m.ToolCalls {
			r, ok := results[call.ID]
			if !ok {
				r = Message{Role: RoleTool, ToolCallID: call.ID, ToolName: call.Name, Text: interrupted, IsError: true}
			}
			out = append(out, r)
		}
	}
	return out
}
