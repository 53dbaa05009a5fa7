package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// TestFC053_FC056_EveryQuirkThroughTheChat plays every quirk of the fake
// gateway through the whole endpoint, with the guard in front, in a round that
// asks for two reads and one that answers. A quirk is survived, or told in
// words; the conversation is usable in either case.
func TestFC053_FC056_EveryQuirkThroughTheChat(t *testing.T) {
	t.Parallel()
	// What a quirk costs: part of the error the person reads.
	fatal := map[llmtest.Quirk]string{
		llmtest.CutStream: "broke off", llmtest.HalfLine: "broke off", llmtest.HTML200: "log in to the proxy", llmtest.JSONError200: "rate limit reached",
		llmtest.ErrorMidStream: "overloaded", llmtest.Silence: "sent nothing", llmtest.SilenceMidText: "sent nothing", llmtest.DoneAtOnce: "empty answer",
	}
	// Calls that cannot be told from cut ones are not run; the model is told and answers.
	unrun := map[llmtest.Quirk]bool{llmtest.NoFinish: true}
	for _, q := range llmtest.Quirks() {
		t.Run(string(q), func(t *testing.T) {
			t.Parallel()
			f := setup(t, dbtest.SQLite(t))
			reads := []llm.ToolCall{llmtest.Call("a", "test_list", obj{"filter": "x"}), llmtest.Call("b", "test_list", obj{"filter": "y"})}
			if q == llmtest.ArgsEmpty || q == llmtest.ArgsNull {
				reads = []llm.ToolCall{llmtest.Call("a", "test_list", obj{}), llmtest.Call("b", "test_thing", obj{})}
				f.withTools(named("test.thing"))
			}
			gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Let me look. ", Calls: reads, Quirks: []llmtest.Quirk{q}})
			gateway.PushSide(llmtest.Guard, llmtest.Turn{Text: "ON_TOPIC", Quirks: []llmtest.Quirk{q}})
			connection, conv := f.connection(gateway, obj{"spendCap": obj{"tokenBudget": 1_000_000, "windowMinutes": 5}}), f.conversation("approve")
			want := fatal[q]
			if want == "" {
				gateway.Push(llmtest.Turn{Text: "Two things.", Quirks: []llmtest.Quirk{q}})
			}
			frames := f.turn(conv, connection, "look") // checks the stream and that it is what is stored
			ok := count(frames, "tool-output-available")
			switch {
			case want != "":
				if fr := find(t, frames, "error"); !strings.Contains(fr.ErrorText, want) || strings.Contains(fr.ErrorText, apiKey) {
					t.Errorf("the person reads %q, want %q", fr.ErrorText, want)
				}
				if ok != 0 {
					t.Errorf("%d calls of a broken round were run", ok)
				}
			case unrun[q]:
				if ok != 0 || !strings.HasSuffix(text(frames), "Two things.") {
					t.Errorf("%d calls, text %q", ok, text(frames))
				}
			default:
				if ok != 2 || text(frames) != "Let me look. Two things." {
					t.Errorf("%d reads, text %q", ok, text(frames))
				}
			}
			if strings.Contains(fmt.Sprint(frames), llmtest.SecretThought) || strings.Contains(f.dump(), llmtest.SecretThought) {
				t.Error("reasoning is shown or stored as an answer")
			}
			gateway.Push(llmtest.Turn{Text: "Back again."})
			if got := text(f.turn(conv, connection, "and now?")); got != "Back again." {
				t.Errorf("afterwards %q", got)
			}
			f.s.background.Wait()
			var spend struct{ Bad, N int }
			if err := f.d.Read.NewRaw(`SELECT coalesce(sum(CASE WHEN total_tokens <= 0 OR input_tokens < 0 OR output_tokens < 0 OR total_tokens > 100000 THEN 1 ELSE 0 END), 0) AS bad,
				count(*) AS n FROM ai_spend`).Scan(t.Context(), &spend); err != nil || spend.Bad > 0 || spend.N == 0 {
				t.Errorf("spend %+v, %v", spend, err)
			}
			var running int
			if err := f.d.Read.NewRaw("SELECT count(*) FROM ai_conversations WHERE turn_id IS NOT NULL").Scan(t.Context(), &running); err != nil || running != 0 {
				t.Errorf("%d turns are stuck, %v", running, err)
			}
		})
	}
}

