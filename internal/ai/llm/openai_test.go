package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type key string

func (k key) Reveal() string { return string(k) }

const canary = key("sk-canary-0123456789")

func newClient(t *testing.T, s *llmtest.Server) *llm.OpenAI {
	t.Helper()
	c, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: s.BaseURL(), APIKey: canary, HTTP: s.Client(), IdleTimeout: 10 * time.Second, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// request offers the tools the tests call.
func request() llm.Request {
	schema := json.RawMessage(`{"type":"object"}`)
	return llm.Request{Model: "fake-small", System: "Be brief.", MaxTokens: 1000,
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "hello"}},
		Tools:    []llm.ToolDef{{Name: "tool_a", Parameters: schema}, {Name: "tool_b", Parameters: schema}}}
}

type outcome struct {
	round  llm.Round
	err    error
	events []llm.Event
}

func (o outcome) text() string {
	var b strings.Builder
	for _, e := range o.events {
		if d, ok := e.(llm.TextDelta); ok {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// run plays turns, one after the other, and gives the last outcome. Whatever
// happens, the invariants hold.
func run(t *testing.T, req llm.Request, turns ...llmtest.Turn) outcome {
	t.Helper()
	s := llmtest.NewServer(t, turns...)
	c := newClient(t, s)
	var o outcome
	for range turns {
		o = stream(t, c, req)
	}
	return o
}

func stream(t *testing.T, c *llm.OpenAI, req llm.Request) outcome {
	t.Helper()
	var o outcome
	o.round, o.err = c.Stream(t.Context(), req, func(e llm.Event) error {
		o.events = append(o.events, e)
		return nil
	})
	if got := o.text(); got != o.round.Text {
		t.Errorf("streamed text %q differs from the round's %q", got, o.round.Text)
	}
	started := map[string]bool{}
	var done []llm.ToolCall
	for _, e := range o.events {
		switch e := e.(type) {
		case llm.ToolCallStart:
			if started[e.ID] || e.ID == "" || e.Name == "" {
				t.Errorf("bad start %+v", e)
			}
			started[e.ID] = true
		case llm.ToolCallDelta:
			if !started[e.ID] {
				t.Errorf("delta before start: %+v", e)
			}
		case llm.ToolCallDone:
			if !started[e.Call.ID] || !json.Valid(e.Call.Arguments) {
				t.Errorf("bad call: %+v", e)
			}
			done = append(done, e.Call)
		}
	}
	if d := cmp.Diff(done, o.round.ToolCalls); d != "" {
		t.Errorf("done events and calls differ (-events +round):\n%s", d)
	}
	if (o.err != nil || o.round.Truncated) && len(o.round.ToolCalls) > 0 {
		t.Errorf("calls of an incomplete round: %+v", o.round.ToolCalls)
	}
	u := o.round.Usage
	if u.InputTokens < 0 || u.OutputTokens < 0 || u.TotalTokens < u.InputTokens+u.OutputTokens {
		t.Errorf("usage makes no sense: %+v", u)
	}
	if o.err != nil {
		visible := o.err.Error() + llm.UserText(o.err) + fmt.Sprintf("%+v", llm.LogAttrs(o.err))
		if strings.Contains(visible, string(canary)) {
			t.Errorf("the key is in the error: %s", visible)
		}
		if strings.Contains(o.err.Error()+llm.UserText(o.err), "127.0.0.1") {
			t.Errorf("the address is in the error: %v", o.err)
		}
	}
	return o
}

func twoCalls() []llm.ToolCall {
	return []llm.ToolCall{llmtest.Call("a", "tool_a", map[string]int{"x": 1}), llmtest.Call("b", "tool_b", map[string]int{"y": 2})}
}

func withQuirks(calls []llm.ToolCall, q ...llmtest.Quirk) llmtest.Turn {
	return llmtest.Turn{Calls: calls, Quirks: q}
}

// shape is calls without their ids.
func shape(calls []llm.ToolCall) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Name+string(c.Arguments))
	}
	return out
}

