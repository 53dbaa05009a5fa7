package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestThinkFilterAtEveryCut(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"plain < text >":                        {"plain < text >", ""},
		"<think>a</think>b":                     {"b", "a"},
		"\n<think>\na\n</think>\n\nb":           {"\nb", "\na\n"},
		"<thinking>a</thinking> b":              {"b", "a"},
		"x<think>a</think>y<think>b</think>z":   {"xyz", "ab"},
		"<think>never closed":                   {"", "never closed"},
		"<think>a < b</think>c":                 {"c", "a < b"},
		"a</think>b":                            {"ab", ""},
		"the tag `<think>` and `</think>` here": {"the tag `<think>` and `</think>` here", ""},
		"ends with <thi":                        {"ends with <thi", ""},
	} {
		for cut := 0; cut <= len(in); cut++ {
			var f thinkFilter
			var got [2]string
			for _, part := range []string{in[:cut], in[cut:]} {
				a, r := f.write(part)
				got[0], got[1] = got[0]+a, got[1]+r
			}
			a, r := f.flush()
			got[0], got[1] = got[0]+a, got[1]+r
			if got != want {
				t.Errorf("%q cut at %d: %q, want %q", in, cut, got, want)
			}
		}
	}
}

func TestFC050_Normalize(t *testing.T) {
	t.Parallel()
	call := func(ids ...string) Message {
		m := Message{Role: RoleAssistant}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, ToolCall{ID: id, Name: "t", Arguments: json.RawMessage(`{}`)})
		}
		return m
	}
	result := func(id string) Message {
		return Message{Role: RoleTool, ToolCallID: id, ToolName: "t", Text: "r"}
	}
	missing := func(id string) Message {
		return Message{Role: RoleTool, ToolCallID: id, ToolName: "t", Text: interrupted, IsError: true}
	}
	user := func(s string) Message { return Message{Role: RoleUser, Text: s} }
	said := func(s string) Message { return Message{Role: RoleAssistant, Text: s} }
	for name, tc := range map[string]struct{ in, want []Message }{
		"blank goes":                   {[]Message{user("a"), said(" "), user("b")}, []Message{user("a\n\nb")}},
		"neighbours join":              {[]Message{user("a"), user("b"), said("c"), said("d"), user("e")}, []Message{user("a\n\nb"), said("c\n\nd"), user("e")}},
		"starts with a user":           {[]Message{said("x"), call("1"), result("1"), user("a")}, []Message{user("a")}},
		"blank trailing user survives": {[]Message{said("x"), user(" ")}, []Message{user(" ")}},
		"structured is not joined":     {[]Message{user("a"), call("1"), result("1"), said("x")}, []Message{user("a"), call("1"), result("1"), said("x")}},
		"missing result is added":      {[]Message{user("a"), call("1", "2"), result("2"), user("b")}, []Message{user("a"), call("1", "2"), missing("1"), result("2"), user("b")}},
		"orphans and doubles go":       {[]Message{user("a"), result("9"), call("1"), result("1"), result("1"), user("b")}, []Message{user("a"), call("1"), result("1"), user("b")}},
	} {
		got := Normalize(tc.in)
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(got, Normalize(got)); d != "" {
			t.Errorf("%s is not stable:\n%s", name, d)
		}
	}
}

func TestMessageSurvivesStorage(t *testing.T) {
	t.Parallel()
	in := []Message{
		{Role: RoleUser, Text: "list <b>"},
		{Role: RoleAssistant, Text: "sure", ToolCalls: []ToolCall{{ID: "1", Name: "t", Arguments: json.RawMessage(`{"a":[1,null]}`)}}},
		{Role: RoleTool, ToolCallID: "1", ToolName: "t", Text: "broken", IsError: true},
	}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out []Message
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(in, out); d != "" {
		t.Error(d)
	}
}

func TestEstimates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "世界世界": 1} {
		if got := EstimateTokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := EstimateMessage(Message{Role: RoleUser, Text: "abcde"}); got != 2+4 {
		t.Errorf("message: %d", got)
	}
	m := Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "1", Name: "t", Arguments: json.RawMessage(`{}`)}}}
	if got, want := EstimateMessage(m), (len(`[{"id":"1","name":"t","arguments":{}}]`)+3)/4+4; got != want {
		t.Errorf("calls: %d, want %d", got, want)
	}
	m.ToolCalls[0].Arguments = json.RawMessage(`{`)
	if got := EstimateMessage(m); got != 4 {
		t.Errorf("unserialisable: %d, want 4", got)
	}
}

