package llm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm"
)

func callDelta(args string) string {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return event(fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"tool_a","arguments":%s}}]}}]}`, raw))
}

// TestAnswersAreBounded streams what never ends, or is more than anybody can
// use: the round ends with an error in words.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	endless := func(first, piece string) func(io.Writer) {
		return func(w io.Writer) {
			_, err := io.WriteString(w, first)
			for err == nil {
				_, err = io.WriteString(w, piece)
			}
		}
	}
	block := strings.Repeat("0123456789abcdef", 256)
	for name, tc := range map[string]struct {
		write func(io.Writer)
		want  string
		most  int // bytes of text
	}{
		"text":              {endless("", event(`{"choices":[{"delta":{"content":"`+block+`"}}]}`)), "too large", 1 << 20},
		"reasoning":         {endless("", event(`{"choices":[{"delta":{"reasoning_content":"`+block+`"}}]}`)), "too large", 0},
		"a think block":     {endless(event(`{"choices":[{"delta":{"content":"<think>"}}]}`), event(`{"choices":[{"delta":{"content":"`+block+`"}}]}`)), "too large", 0},
		"one event":         {endless("data: ", block), "too large", 0},
		"one line":          {endless("", block), "too large", 0},
		"arguments":         {endless(callDelta(`{"x":"`), callDelta(block)), "larger tool calls", 0},
		"calls":             {endless("", event(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"tool_a","arguments":"{}"}}]}}]}`)), "more or larger", 0},
		"names":             {endless("", event(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"`+block+`"}}]}}]}`)), "more or larger", 0},
		"a list of choices": {endless(`data: {"choices":[`, `{"index":1,"delta":{"content":"`+block+`"}},`), "too large", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := stream(t, streaming(t, tc.write), request())
			if o.err == nil || !strings.Contains(llm.UserText(o.err), tc.want) {
				t.Errorf("err = %v, want %q", o.err, tc.want)
			}
			if len(o.round.Text) > tc.most || (tc.most > 0) != (o.round.Text != "") {
				t.Errorf("%d bytes of text", len(o.round.Text))
			}
		})
	}
}

// TestLongArgumentsInSmallPieces puts arguments together from pieces of eight
// bytes, with id and name in each.
func TestLongArgumentsInSmallPieces(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"a long text":     `{"x":"` + strings.Repeat("0123456}", 5_000) + `"}`,
		"many values":     `[` + strings.Repeat(`{"a":1},`, 5_000) + `1]`,
		"a tail of space": `{"x":1}` + strings.Repeat("        ", 5_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := stream(t, streaming(t, func(w io.Writer) {
				for rest := args; rest != ""; {
					n := min(8, len(rest))
					if _, err := io.WriteString(w, callDelta(rest[:n])); err != nil {
						return
					}
					rest = rest[n:]
				}
				io.WriteString(w, event(`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)+event("[DONE]"))
			}), request())
			if o.err != nil || len(o.round.ToolCalls) != 1 || strings.TrimSpace(string(o.round.ToolCalls[0].Arguments)) != strings.TrimSpace(args) {
				t.Fatalf("%d calls, err = %v", len(o.round.ToolCalls), o.err)
			}
		})
	}
}

// Arguments nested in thousands of levels break encoders and databases later.
func TestDeepArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args string
		kept bool
	}{
		{"99 levels", strings.Repeat(`{"a":`, 99) + "1" + strings.Repeat("}", 99), true},
		{"brackets in a text", `{"a":"` + strings.Repeat("[", 5000) + `"}`, true},
		{"101 lists", strings.Repeat("[", 101) + strings.Repeat("]", 101), false},
		{"9,999 objects", strings.Repeat(`{"a":`, 9999) + "1" + strings.Repeat("}", 9999), false},
		{"20,000 objects", strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000), false},
	} {
		o := stream(t, streaming(t, func(w io.Writer) {
			io.WriteString(w, callDelta(tc.args)+event(`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)+event("[DONE]"))
		}), request())
		if o.err != nil || len(o.round.ToolCalls) != 1 {
			t.Errorf("%s: %d calls, err = %v", tc.name, len(o.round.ToolCalls), o.err)
			continue
		}
		got := string(o.round.ToolCalls[0].Arguments)
		if (got == tc.args) != tc.kept || (!tc.kept && !strings.HasPrefix(got, `"`)) {
			t.Errorf("%s: kept %v", tc.name, got == tc.args)
		}
	}
}