func TestFC053_ParallelCallsAreToldApart(t *testing.T) {
	t.Parallel()
	both := []string{`tool_a{"x":1}`, `tool_b{"y":2}`}
	same := []llm.ToolCall{llmtest.Call("a", "tool_a", map[string]int{"x": 1}), llmtest.Call("b", "tool_a", map[string]int{"x": 2})}
	bothSame := []string{`tool_a{"x":1}`, `tool_a{"x":2}`}
	for name, tc := range map[string]struct {
		turn llmtest.Turn
		want []string
	}{
		"textbook":                              {withQuirks(twoCalls()), both},
		"a index zero":                          {withQuirks(twoCalls(), llmtest.IndexZero), both},
		"b no index":                            {withQuirks(twoCalls(), llmtest.NoIndex), both},
		"c index reversed":                      {withQuirks(twoCalls(), llmtest.IndexReversed), both},
		"d empty ids":                           {withQuirks(twoCalls(), llmtest.EmptyIDs), both},
		"d empty ids, index zero":               {withQuirks(twoCalls(), llmtest.EmptyIDs, llmtest.IndexZero), both},
		"d empty ids, no index":                 {withQuirks(twoCalls(), llmtest.EmptyIDs, llmtest.NoIndex), both},
		"repeated ids":                          {withQuirks(twoCalls(), llmtest.RepeatedIDs), both},
		"f objects":                             {withQuirks(twoCalls(), llmtest.ArgsObject), both},
		"f objects, no ids, no index":           {withQuirks(twoCalls(), llmtest.ArgsObject, llmtest.EmptyIDs, llmtest.NoIndex), both},
		"f null":                                {withQuirks(twoCalls(), llmtest.ArgsNull), []string{`tool_a{}`, `tool_b{}`}},
		"g finish stop":                         {withQuirks(twoCalls(), llmtest.FinishStop), both},
		"h name repeated":                       {withQuirks(twoCalls(), llmtest.NameRepeated), both},
		"h name repeated, no ids, index zero":   {withQuirks(twoCalls(), llmtest.NameRepeated, llmtest.EmptyIDs, llmtest.IndexZero), both},
		"i arguments empty":                     {withQuirks(twoCalls(), llmtest.ArgsEmpty), []string{`tool_a{}`, `tool_b{}`}},
		"one tool twice, no ids":                {withQuirks(same, llmtest.EmptyIDs, llmtest.NoIndex), bothSame},
		"one tool twice, index zero":            {withQuirks(same, llmtest.IndexZero), bothSame},
		"one tool twice, one id":                {withQuirks(same, llmtest.RepeatedIDs), bothSame},
		"one tool twice, all odd":               {withQuirks(same, llmtest.EmptyIDs, llmtest.NoIndex, llmtest.NameRepeated), bothSame},
		"index as text":                         {llmtest.Turn{Raw: calls(`{"index":"0","id":"a","function":{"name":"tool_a","arguments":"{}"}}`, `{"index":"1","id":"b","function":{"name":"tool_b","arguments":"{}"}}`)}, []string{`tool_a{}`, `tool_b{}`}},
		"name in parts":                         {llmtest.Turn{Raw: calls(`{"index":0,"id":"a","function":{"name":"tool"}}`, `{"index":0,"function":{"name":"_a","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"x\":1}"}}`)}, []string{`tool_a{"x":1}`}},
		"placeholder before arguments":          {llmtest.Turn{Raw: calls(`{"index":0,"id":"a","function":{"name":"tool_a","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"{\"x\":1}"}}`)}, []string{`tool_a{"x":1}`}},
		"arguments sent twice":                  {llmtest.Turn{Raw: calls(`{"index":0,"id":"a","function":{"name":"tool_a","arguments":"{\"x\":1}"}}`, `{"index":0,"id":"a","function":{"name":"tool_a","arguments":"{\"x\":1}"}}`)}, []string{`tool_a{"x":1}`}},
		"name announced, then arguments, twice": {llmtest.Turn{Raw: calls(`{"function":{"name":"tool_a"}}`, `{"function":{"arguments":"{\"x\":1}"}}`, `{"function":{"name":"tool_a"}}`, `{"function":{"arguments":"{\"x\":2}"}}`)}, bothSame},
		"encoded twice":                         {llmtest.Turn{Raw: calls(`{"index":0,"id":"a","function":{"name":"tool_a","arguments":"\"{\\\"x\\\":1}\""}}`)}, []string{`tool_a{"x":1}`}},
		"not JSON stays refusable":              {llmtest.Turn{Raw: calls(`{"index":0,"id":"a","function":{"name":"tool_a","arguments":"{'x':1}"}}`)}, []string{`tool_a"{'x':1}"`}},
		"two objects stay refusable":            {llmtest.Turn{Raw: calls(`{"index":0,"id":"a","function":{"name":"tool_a","arguments":"{\"x\":1}"}}`, `{"index":0,"id":"a","function":{"arguments":"{\"y\":1}"}}`)}, []string{`tool_a"{\"x\":1}{\"y\":1}"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := run(t, request(), tc.turn)
			if o.err != nil {
				t.Fatal(o.err)
			}
			if d := cmp.Diff(tc.want, shape(o.round.ToolCalls)); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			if o.round.FinishReason != llm.FinishToolCalls {
				t.Errorf("finish reason %q", o.round.FinishReason)
			}
			ids := map[string]bool{}
			for _, c := range o.round.ToolCalls {
				if c.ID == "" || ids[c.ID] {
					t.Errorf("id %q is empty or used twice", c.ID)
				}
				ids[c.ID] = true
			}
		})
	}
}

func event(v string) string { return "data: " + v + "\n\n" }

func calls(fragments ...string) string {
	var b strings.Builder
	for _, f := range fragments {
		b.WriteString(event(`{"choices":[{"index":0,"delta":{"tool_calls":[` + f + `]}}]}`))
	}
	return b.String() + event(`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`) + event("[DONE]")
}

func TestFC053_SameIDInTwoSteps(t *testing.T) {
	t.Parallel()
	req := request()
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{llmtest.Call("call_0", "tool_a", struct{}{})}},
		llm.Message{Role: llm.RoleTool, ToolCallID: "call_0", ToolName: "tool_a", Text: "{}"})
	o := run(t, req, withQuirks([]llm.ToolCall{llmtest.Call("call_0", "tool_b", map[string]int{"y": 2})}))
	if len(o.round.ToolCalls) != 1 || o.round.ToolCalls[0].ID == "call_0" || o.round.ToolCalls[0].ID == "" {
		t.Fatalf("calls = %+v, want one with an id of its own", o.round.ToolCalls)
	}
}

func rawCall(args string) llm.ToolCall {
	return llm.ToolCall{ID: "a", Name: "tool_a", Arguments: json.RawMessage(args)}
}

func TestFC054_CutCallsAreNeverRunnable(t *testing.T) {
	t.Parallel()
	half := rawCall(`{"systemId":"s1","note":"half`)
	whole := rawCall(`{"ids":["a"]}`)
	limited := request()
	limited.MaxTokens = 7 // what the fake reports as completion tokens
	for name, tc := range map[string]struct {
		req  llm.Request
		turn llmtest.Turn
	}{
		"a half, finish tool_calls":     {request(), llmtest.Turn{Calls: []llm.ToolCall{half}}},
		"b half, finish length":         {request(), llmtest.Turn{Calls: []llm.ToolCall{half}, Finish: "length"}},
		"c whole, finish length":        {request(), llmtest.Turn{Calls: []llm.ToolCall{whole}, Finish: "length"}},
		"c whole, finish max_tokens":    {request(), llmtest.Turn{Calls: []llm.ToolCall{whole}, Finish: "MAX_TOKENS"}},
		"e whole, content filter":       {request(), llmtest.Turn{Calls: []llm.ToolCall{whole}, Finish: "content_filter"}},
		"f name only, at our own limit": {limited, llmtest.Turn{Calls: []llm.ToolCall{whole}, Quirks: []llmtest.Quirk{llmtest.ArgsEmpty}}},
		"whole, unknown finish":         {request(), llmtest.Turn{Calls: []llm.ToolCall{whole}, Finish: "malformed_function_call"}},
		"whole, [DONE] without finish":  {request(), llmtest.Turn{Calls: []llm.ToolCall{whole}, Quirks: []llmtest.Quirk{llmtest.NoFinish}}},
		"one whole, one half":           {request(), llmtest.Turn{Calls: []llm.ToolCall{whole, {ID: "b", Name: "tool_b", Arguments: half.Arguments}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := run(t, tc.req, tc.turn)
			if o.err != nil {
				t.Fatal(o.err)
			}
			if !o.round.Truncated || len(o.round.ToolCalls) != 0 {
				t.Errorf("round = %+v, want it truncated and without calls", o.round)
			}
			if len(o.round.CutCalls) != len(tc.turn.Calls) || o.round.CutCalls[0].Name != "tool_a" {
				t.Errorf("cut calls = %+v, want them named", o.round.CutCalls)
			}
		})
	}
	t.Run("d whole, then the stream ends", func(t *testing.T) {
		t.Parallel()
		o := run(t, request(), llmtest.Turn{Calls: []llm.ToolCall{whole}, Quirks: []llmtest.Quirk{llmtest.CutStream}})
		if !errors.Is(o.err, llm.ErrCutStream) || len(o.round.ToolCalls) != 0 {
			t.Errorf("round = %+v, err = %v, want ErrCutStream", o.round, o.err)
		}
	})
	t.Run("text at the limit is kept and marked", func(t *testing.T) {
		t.Parallel()
		o := run(t, request(), llmtest.Turn{Text: "a long answ", Finish: "length"})
		if o.err != nil || !o.round.Truncated || o.round.Text != "a long answ" {
			t.Errorf("round = %+v, err = %v", o.round, o.err)
		}
	})
}

func TestFC055_Usage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		quirks    []llmtest.Quirk
		want      llm.Usage
		estimated bool
	}{
		"textbook":                 {nil, llm.Usage{InputTokens: 11, OutputTokens: 7, TotalTokens: 18}, false},
		"a never":                  {[]llmtest.Quirk{llmtest.UsageNever}, llm.Usage{}, true},
		"b empty choices":          {[]llmtest.Quirk{llmtest.EmptyChoices}, llm.Usage{InputTokens: 11, OutputTokens: 7, TotalTokens: 18}, false},
		"c growing, last counts":   {[]llmtest.Quirk{llmtest.UsageGrowing}, llm.Usage{InputTokens: 11, OutputTokens: 5, TotalTokens: 16}, false},
		"d null":                   {[]llmtest.Quirk{llmtest.UsageNull}, llm.Usage{}, true},
		"e total only":             {[]llmtest.Quirk{llmtest.UsageTotalOnly}, llm.Usage{InputTokens: 15, OutputTokens: 3, TotalTokens: 18}, false},
		"f text":                   {[]llmtest.Quirk{llmtest.UsageText}, llm.Usage{InputTokens: 123, OutputTokens: 7, TotalTokens: 130}, false},
		"negative":                 {[]llmtest.Quirk{llmtest.UsageNegative}, llm.Usage{}, true},
		"chunk without delta":      {[]llmtest.Quirk{llmtest.NoDelta}, llm.Usage{InputTokens: 11, OutputTokens: 7, TotalTokens: 18}, false},
		"never, finish, no [DONE]": {[]llmtest.Quirk{llmtest.UsageNever, llmtest.NoDone}, llm.Usage{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := run(t, request(), llmtest.Turn{Text: "hello there", Quirks: tc.quirks})
			if o.err != nil {
				t.Fatal(o.err)
			}
			if tc.estimated {
				in := llm.EstimateRequest(request())
				tc.want = llm.Usage{InputTokens: in, OutputTokens: 3, TotalTokens: in + 3, Estimated: true}
			}
			if d := cmp.Diff(tc.want, o.round.Usage); d != "" {
				t.Errorf("usage (-want +got):\n%s", d)
			}
			if o.round.Text != "hello there" {
				t.Errorf("text %q", o.round.Text)
			}
		})
	}
	t.Run("usage of another shape", func(t *testing.T) {
		t.Parallel()
		o := run(t, request(), llmtest.Turn{Raw: event(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":"none"}`) + event("[DONE]")})
		if o.err != nil || !o.round.Usage.Estimated {
			t.Errorf("round = %+v, err = %v", o.round, o.err)
		}
	})
	t.Run("a broken round still costs", func(t *testing.T) {
		t.Parallel()
		o := run(t, request(), llmtest.Turn{Text: "hello there", Quirks: []llmtest.Quirk{llmtest.CutStream}})
		if o.err == nil || !o.round.Usage.Estimated || o.round.Usage.TotalTokens == 0 {
			t.Errorf("round = %+v, err = %v", o.round, o.err)
		}
	})
}

func TestFC056_ErrorsInsideAGoodStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		turn llmtest.Turn
		text string // so far
		says string
	}{
		"a error after text":     {llmtest.Turn{Text: "so far ", Quirks: []llmtest.Quirk{llmtest.ErrorMidStream}}, "so far ", "the model is overloaded (529)"},
		"a error as text":        {llmtest.Turn{Raw: event(`{"error":"out of memory"}`)}, "", "out of memory"},
		"a error event":          {llmtest.Turn{Raw: "event: error\n" + event(`{"message":"bad day"}`)}, "", "bad day"},
		"a object error":         {llmtest.Turn{Raw: event(`{"object":"error","message":"no such model","code":404}`)}, "", "no such model"},
		"a echoes the key":       {llmtest.Turn{Raw: event(`{"error":{"message":"bad key sk-canary-0123456789"}}`)}, "", "bad key [redacted]"},
		"b JSON error with 200":  {llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.JSONError200}}, "", "HTTP 200: {\"error\":{\"message\":\"rate limit reached\""},
		"c half line":            {llmtest.Turn{Text: "so far ", Quirks: []llmtest.Quirk{llmtest.HalfLine}}, "so far ", "broke off"},
		"c cut":                  {llmtest.Turn{Text: "so far ", Quirks: []llmtest.Quirk{llmtest.CutStream}}, "so far ", "broke off"},
		"d HTML with 200":        {llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.HTML200}}, "", "HTTP 200: Sign in Please log in to the proxy."},
		"e 429":                  {llmtest.RetryAfter(3600), "", "HTTP 429: {\"error\":{\"message\":\"too many requests\"}}"},
		"g [DONE] at once":       {llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.DoneAtOnce}}, "", "empty answer"},
		"only reasoning":         {llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.ReasoningField}}, "", "empty answer"},
		"limit before an answer": {llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.ReasoningField}, Finish: "length"}, "", "output limit"},
		"filtered":               {llmtest.Turn{Finish: "content_filter"}, "", "content filter"},
		"finish error":           {llmtest.Turn{Text: "so far ", Finish: "error"}, "so far ", "ended with an error"},
		"401 echoes the key":     {llmtest.Turn{Status: 401, Body: `{"error":"invalid key sk-canary-0123456789"}`}, "", "HTTP 401: {\"error\":\"invalid key [redacted]\"}"},
		"redirect":               {llmtest.Turn{Status: 302, Header: http.Header{"Location": {"http://example.com/"}}}, "", "HTTP 302 without a text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, tc.turn, llmtest.Turn{Text: "again"})
			c := newClient(t, s)
			o := stream(t, c, request())
			if o.err == nil || !strings.Contains(llm.UserText(o.err), tc.says) {
				t.Errorf("user text %q, want it to contain %q", llm.UserText(o.err), tc.says)
			}
			if o.round.Text != tc.text {
				t.Errorf("text so far %q, want %q", o.round.Text, tc.text)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			if o := stream(t, c, request()); o.err != nil || o.round.Text != "again" {
				t.Errorf("sending again: %+v, %v", o.round, o.err)
			}
		})
	}
}

