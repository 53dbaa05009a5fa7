package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func chunk(delta string) string {
	return `data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
}

func ended(reason string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\ndata: [DONE]\n\n"
}

// afterwards shows that the conversation is usable: the next turn works, the
// history it sends is whole, and nothing is stuck.
func (f *fixture) afterwards(gateway *llmtest.Server, conversation, connection string) []byte {
	f.t.Helper()
	gateway.Push(llmtest.Turn{Text: "Back again."})
	if got := text(f.turn(conversation, connection, "and now?")); got != "Back again." {
		f.t.Errorf("afterwards %q", got)
	}
	all := gateway.Requests()
	body := all[len(all)-1].Body
	var sent struct {
		Messages []struct {
			Role       string
			Content    string
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		f.t.Fatal(err)
	}
	open, seen := map[string]bool{}, map[string]bool{}
	for _, m := range sent.Messages {
		for _, c := range m.ToolCalls {
			if seen[c.ID] || c.ID == "" || !json.Valid([]byte(c.Function.Arguments)) {
				f.t.Errorf("call %q of the history is told twice or broken", c.ID)
			}
			seen[c.ID], open[c.ID] = true, true
		}
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				f.t.Errorf("the history has a result without its call %q", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		}
	}
	if len(open) > 0 {
		f.t.Errorf("the history has %d calls without a result", len(open))
	}
	var running int
	if err := f.d.Read.NewRaw("SELECT count(*) FROM ai_conversations WHERE turn_id IS NOT NULL").Scan(f.t.Context(), &running); err != nil || running != 0 {
		f.t.Errorf("%d turns are stuck, %v", running, err)
	}
	return body
}

// TestFC056_OutputWithoutEnd plays gateways that never stop.
func TestFC056_OutputWithoutEnd(t *testing.T) {
	t.Parallel()
	block := strings.Repeat("words and words ", 256)
	for _, tc := range []struct {
		name string
		turn llmtest.Turn
		want string
	}{
		{"text", llmtest.Turn{Raw: chunk(`{"content":"Once upon a time "}`), Repeat: chunk(`{"content":"` + block + `"}`)}, "too large"},
		{"reasoning behind a text", llmtest.Turn{Raw: chunk(`{"content":"Once upon a time "}`), Repeat: chunk(`{"reasoning_content":"` + block + `"}`)}, "too large"},
		{"arguments", llmtest.Turn{Raw: chunk(`{"content":"Once upon a time ","tool_calls":[{"index":0,"id":"a","function":{"name":"test_create","arguments":"{\"name\":\""}}]}`),
			Repeat: chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"` + block + `"}}]}`)}, "larger tool calls"},
		{"calls", llmtest.Turn{Raw: chunk(`{"content":"Once upon a time "}`),
			Repeat: chunk(`{"tool_calls":[{"function":{"name":"test_create","arguments":"{\"name\":\"x\"}"}}]}`)}, "more or larger tool calls"},
		{"an event", llmtest.Turn{Raw: chunk(`{"content":"Once upon a time "}`) + "data: ", Repeat: block}, "too large"},
		{"events that say nothing", llmtest.Turn{Raw: chunk(`{"content":"Once upon a time "}`), Repeat: chunk(`{"content":""}`)}, "sent nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, dbtest.SQLite(t))
			gateway := llmtest.NewServer(t, tc.turn)
			connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true, "spendCap": obj{"tokenBudget": 10_000_000, "windowMinutes": 5}}), f.conversation("auto")
			frames := f.turn(conv, connection, "tell me")
			if fr := find(t, frames, "error"); !strings.Contains(fr.ErrorText, tc.want) || len(fr.ErrorText) > 300 {
				t.Errorf("the person reads %q, want %q", fr.ErrorText, tc.want)
			}
			if got := text(frames); !strings.HasPrefix(got, "Once upon a time") || len(got) > 1<<20 {
				t.Errorf("%d bytes of text", len(got))
			}
			if len(f.domain.all()) != 1 {
				t.Error("a call of a broken answer was run")
			}
			body := f.afterwards(gateway, conv, connection)
			if most := (128_000 + 20_000) * 4; len(body) > most {
				t.Errorf("the next request has %d bytes, more than the window holds", len(body))
			}
			var total int64
			if err := f.d.Read.NewRaw("SELECT CAST(sum(total_tokens) AS BIGINT) FROM ai_spend").Scan(t.Context(), &total); err != nil || total <= 0 {
				t.Errorf("spend %d, %v", total, err)
			}
		})
	}
}

