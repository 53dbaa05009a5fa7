package llm

import (
	"encoding/json"
	"unicode/utf8"
)

// perMessage is what a message costs beyond its text, spec/ai-platform.md 17.2.
const perMessage = 4

// EstimateTokens estimates the tokens of a text as a quarter of its
// characters, rounded up. It knows no model's tokenizer.
func EstimateTokens(text string) int {
	return (utf8.RuneCountInString(text) + 3) / 4
}

// EstimateMessage estimates one message. Tool calls are measured by their
// JSON; what cannot be serialised counts nothing.
func EstimateMessage(m Message) int {
	n := utf8.RuneCountInString(m.Text) + utf8.RuneCountInString(m.Note)
	if len(m.ToolCalls) > 0 {
		if b, err := json.Marshal(m.ToolCalls); err == nil {
			n += utf8.RuneCount(b)
		}
	}
	return (n+3)/4 + perMessage
}

// EstimateMessages estimates a list of messages.
func EstimateMessages(messages []Message) int {
	sum := 0
	for _, m := range messages {
		sum += EstimateMessage(m)
	}
	return sum
}

// EstimateRequest estimates all that a request sends: system prompt, messages
// and tool definitions.
func EstimateRequest(req Request) int {
	sum := EstimateMessages(req.Messages)
	if req.System != "" {
		sum += EstimateTokens(req.System) + perMessage
	}
	for _, t := range req.Tools {
		sum += t.estimate()
	}
	return sum
}