func TestFC056_Silence(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]llmtest.Turn{
		"after the headers": {Quirks: []llmtest.Quirk{llmtest.Silence}},
		"after some text":   {Text: "so far", Quirks: []llmtest.Quirk{llmtest.SilenceMidText}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, turn)
			c, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: s.BaseURL(), HTTP: s.Client(), IdleTimeout: 30 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			o := stream(t, c, request())
			var idle *llm.IdleError
			if !errors.As(o.err, &idle) || o.round.Text != turn.Text {
				t.Errorf("text %q, err = %v, want an IdleError", o.round.Text, o.err)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// streaming gives a client whose answer is what write writes.
func streaming(t *testing.T, write func(w io.Writer)) *llm.OpenAI {
	t.Helper()
	var writers sync.WaitGroup
	t.Cleanup(writers.Wait)
	return fake(t, func(r *http.Request) (*http.Response, error) {
		pr, pw := io.Pipe()
		context.AfterFunc(r.Context(), func() { pw.CloseWithError(r.Context().Err()) })
		writers.Go(func() { write(pw) })
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, Request: r}, nil
	})
}

func fake(t *testing.T, f roundTrip) *llm.OpenAI {
	t.Helper()
	c, err := llm.NewOpenAI(llm.OpenAIConfig{HTTP: &http.Client{Transport: f}, APIKey: canary})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSilenceIsMeasuredBetweenEvents(t *testing.T) {
	t.Parallel()
	word := event(`{"choices":[{"delta":{"content":"word "}}]}`)
	for name, tc := range map[string]struct {
		write func(io.Writer)
		slow  time.Duration // of the consumer
		took  time.Duration
		idle  bool
	}{
		"a long answer is not ended": {func(w io.Writer) {
			for range 20 {
				time.Sleep(100 * time.Second)
				if _, err := io.WriteString(w, word); err != nil {
					return
				}
			}
			io.WriteString(w, event("[DONE]"))
		}, 0, 2000 * time.Second, false},
		"five minutes of nothing": {func(io.Writer) {}, 0, 2 * time.Minute, true},
		"comments extend the wait, not for ever": {func(w io.Writer) {
			for range 12 {
				time.Sleep(time.Minute)
				if _, err := io.WriteString(w, ": still here\n\n"); err != nil {
					return
				}
			}
		}, 0, 6 * time.Minute, true},
		"events that bring nothing extend it no further": {func(w io.Writer) {
			for range 12 {
				time.Sleep(time.Minute)
				if _, err := io.WriteString(w, event(`{"choices":[{"index":0,"delta":{"content":""}}]}`)); err != nil {
					return
				}
			}
		}, 0, 6 * time.Minute, true},
		"the consumer's time does not count": {func(w io.Writer) {
			io.WriteString(w, word)
			time.Sleep(time.Minute)
			io.WriteString(w, event("[DONE]"))
		}, time.Hour, time.Hour, false},
		"left open after the finish": {func(w io.Writer) {
			io.WriteString(w, event(`{"choices":[{"delta":{"content":"word"},"finish_reason":"stop"}]}`))
		}, 0, 5 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := streaming(t, tc.write).Stream(t.Context(), request(), func(llm.Event) error {
					time.Sleep(tc.slow)
					return nil
				})
				var idle *llm.IdleError
				if errors.As(err, &idle) != tc.idle || (!tc.idle && err != nil) {
					t.Errorf("err = %v, want idle %v", err, tc.idle)
				}
				if took := time.Since(start); took < tc.took || took > tc.took+time.Minute {
					t.Errorf("took %s, want about %s", took, tc.took)
				}
			})
		})
	}
}

