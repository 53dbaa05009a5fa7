package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func (f *fixture) account() authz.Principal {
	return authz.Principal{Kind: authz.Application, ID: "robot", Rules: []string{ruleThings.ID, ruleChange.ID}}
}

func TestRunActsAndRecords(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		gateway := llmtest.NewServer(t,
			llmtest.Turn{Text: "Looking.", Calls: []llm.ToolCall{llmtest.Call("1", "test_list", obj{}), llmtest.Call("2", "test_list", obj{"filter": "fail"})}},
			llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": "two"}), llmtest.Call("2", "test_create", obj{"name": "bad"}),
				llmtest.Call("3", "test_remove", obj{"name": "one"}), llmtest.Call("4", "test_admin", obj{}), llmtest.Call("5", "no_such", obj{})}},
			llmtest.Turn{Text: "Two is new."})
		out, err := f.s.Run(f.as(f.account()), RunInput{ConnectionID: f.connection(gateway, nil), SystemPrompt: "Speak like a pirate.", Prompt: "See to two."})
		if err != nil {
			t.Fatal(err)
		}
		if out.Text != "Two is new." || fmt.Sprint(out.ToolCalls) != "[{test.list true} {test.list false} {test.create true} {test.create false} {test.remove false} {test.admin false} {no_such false}]" {
			t.Errorf("result %+v", out)
		}
		if got := fmt.Sprint(f.domain.all()); got != "[one two]" {
			t.Errorf("names %s", got)
		}
		// What is offered: no destructive tool, none of others, none in the forced answer.
		var sent struct {
			Tools []struct{ Function struct{ Name string } }
		}
		if err := json.Unmarshal(gateway.Requests()[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(sent.Tools); got != "[{{test_list}} {{test_slow}} {{test_create}} {{test_login}}]" {
			t.Errorf("offered %s", got)
		}
		system, _ := sentMessages(t, gateway.Requests()[0])
		for _, want := range []string{"unattended", "<author_instructions>\nSpeak like a pirate.\n</author_instructions>", "Times you use are in", "## Access scope"} {
			if !strings.Contains(system, want) {
				t.Errorf("the prompt lacks %q", want)
			}
		}
		if strings.Index(system, "unattended") > strings.Index(system, "<author_instructions>") || strings.Index(system, "<author_instructions>") > strings.Index(system, "## Current time") {
			t.Error("the author's text is not behind the baseline and before the time")
		}
		// The audit names the account, the real effect and the transport.
		var rows []struct{ ToolName, Effect, Status, PrincipalKind, PrincipalID, Transport string }
		if err := d.Read.NewRaw("SELECT tool_name, effect, status, principal_kind, principal_id, transport FROM ai_tool_calls ORDER BY tool_name, status").Scan(t.Context(), &rows); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(rows); got != "[{test.create mutate applied application robot automation} {test.create mutate failed application robot automation} "+
			"{test.list read executed application robot automation} {test.list read failed application robot automation}]" {
			t.Errorf("audit %s", got)
		}
		var spend struct {
			N             int
			Total         int
			PrincipalKind string
		}
		if err := d.Read.NewRaw("SELECT count(*) AS n, sum(total_tokens) AS total, max(principal_kind) AS principal_kind FROM ai_spend WHERE conversation_id IS NULL").Scan(t.Context(), &spend); err != nil || spend.N != 1 || spend.Total != 54 || spend.PrincipalKind != "application" || out.Usage.TotalTokens != 54 {
			t.Errorf("spend %+v, %+v, %v", spend, out.Usage, err)
		}
	})
}