// TestHostileCallsOfAGateway sends calls that no model should make, in mode auto.
func TestHostileCallsOfAGateway(t *testing.T) {
	t.Parallel()
	call := func(id, name, args string) string {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		n, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		return chunk(fmt.Sprintf(`{"tool_calls":[{"id":%q,"function":{"name":%s,"arguments":%s}}]}`, id, n, raw))
	}
	thousand := ""
	for i := range 1000 {
		thousand += call(fmt.Sprint("c", i), "test_list", fmt.Sprintf(`{"filter":"%d"}`, i))
	}
	deep := strings.Repeat(`{"name":`, 9990) + "1" + strings.Repeat("}", 9990)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, tc := range []struct {
			name  string
			raw   string
			says  string // what the model or the person is told
			fails bool   // the round is lost
			reads int64
		}{
			{"a thousand calls", thousand, "more or larger tool calls", true, 0},
			{"nested in thousands of levels", call("a", "test_create", deep), "Fix every issue", false, 0},
			{"huge arguments", call("a", "test_create", `{"name":"`+strings.Repeat("x", 900_000)+`"}`), "Fix every issue", false, 0},
			{"a name with control characters", call("a", "test_\x00\x1b[31mlist\u202e", `{}`), "There is no tool called", false, 0},
			{"a name like a credential", call("a", "sk-canarycanarycanary", `{}`), "There is no tool called", false, 0},
			{"lone surrogates", strings.ReplaceAll(call("a", "test_list", `{"filter":"SURROGATE"}`), "SURROGATE", `\\ud800\udfff`), "", false, 1},
			{"bytes that are no text", strings.ReplaceAll(call("a", "test_list", `{"filter":"x"}`), "x", "\xff\xfe\xc3"), "", false, 1},
			{"NUL in arguments", call("a", "test_list", `{"filter":"a\u0000b"}`), "must not contain a NUL", false, 0},
			{"one id for all calls", call("a", "test_list", `{"filter":"1"}`) + call("a", "test_list", `{"filter":"2"}`), "", false, 2},
			{"ids of control characters", strings.ReplaceAll(call("ID", "test_list", `{}`), `"ID"`, `"\u0000\n\u001b"`), "", false, 1},
			{"no calls although it says so", chunk(`{"content":"I will."}`), "", false, 0},
		} {
			f := setup(t, d)
			gateway := llmtest.NewServer(t, llmtest.Turn{Raw: tc.raw + ended("tool_calls")})
			connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("auto")
			if !tc.fails && tc.says+tc.name != "no calls although it says so" {
				gateway.Push(llmtest.Turn{Raw: tc.raw + ended("tool_calls")}, llmtest.Turn{Text: "Well."})
			}
			frames := f.turn(conv, connection, "go")
			told := ""
			for _, r := range gateway.Requests() {
				told = string(r.Body)
			}
			for _, fr := range frames {
				told += fr.ErrorText
				if strings.ContainsAny(fr.ToolName, "\x00\x1b\u202e") || strings.Contains(fr.ToolName, "canary") || len(fr.ErrorText) > 3000 {
					t.Errorf("%s: frame %+v", tc.name, fr)
				}
			}
			if !strings.Contains(told, tc.says) {
				t.Errorf("%s: nobody is told %q: %.2000s", tc.name, tc.says, told)
			}
			if tc.fails != (count(frames, "error") == 1) {
				t.Errorf("%s: %d errors", tc.name, count(frames, "error"))
			}
			if len(f.domain.all()) != 1 {
				t.Errorf("%s: something was created", tc.name)
			}
			// The second round repeats the first, ids and all; its reads are answered from the first ones.
			if got := f.domain.lists.Load(); got != tc.reads {
				t.Errorf("%s: %d reads, want %d", tc.name, got, tc.reads)
			}
			if strings.Contains(f.dump(), "canarycanary") {
				t.Errorf("%s: a credential is stored", tc.name)
			}
			f.afterwards(gateway, conv, connection)
		}
	})
}

// TestTextThatNoDatabaseTakes streams broken Unicode: what is shown is what is
// stored, on both databases.
func TestTextThatNoDatabaseTakes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for name, content := range map[string]string{
			"a lone surrogate":       `a\ud800b`,
			"a pair in two events":   "\\ud83d\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ude00",
			"bytes that are no text": "a\xff\xfeb",
			"half a letter":          "a\xc3",
			"NUL":                    `a\u0000b`,
			"control characters":     `a\u0007\u001b[31mb\u202ec\u2028d`,
		} {
			f := setup(t, d)
			gateway := llmtest.NewServer(t, llmtest.Turn{Raw: chunk(`{"content":"`+content+`"}`) + ended("stop")})
			connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("approve")
			if frames := f.turn(conv, connection, "go"); text(frames) == "" || strings.ContainsRune(text(frames), 0) {
				t.Errorf("%s: shown as %q", name, text(frames))
			}
			if stored := f.stored(conv); len(stored) != 2 {
				t.Errorf("%s: stored %+v", name, stored)
			}
			f.afterwards(gateway, conv, connection)
		}
	})
}