func TestFC056_RetriesHonourRetryAfter(t *testing.T) {
	t.Parallel()
	status := func(code int, after string) *http.Response {
		h := http.Header{}
		if after != "" {
			h.Set("Retry-After", after)
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader("busy"))}
	}
	good := func() *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: io.NopCloser(strings.NewReader(event(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`)))}
	}
	for name, tc := range map[string]struct {
		answers  []*http.Response
		requests int
		min, max time.Duration
		status   int // of the error; 0 for success
	}{
		"429 then good":           {[]*http.Response{status(429, "7"), good()}, 2, 7 * time.Second, 7 * time.Second, 0},
		"503 twice then good":     {[]*http.Response{status(503, ""), status(503, ""), good()}, 3, 500 * time.Millisecond, 2 * time.Second, 0},
		"500 for ever":            {[]*http.Response{status(500, ""), status(500, ""), status(500, ""), good()}, 3, 0, 2 * time.Second, 500},
		"asked for too long":      {[]*http.Response{status(429, "3600"), good()}, 1, 0, 0, 429},
		"400 is not repeated":     {[]*http.Response{status(400, ""), good()}, 1, 0, 0, 400},
		"401 is not repeated":     {[]*http.Response{status(401, ""), good()}, 1, 0, 0, 401},
		"Retry-After as a date":   {[]*http.Response{status(429, "Sat, 01 Jan 2000 00:00:09 GMT"), good()}, 2, 8 * time.Second, 10 * time.Second, 0},
		"Retry-After is nonsense": {[]*http.Response{status(429, "soon"), good()}, 2, 0, time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := 0
				c := fake(t, func(*http.Request) (*http.Response, error) { n++; return tc.answers[n-1], nil })
				start := time.Now()
				_, err := c.Stream(t.Context(), request(), func(llm.Event) error { return nil })
				var h *llm.HTTPError
				switch {
				case tc.status == 0 && err != nil:
					t.Errorf("err = %v", err)
				case tc.status != 0 && (!errors.As(err, &h) || h.Status != tc.status):
					t.Errorf("err = %v, want HTTP %d", err, tc.status)
				}
				if n != tc.requests {
					t.Errorf("%d requests, want %d", n, tc.requests)
				}
				if took := time.Since(start); took < tc.min || took > tc.max {
					t.Errorf("took %s, want %s to %s", took, tc.min, tc.max)
				}
			})
		})
	}
}

func TestReasoningIsNeverAnswer(t *testing.T) {
	t.Parallel()
	for _, q := range []llmtest.Quirk{llmtest.ThinkText, llmtest.ReasoningField, llmtest.ReasoningField2} {
		t.Run(string(q), func(t *testing.T) {
			t.Parallel()
			o := run(t, request(), llmtest.Turn{Text: "The answer.", Quirks: []llmtest.Quirk{q}})
			if o.err != nil || o.round.Text != "The answer." {
				t.Errorf("text %q, err %v", o.round.Text, o.err)
			}
			var hidden string
			for _, e := range o.events {
				if r, ok := e.(llm.ReasoningDelta); ok {
					hidden += r.Text
				}
			}
			if hidden != llmtest.SecretThought {
				t.Errorf("reasoning %q", hidden)
			}
		})
	}
}

func TestOddButFineStreams(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]llmtest.Turn{
		"CRLF and comments":       {Text: "Grüße, 世界", Quirks: []llmtest.Quirk{llmtest.CRLFComments}},
		"empty first choices":     {Text: "Grüße, 世界", Quirks: []llmtest.Quirk{llmtest.EmptyChoices, llmtest.NoDelta}},
		"no [DONE]":               {Text: "Grüße, 世界", Quirks: []llmtest.Quirk{llmtest.NoDone}},
		"no finish, but [DONE]":   {Text: "Grüße, 世界", Quirks: []llmtest.Quirk{llmtest.NoFinish}},
		"content parts":           {Raw: event(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"Grüße, 世界"}]},"finish_reason":"stop"}]}`)},
		"whole message":           {Raw: event(`{"choices":[{"message":{"content":"Grüße, 世界"},"finish_reason":"STOP"}]}`)},
		"data over several lines": {Raw: "data: {\"choices\":[{\"delta\":{\"content\":\ndata: \"Grüße, 世界\"},\"finish_reason\":\"stop\"}]}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := run(t, request(), turn)
			if o.err != nil || o.round.Text != "Grüße, 世界" || o.round.Truncated || o.round.FinishReason == llm.FinishToolCalls {
				t.Errorf("round = %+v, err = %v", o.round, o.err)
			}
		})
	}
}

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()
	req := request()
	req.Messages = []llm.Message{
		{Role: llm.RoleUser, Text: "list"},
		{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{
			{ID: "1", Name: "tool_a", Arguments: json.RawMessage(`{"x":1}`)},
			{ID: "2", Name: "tool_b", Arguments: json.RawMessage(`"{'bad'"`)}}},
		{Role: llm.RoleTool, ToolCallID: "1", ToolName: "tool_a", Text: `{"ok":true}`},
		{Role: llm.RoleUser, Text: "and now"},
	}
	s := llmtest.NewServer(t, llmtest.Turn{Text: "ok"})
	if o := stream(t, newClient(t, s), req); o.err != nil {
		t.Fatal(o.err)
	}
	got := s.Requests()[0]
	if got.Authorization != "Bearer "+string(canary) {
		t.Errorf("authorization %q", got.Authorization)
	}
	want := `{"model":"fake-small","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"list"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"tool_a","arguments":"{\"x\":1}"}},` +
		`{"id":"2","type":"function","function":{"name":"tool_b","arguments":"{}"}}]},` +
		`{"role":"tool","content":"{\"ok\":true}","tool_call_id":"1"},` +
		`{"role":"tool","content":"No result: the call was interrupted before it finished.","tool_call_id":"2"},` +
		`{"role":"user","content":"and now"}],` +
		`"max_tokens":1000,"stream":true,"stream_options":{"include_usage":true},` +
		`"tools":[{"type":"function","function":{"name":"tool_a","parameters":{"type":"object"}}},{"type":"function","function":{"name":"tool_b","parameters":{"type":"object"}}}]}`
	if d := cmp.Diff(want, string(got.Body)); d != "" {
		t.Errorf("body (-want +got):\n%s", d)
	}
}