func TestRunRefusals(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	gateway := llmtest.NewServer(t)
	connection := f.connection(gateway, obj{"spendCap": obj{"tokenBudget": 10, "windowMinutes": 60}})
	ok := RunInput{ConnectionID: connection, Prompt: "go"}
	for _, tc := range []struct {
		name string
		who  authz.Principal
		in   RunInput
		kind problem.Kind
	}{
		{"a person", f.ada, ok, problem.KindForbidden},
		{"nobody", authz.Principal{}, ok, problem.KindForbidden},
		{"unknown connection", f.account(), RunInput{ConnectionID: "nope", Prompt: "go"}, problem.KindInvalid},
		{"no task", f.account(), RunInput{ConnectionID: connection}, problem.KindInvalid},
		{"31 steps", f.account(), RunInput{ConnectionID: connection, Prompt: "go", MaxSteps: 31}, problem.KindInvalid},
		{"-1 steps", f.account(), RunInput{ConnectionID: connection, Prompt: "go", MaxSteps: -1}, problem.KindInvalid},
		{"odd schema", f.account(), RunInput{ConnectionID: connection, Prompt: "go", Output: json.RawMessage(`{"type":"string"}`)}, problem.KindInvalid},
	} {
		if _, err := f.s.Run(f.as(tc.who), tc.in); !problem.Is(err, tc.kind) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.kind)
		}
	}
	// The cap holds for the account too.
	gateway.Push(llmtest.Turn{Text: "Done."})
	if _, err := f.s.Run(f.as(f.account()), ok); err != nil {
		t.Fatal(err)
	}
	if _, err := f.s.Run(f.as(f.account()), ok); !problem.Is(err, problem.KindTooMany) {
		t.Errorf("above the cap: %v", err)
	}
	if n := len(gateway.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestRunStepsAndFailure(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	gateway := llmtest.NewServer(t)
	connection := f.connection(gateway, nil)
	for i := range DefaultRunSteps - 1 {
		gateway.Push(llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_list", obj{"filter": fmt.Sprint(i)})}})
	}
	gateway.Push(llmtest.Turn{Text: "Enough."})
	out, err := f.s.Run(f.as(f.account()), RunInput{ConnectionID: connection, Prompt: "go"})
	if err != nil || out.Text != "Enough." || len(out.ToolCalls) != DefaultRunSteps-1 {
		t.Errorf("%+v, %v", out, err)
	}
	reqs := gateway.Requests()
	if last := string(reqs[len(reqs)-1].Body); strings.Contains(last, `"tools"`) || !strings.Contains(last, "tools are over") || len(reqs) != DefaultRunSteps {
		t.Errorf("%d rounds, the last %s", len(reqs), last)
	}
	// One step is a forced answer at once.
	gateway.Push(llmtest.Turn{Text: "At once."})
	if out, err := f.s.Run(f.as(f.account()), RunInput{ConnectionID: connection, Prompt: "go", MaxSteps: 1}); err != nil || out.Text != "At once." {
		t.Errorf("%+v, %v", out, err)
	}
	reqs = gateway.Requests()
	if strings.Contains(string(reqs[len(reqs)-1].Body), `"tools"`) {
		t.Error("a run of one step is offered tools")
	}
	gateway.Push(llmtest.Turn{Text: "Half", Quirks: []llmtest.Quirk{llmtest.CutStream}})
	if _, err := f.s.Run(f.as(f.account()), RunInput{ConnectionID: connection, Prompt: "go"}); err == nil {
		t.Error("half an answer is a success")
	}
	ctx, cancel := context.WithCancel(f.as(f.account()))
	cancel()
	if _, err := f.s.Run(ctx, RunInput{ConnectionID: connection, Prompt: "go"}); err == nil {
		t.Error("a cancelled run succeeds")
	}
}

func TestRunSavesThreeMemoriesAtMost(t *testing.T) {
	t.Parallel()
	h := &headless{}
	f := setup(t, dbtest.SQLite(t))
	save := f.memoryTool()
	for i := range maxRunMemories {
		if err := h.admit(save); err != nil {
			t.Errorf("memory %d: %v", i+1, err)
		}
	}
	if err := h.admit(save); !problem.Is(err, problem.KindTooMany) {
		t.Errorf("one more: %v", err)
	}
	var chat *headless
	if err := chat.admit(save); err != nil {
		t.Errorf("in the chat: %v", err)
	}
}

func TestRunStructuredOutput(t *testing.T) {
	t.Parallel()
	shape := json.RawMessage(`{"type":"object","additionalProperties":false,"required":["severity","at"],"properties":{
		"severity":{"type":"string","enum":["high","low"]},"at":{"type":"string","format":"date-time"},"fatal":{"type":"boolean"}}}`)
	good := `{"severity":"high","at":"2026-07-01T22:00:00+02:00"}`
	for _, tc := range []struct {
		name    string
		answers []string
		want    string
		asked   []string // parts of the last request
	}{
		{"at once", []string{good}, `"severity":"high"`, []string{`"enum":["high","low"]`, "Write only the object"}},
		{"in a fence", []string{"Here:\n```json\n" + good + "\n```"}, `"at":"2026-07-01T20:00:00.000Z"`, nil},
		{"repaired", []string{`{"severity":"huge"}`, good}, `"severity":"high"`, []string{"- severity:", "- at:", `{"severity":"huge"}`, "The JSON Schema again"}},
		{"repaired twice", []string{"no", `{"severity":"low","at":"2026-07-01T22:00:00"}`, good}, `"severity":"high"`, []string{"last attempt", "explicit timezone offset"}},
		{"never", []string{"no", "no", "no"}, "", []string{"last attempt"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, dbtest.SQLite(t))
			gateway := llmtest.NewServer(t, llmtest.Turn{Text: "It is bad since 22:00."})
			for _, a := range tc.answers {
				gateway.Push(llmtest.Turn{Text: a})
			}
			out, err := f.s.Run(f.as(f.account()), RunInput{ConnectionID: f.connection(gateway, nil), Prompt: "go", Output: shape})
			if tc.want == "" {
				if err == nil {
					t.Errorf("result %s", out.Object)
				}
			} else if err != nil || !strings.Contains(string(out.Object), tc.want) {
				t.Fatalf("result %+v, %v", out, err)
			}
			reqs := gateway.Requests()
			if len(reqs) != 1+len(tc.answers) {
				t.Errorf("%d requests", len(reqs))
			}
			system, m := sentMessages(t, reqs[len(reqs)-1])
			last := system + "\n" + m[len(m)-1].Text
			for _, want := range tc.asked {
				if !strings.Contains(last, want) {
					t.Errorf("the last request lacks %q:\n%s", want, last)
				}
			}
			if err == nil && out.Usage.TotalTokens != 18*len(reqs) {
				t.Errorf("usage %+v after %d requests", out.Usage, len(reqs))
			}
		})
	}
}