// TestFC055_UsageThatLies holds what is counted against reports that make no
// sense: never less than before, never beyond what a number holds.
func TestFC055_UsageThatLies(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, report := range []string{
			`{"prompt_tokens":-5,"completion_tokens":-1,"total_tokens":-6}`, `{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807,"total_tokens":1}`,
			`{"total_tokens":1e308}`, `{"total_tokens":2147483647,"prompt_tokens":2147483647,"completion_tokens":2147483647}`, `{"total_tokens":"NaN"}`, `{"total_tokens":"Infinity"}`,
			`{"total_tokens":0.4}`, `[1,2]`, `"many"`, `{"prompt_tokens":{"a":1},"completion_tokens":[7]}`,
		} {
			f := setup(t, d)
			raw := chunk(`{"content":"Hello there."}`) + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: " + `{"choices":[],"usage":` + report + `}` + "\n\ndata: [DONE]\n\n"
			gateway := llmtest.NewServer(t, llmtest.Turn{Raw: raw}, llmtest.Turn{Raw: raw})
			connection := f.connection(gateway, obj{"disableTopicalClassifier": true, "spendCap": obj{"tokenBudget": 1 << 50, "windowMinutes": 5}})
			last := int64(0)
			for range 2 {
				frames := f.turn(f.conversation("approve"), connection, "hi")
				if count(frames, "finish") != 1 {
					t.Errorf("%s: %+v", report, frames)
				}
				f.s.background.Wait()
				var total, worst int64
				if err := d.Read.NewRaw("SELECT CAST(sum(total_tokens) AS BIGINT), CAST(min(total_tokens) AS BIGINT) FROM ai_spend WHERE integration_id = ?", connection).
					Scan(t.Context(), &total, &worst); err != nil || total <= last || worst <= 0 || total > 1<<34 {
					t.Errorf("%s: spend %d after %d, least row %d, %v", report, total, last, worst, err)
				}
				last = total
			}
		}
	})
}

// TestFC056_AStallEndsTheTurnAndStopWorksBefore stalls a gateway in the middle
// of arguments. The stop closes the upstream request within a second.
func TestFC056_AStallEndsTheTurnAndStopWorksBefore(t *testing.T) {
	t.Parallel()
	half := chunk(`{"content":"Let me see. ","tool_calls":[{"index":0,"id":"a","function":{"name":"test_create","arguments":"{\"na"}}]}`)
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		f := setup(t, dbtest.SQLite(t))
		f.s.idle = 100 * time.Millisecond
		gateway := llmtest.NewServer(t, llmtest.Turn{Raw: half, Quirks: []llmtest.Quirk{llmtest.SilenceMidText}})
		connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("auto")
		frames := f.turn(conv, connection, "go")
		if fr := find(t, frames, "error"); !strings.Contains(fr.ErrorText, "sent nothing") {
			t.Errorf("the person reads %q", fr.ErrorText)
		}
		f.afterwards(gateway, conv, connection)
	})
	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		f := setup(t, dbtest.SQLite(t))
		f.s.idle = time.Hour
		closed := make(chan time.Time, 1)
		upstream := f.s.http.Transport
		f.s.http.Transport = transport(func(r *http.Request) (*http.Response, error) {
			context.AfterFunc(r.Context(), func() {
				select {
				case closed <- time.Now():
				default:
				}
			})
			return upstream.RoundTrip(r)
		})
		gateway := llmtest.NewServer(t, llmtest.Turn{Raw: half, Quirks: []llmtest.Quirk{llmtest.SilenceMidText}})
		connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("auto")
		resp := f.request(context.Background(), "ada", obj{"conversationId": conv, "connectionId": connection, "message": "go"})
		defer resp.Body.Close()
		f.waitStored(conv, "Let me see.")
		asked := time.Now()
		f.must(f.ada, "ai.stopTurn", obj{"id": conv})
		if took := (<-closed).Sub(asked); took > time.Second {
			t.Errorf("the upstream request was closed %s after the stop", took)
		}
		f.waitEnded(conv, 5*time.Second)
		f.afterwards(gateway, conv, connection)
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A provider that asks for a day is answered at once, in words.
func TestFC056_RetryAfterADay(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	day := llmtest.RetryAfter(86_400)
	dated := llmtest.RetryAfter(1)
	dated.Header = http.Header{"Retry-After": {time.Now().Add(24 * time.Hour).UTC().Format(http.TimeFormat)}}
	gateway := llmtest.NewServer(t, day, dated)
	connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("approve")
	for range 2 {
		began := time.Now()
		frames := f.turn(conv, connection, "go")
		if fr := find(t, frames, "error"); !strings.Contains(fr.ErrorText, "HTTP 429") || time.Since(began) > 5*time.Second {
			t.Errorf("after %s the person reads %q", time.Since(began), fr.ErrorText)
		}
	}
	f.afterwards(gateway, conv, connection)
}