func TestEndpointDialectIsLearnedOnce(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t,
		llmtest.Turn{Status: 400, Body: `{"error":{"message":"Use 'max_completion_tokens' instead."}}`},
		llmtest.Turn{Status: 422, Body: `{"error":{"message":"unknown field stream_options"}}`},
		llmtest.Turn{Text: "one"}, llmtest.Turn{Text: "two"})
	c := newClient(t, s)
	for _, want := range []string{"one", "two"} {
		if o := stream(t, c, request()); o.err != nil || o.round.Text != want {
			t.Fatalf("%+v, %v", o.round, o.err)
		}
	}
	reqs := s.Requests()
	if len(reqs) != 4 {
		t.Fatalf("%d requests, want 4", len(reqs))
	}
	last := string(reqs[3].Body)
	if !strings.Contains(last, `"max_completion_tokens":1000`) || strings.Contains(last, `"max_tokens"`) || strings.Contains(last, "stream_options") {
		t.Errorf("body %s", last)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t)
	c, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: s.BaseURL() + strings.Repeat("/", 50), APIKey: canary, HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Models(t.Context())
	if d := cmp.Diff([]string{"fake-small", "fake-large"}, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	if r := s.Requests()[0]; r.Path != "/v1/models" || r.Authorization == "" {
		t.Errorf("request %+v", r)
	}
	wrong, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: strings.TrimSuffix(s.BaseURL(), "/v1") + "/other", APIKey: canary, HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	var h *llm.HTTPError
	if _, err := wrong.Models(t.Context()); !errors.As(err, &h) || h.Status != 404 {
		t.Errorf("err = %v, want HTTP 404", err)
	}
}

