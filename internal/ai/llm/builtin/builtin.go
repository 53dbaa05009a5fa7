package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
)

// ModelName is what the assistant calls itself where a model id is shown.
const ModelName = "builtin"

// Assistant implements llm.Model without a language model. The zero value
// works and is safe for concurrent use.
type Assistant struct{}

var _ llm.Model = Assistant{}

// New gives the built-in assistant.
func New() Assistant { return Assistant{} }

// ExamplePrompts are things a person can ask at once, for an empty chat page.
func ExamplePrompts() []string {
	return []string{
		"What is down?",
		`Monitor https://example.com/health every minute as "Example API"`,
		"Open a major incident on Example API: pages load slowly",
		`Schedule maintenance "Upgrade" for Example API tomorrow 22:00 to 23:00`,
		"What incidents are open?",
		"What can you do?",
	}
}

// Stream plays one round. It fails only when ctx ends or yield does.
func (Assistant) Stream(ctx context.Context, req llm.Request, yield func(llm.Event) error) (llm.Round, error) {
	step := decide(newTurn(req))
	round := llm.Round{FinishReason: llm.FinishStop}
	for _, word := range words(step.text) {
		if err := ctx.Err(); err != nil {
			round.Truncated = true
			return round, err
		}
		round.Text += word
		if err := yield(llm.TextDelta{Text: word}); err != nil {
			round.Truncated = true
			return round, err
		}
	}
	calls := make([]llm.ToolCall, 0, len(step.calls))
	for i, c := range step.calls {
		call := llm.ToolCall{ID: callID(req, i), Name: c.tool, Arguments: c.json()}
		for _, e := range []llm.Event{
			llm.ToolCallStart{ID: call.ID, Name: call.Name},
			llm.ToolCallDelta{ID: call.ID, Text: string(call.Arguments)},
			llm.ToolCallDone{Call: call},
		} {
			if err := yield(e); err != nil {
				round.Truncated = true
				return round, err
			}
		}
		calls = append(calls, call)
	}
	if len(calls) > 0 {
		round.ToolCalls, round.FinishReason = calls, llm.FinishToolCalls
	}
	return round, ctx.Err()
}

// decide plans one round: the server's note about a decision, else the first
// intent that matches, with slips of the keyboard if need be, else the list of what is understood.
func decide(t *turn) step {
	readings := commands(t.command)
	if s, ok := decision(readings[len(readings)-1]); ok {
		return s
	}
	for _, text := range readings {
		if in, m, ok := match(text); ok {
			return in.plan(t, m)
		}
	}
	if text, note := corrected(readings[len(readings)-1]); text != "" {
		if in, m, ok := match(text); ok {
			s := in.plan(t, m)
			if len(t.results) == 0 {
				s.text = note + s.text
			}
			return s
		}
	}
	return answer(notUnderstood(t.command))
}

// commands gives the readings of a message: as a whole, and, when it has
// several paragraphs, its last one. A history whose neighbouring user messages
// were joined ends with the newest.
func commands(message string) []string {
	message = strings.ReplaceAll(message, "\r\n", "\n")
	out := []string{message}
	if i := strings.LastIndex(strings.TrimSpace(message), "\n\n"); i >= 0 {
		out = append(out, message[i+2:])
	}
	return out
}

// words cuts a text behind each run of white space, so that joining the pieces
// gives it back.
func words(text string) []string {
	var out []string
	start, space := 0, false
	for i, r := range text {
		isSpace := r == ' ' || r == '\n'
		if space && !isSpace {
			out = append(out, text[start:i])
			start = i
		}
		space = isSpace
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// callID makes an id that is the same for the same request and differs
// between rounds and turns.
func callID(req llm.Request, i int) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %s", i, len(req.Messages), req.Turn.Now.UTC().Format(time.RFC3339Nano))
	if b, err := json.Marshal(req.Messages); err == nil {
		h.Write(b)
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil))[:9])
}