func TestHTMLText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<html><head><title>502</title><script>x<y</script></head><body><h1>Bad&nbsp;gateway</h1><!-- c --></body>": "502 Bad gateway",
		"<header>Top</header><style>a{}</style>rest":                                                                "Top rest",
		"<script>never closed": "",
		"a < b":                "a",
	} {
		if got := htmlText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzStream feeds any bytes as an answer: no panic, streamed text equals the
// round's, no call is runnable unless the round is whole, and usage is sane.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"<think>x</think>hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"index\":0,\"function\":{\"name\":\"t\",\"arguments\":\"{\\\"x\\\":1}\"}},{\"function\":{\"name\":\"u\",\"arguments\":{}}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"total_tokens\":\"1e3\"}}\n\n",
		": c\r\nevent: error\r\ndata: {\"error\":{\"code\":1}}\r\n\r\n",
		"data: {\"cho",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := NewOpenAI(OpenAIConfig{HTTP: &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(data))}, nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		done := 0
		round, err := c.Stream(context.Background(), Request{}, func(e Event) error {
			switch e := e.(type) {
			case TextDelta:
				text.WriteString(e.Text)
			case ToolCallDone:
				done++
				if !json.Valid(e.Call.Arguments) || e.Call.ID == "" || e.Call.Name == "" {
					t.Errorf("bad call %+v", e.Call)
				}
			}
			return nil
		})
		if text.String() != round.Text {
			t.Errorf("streamed %q, round %q", text.String(), round.Text)
		}
		if done != len(round.ToolCalls) || ((err != nil || round.Truncated) && done > 0) {
			t.Errorf("%d done, round %+v, err %v", done, round, err)
		}
		if _, merr := json.Marshal(round.Message()); merr != nil {
			t.Errorf("message cannot be stored: %v", merr)
		}
		if u := round.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.TotalTokens < 0 {
			t.Errorf("usage %+v", u)
		}
		_ = UserText(err)
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzArgumentsAreWhole holds the quick answer to the exact one, at every cut.
func FuzzArgumentsAreWhole(f *testing.F) {
	f.Add(`{"a":"b\\"}","c":[1,{}]}`, uint8(3))
	f.Add(` "{\"a\":1}" x`, uint8(1))
	f.Add("[]]", uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		c := &callBuilder{}
		for n, rest := 1+int(size%16), text; rest != ""; {
			n = min(n, len(rest))
			c.write(rest[:n])
			rest = rest[n:]
			args := strings.Trim(c.args.String(), " \t\r\n")
			if len(args) >= 64 && strings.IndexByte("{[\"", args[0]) < 0 {
				return // a bare value that long is no arguments
			}
			if got, want := c.whole(), args != "" && json.Valid([]byte(args)); got != want {
				t.Fatalf("%q is whole: %v, want %v", c.args.String(), got, want)
			}
		}
	})
}

// TestPuttingArgumentsTogetherIsLinear takes 60,000 fragments of one call, id and
// name in each. Reading all that came before for each of them takes a minute and
// more, this a fraction of a second.
func TestPuttingArgumentsTogetherIsLinear(t *testing.T) {
	t.Parallel()
	fragment := func(text string) wireCall {
		w := wireCall{ID: "a"}
		w.Function.Name, w.Function.Arguments = "tool_a", quoteJSON(text)
		return w
	}
	for name, args := range map[string][3]string{
		"a long text":     {`{"x":"`, "0123456}", `"}`},
		"many values":     {"[", `{"a":1},`, "1]"},
		"a tail of space": {`{"x":1}`, "        ", " "},
	} {
		a := newCallAssembler(Request{Tools: []ToolDef{{Name: "tool_a"}}})
		began := time.Now()
		for i := range 60_000 {
			text := args[1]
			if i == 0 {
				text = args[0]
			}
			if err := a.add(fragment(text), func(Event) error { return nil }); err != nil {
				t.Fatal(name, err)
			}
		}
		if err := a.add(fragment(args[2]), func(Event) error { return nil }); err != nil {
			t.Fatal(name, err)
		}
		if calls, cut := a.finish(); cut || len(calls) != 1 || calls[0].Arguments[0] == '"' {
			t.Errorf("%s: %d calls, cut %v", name, len(calls), cut)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}
