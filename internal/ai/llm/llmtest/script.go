package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/checkstack/checkstack/internal/ai/llm"
)

// ErrScriptEnded is what a Script answers when it has no round left.
var ErrScriptEnded = errors.New("llmtest: the script has no further round")

// Round is one scripted model round.
type Round struct {
	Reasoning string
	Text      string
	Calls     []llm.ToolCall
	// Usage defaults to 10 input and 5 output tokens.
	Usage *llm.Usage
	// Cut ends the round as if the output limit was reached: the calls start
	// but are not run.
	Cut bool
	// Err ends the round with an error after its text.
	Err error
	// Wait, when set, holds the round after its text until it is closed or
	// ctx ends.
	Wait <-chan struct{}
	// Reached, when set, is closed when the round waits.
	Reached chan<- struct{}
	// After is further text, behind the wait.
	After string
	// Respond, when set, makes the round from the request; the other fields
	// are not used.
	Respond func(llm.Request) Round
}

// Call makes a tool call from a value that marshals to a JSON object.
func Call(id, name string, arguments any) llm.ToolCall {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic("llmtest: arguments of " + name + ": " + err.Error())
	}
	return llm.ToolCall{ID: id, Name: name, Arguments: b}
}

// Script is a Model that plays its rounds in order. It is safe for concurrent
// use; concurrent rounds take the next one each.
type Script struct {
	mu       sync.Mutex
	rounds   []Round
	requests []llm.Request
}

var _ llm.Model = (*Script)(nil)

// NewScript makes a Script.
func NewScript(rounds ...Round) *Script { return &Script{rounds: rounds} }

// Push appends rounds.
func (s *Script) Push(rounds ...Round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds = append(s.rounds, rounds...)
}

// Requests gives what was asked so far, in order.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.requests...)
}

// Left is how many rounds have not been played.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rounds)
}

func (s *Script) next(req llm.Request) (Round, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The caller goes on using its slices.
	req.Messages = append([]llm.Message(nil), req.Messages...)
	req.Tools = append([]llm.ToolDef(nil), req.Tools...)
	s.requests = append(s.requests, req)
	if len(s.rounds) == 0 {
		return Round{}, false
	}
	r := s.rounds[0]
	s.rounds = s.rounds[1:]
	return r, true
}

// Stream plays the next round.
func (s *Script) Stream(ctx context.Context, req llm.Request, yield func(llm.Event) error) (llm.Round, error) {
	r, ok := s.next(req)
	if !ok {
		return llm.Round{}, ErrScriptEnded
	}
	if r.Respond != nil {
		r = r.Respond(req)
	}
	out := llm.Round{FinishReason: llm.FinishStop, Usage: llm.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15}}
	if r.Usage != nil {
		out.Usage = *r.Usage
	}
	fail := func(err error) (llm.Round, error) {
		out.Truncated = true
		return out, err
	}
	if r.Reasoning != "" {
		if err := yield(llm.ReasoningDelta{Text: r.Reasoning}); err != nil {
			return fail(err)
		}
	}
	say := func(text string) error {
		for _, word := range strings.SplitAfter(text, " ") {
			if word == "" {
				continue
			}
			out.Text += word
			if err := yield(llm.TextDelta{Text: word}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := say(r.Text); err != nil {
		return fail(err)
	}
	if r.Wait != nil {
		if r.Reached != nil {
			close(r.Reached)
		}
		select {
		case <-r.Wait:
		case <-ctx.Done():
			return fail(ctx.Err())
		}
	}
	if err := say(r.After); err != nil {
		return fail(err)
	}
	if r.Err != nil {
		return fail(r.Err)
	}
	for _, c := range r.Calls {
		if err := yield(llm.ToolCallStart{ID: c.ID, Name: c.Name}); err != nil {
			return fail(err)
		}
		if err := yield(llm.ToolCallDelta{ID: c.ID, Text: string(c.Arguments)}); err != nil {
			return fail(err)
		}
		out.CutCalls = append(out.CutCalls, llm.CutCall{ID: c.ID, Name: c.Name})
	}
	if r.Cut {
		out.FinishReason, out.Truncated = llm.FinishLength, true
		return out, nil
	}
	out.CutCalls = nil
	for _, c := range r.Calls {
		if err := yield(llm.ToolCallDone{Call: c}); err != nil {
			return fail(err)
		}
	}
	if len(r.Calls) > 0 {
		out.ToolCalls, out.FinishReason = r.Calls, llm.FinishToolCalls
	}
	return out, ctx.Err()
}