// TestFC056_RetriesThroughTheChat: before the first word a busy provider is
// asked again, after it never.
func TestFC056_RetriesThroughTheChat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		turns    []llmtest.Turn
		text     string
		err      string
		requests int
	}{
		{"429 twice, then well", []llmtest.Turn{{Status: 429, Body: "slow down"}, {Status: 429, Body: "slow down"}, {Text: "Here."}}, "Here.", "", 3},
		{"503, then well", []llmtest.Turn{{Status: 503, Body: "starting"}, {Text: "Here."}}, "Here.", "", 2},
		{"429 for ever", []llmtest.Turn{{Status: 429, Body: "quota of team A is used"}, {Status: 429, Body: "quota of team A is used"}, {Status: 429, Body: "quota of team A is used"}}, "", "HTTP 429: quota of team A is used", 3},
		{"429 that asks for an hour", []llmtest.Turn{llmtest.RetryAfter(3600)}, "", "HTTP 429", 1},
		{"400 is final", []llmtest.Turn{{Status: 400, Body: "no such model"}}, "", "HTTP 400: no such model", 1},
		{"after the first word never", []llmtest.Turn{{Text: "So far ", Quirks: []llmtest.Quirk{llmtest.ErrorMidStream}}}, "So far ", "overloaded", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			gateway := llmtest.NewServer(t, tc.turns...)
			f := setup(t, dbtest.SQLite(t))
			f.s.idle = 10 * time.Second
			connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("approve")
			frames := f.turn(conv, connection, "go")
			if text(frames) != tc.text || len(gateway.Requests()) != tc.requests {
				t.Errorf("text %q after %d requests", text(frames), len(gateway.Requests()))
			}
			if tc.err != "" && !strings.Contains(find(t, frames, "error").ErrorText, tc.err) {
				t.Errorf("error %q", find(t, frames, "error").ErrorText)
			}
			gateway.Push(llmtest.Turn{Text: "Well."})
			if got := text(f.turn(conv, connection, "and now?")); got != "Well." {
				t.Errorf("afterwards %q", got)
			}
		})
	}
}

// TestFC054_CutInEveryWayThroughTheChat cuts a change off in the ways of the
// field case; none is run, in mode auto.
func TestFC054_CutInEveryWayThroughTheChat(t *testing.T) {
	t.Parallel()
	call := func(args string) []llm.ToolCall {
		return []llm.ToolCall{{ID: "1", Name: "test_create", Arguments: json.RawMessage(args)}}
	}
	half := `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"test_create","arguments":"{\"name\":\"two\",\"note\":\"half"}}]}}]}` + "\n\n"
	for _, tc := range []struct {
		name string
		turn llmtest.Turn
	}{
		{"a: half of the arguments, finish tool_calls", llmtest.Turn{Raw: half + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"}},
		{"b: half of the arguments, finish length", llmtest.Turn{Raw: half + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\ndata: [DONE]\n\n"}},
		{"c: whole arguments, finish length", llmtest.Turn{Calls: call(`{"name":"two"}`), Finish: "length"}},
		{"d: whole arguments, then nothing", llmtest.Turn{Calls: call(`{"name":"two"}`), Quirks: []llmtest.Quirk{llmtest.CutStream}}},
		{"e: whole arguments, content filter", llmtest.Turn{Calls: call(`{"name":"two"}`), Finish: "content_filter"}},
		{"f: no arguments, finish tool_calls", llmtest.Turn{Calls: call(`{}`), Quirks: []llmtest.Quirk{llmtest.ArgsEmpty}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			gateway := llmtest.NewServer(t, tc.turn)
			if !strings.HasPrefix(tc.name, "d") {
				gateway.Push(llmtest.Turn{Text: "I could not."})
			}
			f := setup(t, dbtest.SQLite(t))
			connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("auto")
			frames := f.turn(conv, connection, "create two")
			if n := len(f.domain.all()); n != 1 {
				t.Errorf("half of a command was a command: %v", f.domain.all())
			}
			if count(frames, "tool-input-error") != 1 {
				t.Errorf("frames %+v", frames)
			}
			if strings.HasPrefix(tc.name, "d") {
				if fr := find(t, frames, "error"); fr.ErrorText == "" {
					t.Error("no error")
				}
				return
			}
			raw := string(gateway.Requests()[1].Body)
			if !strings.Contains(raw, "cut off") && !strings.Contains(raw, "Fix every issue") {
				t.Errorf("the model is not told: %s", raw)
			}
		})
	}
}
