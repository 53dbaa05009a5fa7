package llmtest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/secret"
)

var _ llm.Key = secret.String{}

func TestScriptPlaysAndRecords(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	call := llmtest.Call("1", "tool_a", map[string]int{"x": 1})
	s := llmtest.NewScript(
		llmtest.Round{Text: "let me look", Calls: []llm.ToolCall{call}},
		llmtest.Round{Text: "half", Calls: []llm.ToolCall{call}, Cut: true},
		llmtest.Round{Text: "half", Err: boom},
		llmtest.Round{Respond: func(r llm.Request) llmtest.Round { return llmtest.Round{Text: r.Messages[0].Text} }},
	)
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "echo"}}, Tools: []llm.ToolDef{{Name: "tool_a"}}}
	next := func() (llm.Round, int, error) {
		done := 0
		r, err := s.Stream(t.Context(), req, func(e llm.Event) error {
			if _, ok := e.(llm.ToolCallDone); ok {
				done++
			}
			return nil
		})
		return r, done, err
	}
	if r, done, err := next(); err != nil || done != 1 || r.Text != "let me look" || r.FinishReason != llm.FinishToolCalls || cmp.Diff([]llm.ToolCall{call}, r.ToolCalls) != "" {
		t.Errorf("calls: %+v, %d, %v", r, done, err)
	}
	if r, done, err := next(); err != nil || done != 0 || !r.Truncated || len(r.ToolCalls) != 0 || len(r.CutCalls) != 1 {
		t.Errorf("cut: %+v, %d, %v", r, done, err)
	}
	if r, _, err := next(); err != boom || r.Text != "half" {
		t.Errorf("error: %+v, %v", r, err)
	}
	if r, _, err := next(); err != nil || r.Text != "echo" {
		t.Errorf("respond: %+v, %v", r, err)
	}
	if _, _, err := next(); !errors.Is(err, llmtest.ErrScriptEnded) {
		t.Errorf("after the end: %v", err)
	}
	if got := s.Requests(); len(got) != 5 || got[0].Tools[0].Name != "tool_a" || s.Left() != 0 {
		t.Errorf("recorded %+v", got)
	}
}

func TestScriptWaitsUntilCancelled(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	s := llmtest.NewScript(llmtest.Round{Text: "so far", Wait: make(chan struct{}), Reached: reached})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	r, err := s.Stream(ctx, llm.Request{}, func(llm.Event) error { return nil })
	if !errors.Is(err, context.Canceled) || r.Text != "so far" {
		t.Errorf("%+v, %v", r, err)
	}
}