func TestConnectErrorsNameNoAddress(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	c, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: "http://user:pw@" + addr + "/v1?key=secretparam", HTTP: &http.Client{Transport: &http.Transport{}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Stream(t.Context(), request(), func(llm.Event) error { return nil })
	var ce *llm.ConnectError
	if !errors.As(err, &ce) {
		t.Fatalf("err = %v", err)
	}
	text := llm.UserText(err)
	if text != "The assistant failed: the model provider could not be reached: connection refused." {
		t.Errorf("user text %q", text)
	}
	log := slog.GroupValue(llm.LogAttrs(err)...).String()
	if strings.Contains(log, "secretparam") || strings.Contains(log, "pw@") || !strings.Contains(log, addr) {
		t.Errorf("log %s", log)
	}
}

func TestNewOpenAIRefusesBadURLs(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"ftp://x/v1", "x.example/v1", "http://", "://", "http://[::1"} {
		if _, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: bad, HTTP: http.DefaultClient}); err == nil || strings.Contains(err.Error(), bad) {
			t.Errorf("%q: err = %v, want one that does not echo it", bad, err)
		}
	}
}

func TestCancelAndConsumerErrors(t *testing.T) {
	t.Parallel()
	t.Run("cancel closes the request", func(t *testing.T) {
		t.Parallel()
		s := llmtest.NewServer(t, llmtest.Turn{Text: "so far", Quirks: []llmtest.Quirk{llmtest.SilenceMidText}})
		ctx, cancel := context.WithCancel(t.Context())
		var got string
		round, err := newClient(t, s).Stream(ctx, request(), func(e llm.Event) error {
			if d, ok := e.(llm.TextDelta); ok {
				if got += d.Text; got == "so far" {
					cancel()
				}
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || round.Text != "so far" || round.Usage.TotalTokens == 0 {
			t.Errorf("round = %+v, err = %v", round, err)
		}
	})
	t.Run("yield", func(t *testing.T) {
		t.Parallel()
		boom := errors.New("gone")
		s := llmtest.NewServer(t, llmtest.Turn{Text: "so far"})
		if _, err := newClient(t, s).Stream(t.Context(), request(), func(llm.Event) error { return boom }); err != boom {
			t.Errorf("err = %v, want the consumer's", err)
		}
	})
}

func TestErrorBodyIsCut(t *testing.T) {
	t.Parallel()
	o := run(t, request(), llmtest.Turn{Status: 418, Body: strings.Repeat("ü", 5000)})
	var h *llm.HTTPError
	if !errors.As(o.err, &h) || h.Body != strings.Repeat("ü", 2000)+"... (truncated)" {
		t.Errorf("body has %d bytes, err %v", len(h.Body), o.err)
	}
}

// TestGivenUpRequestsAreCounted: who leaves before the first word has still
// made the provider read the request.
func TestGivenUpRequestsAreCounted(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Turn{Wait: make(chan struct{})}, llmtest.Turn{Status: 400, Body: "no"})
	c := newClient(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(s.Requests()) == 0 {
			<-time.After(time.Millisecond)
		}
		cancel()
	}()
	round, err := c.Stream(ctx, request(), func(llm.Event) error { return nil })
	if !errors.Is(err, context.Canceled) || round.Usage.InputTokens != llm.EstimateRequest(request()) || !round.Usage.Estimated {
		t.Errorf("%+v, %v", round, err)
	}
	if round, err := c.Stream(t.Context(), request(), func(llm.Event) error { return nil }); err == nil || round.Usage.TotalTokens != 0 {
		t.Errorf("a refusal: %+v, %v", round, err)
	}
}
