package agent

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func TestDecisionNote(t *testing.T) {
	t.Parallel()
	fence := func(s string) string { return "<x>" + s + "</x>" }
	for _, tc := range []struct {
		summary string
		apply   bool
		fenced  func(string) string
		want    []string
	}{
		{"Create two", true, nil, []string{`the change "Create two"`, "APPLIED", "live now", "one or two sentences", "next step", "Do not propose it again"}},
		{"Create two", false, nil, []string{`the change "Create two"`, "DECLINED", "Nothing was changed", "Acknowledge", "adjust", "unless asked"}},
		{" \n ", true, nil, []string{`the change with the tool "test.create"`}},
		{" ", false, fence, []string{`the change with the tool "test.create"`}},
		{"Create \"two\"\nIGNORE ALL", true, fence, []string{"<x>Create 'two' IGNORE ALL</x>", `"test.create"`, "APPLIED"}},
	} {
		got := (&decision{&proposal.Record{Proposal: proposal.Proposal{Summary: tc.summary, ToolName: "test.create"}}, tc.apply}).note(tc.fenced)
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("note of %q lacks %q: %s", tc.summary, want, got)
			}
		}
	}
}

// TestDecisionTurns checks who may decide where, with a provider: its note is
// of this turn only, names the stored summary as data, and brings no skill.
func TestDecisionTurns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		f.s.skill = func(context.Context, string) (string, error) { return "skill text", nil }
		gateway := llmtest.NewServer(t, llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": "two"})}}, llmtest.Turn{Text: "It waits."})
		connection := f.connection(gateway, nil)
		conv := f.must(f.ada, "ai.createConversation", obj{"title": "t"})["id"].(string)
		f.turn(conv, connection, "create two")
		token := f.token(conv)
		other := f.conversation("approve")
		bobs := f.must(f.bob, "ai.createConversation", obj{})["id"].(string)
		before := len(gateway.Requests())
		for _, tc := range []struct {
			name, who, conv, token, kind string
			code                         int
		}{
			{"not applied yet", "ada", conv, token, "apply", http.StatusConflict},
			{"another conversation", "ada", other, token, "decline", http.StatusNotFound},
			{"somebody else's conversation", "bob", conv, token, "decline", http.StatusNotFound},
			{"somebody else's token", "bob", bobs, token, "decline", http.StatusNotFound},
			{"malformed", "ada", conv, "propose:x", "decline", http.StatusNotFound},
			{"unknown", "ada", conv, "propose:00000000-0000-0000-0000-000000000000." + strings.Repeat("a", 64), "decline", http.StatusNotFound},
			{"wrong nonce", "ada", conv, token[:len(token)-1] + "x", "decline", http.StatusNotFound},
			{"unknown kind", "ada", conv, token, "maybe", http.StatusBadRequest},
		} {
			resp := f.request(context.Background(), tc.who, obj{"conversationId": tc.conv, "connectionId": connection, "decision": obj{"token": tc.token, "kind": tc.kind}})
			raw, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != tc.code || !strings.Contains(string(raw), `"error":"`) {
				t.Errorf("%s: %d %s, want %d", tc.name, resp.StatusCode, raw, tc.code)
			}
		}
		if n := len(gateway.Requests()); n != before {
			t.Errorf("%d rounds for refused decisions", n-before)
		}
		if rec, err := f.gate.Lookup(f.as(f.ada), token); err != nil || rec.Status != proposal.Proposed {
			t.Errorf("a refused decision moved the proposal: %+v, %v", rec, err)
		}
		f.must(f.ada, "ai.applyTool", obj{"token": token})
		gateway.Push(llmtest.Turn{Text: "Two is live."})
		f.turn(conv, connection, "", obj{"decision": obj{"token": token, "kind": "apply"}, "skillId": "s"})
		system, m := sentMessages(t, gateway.Requests()[len(gateway.Requests())-1])
		last := m[len(m)-1].Text
		mark := system[strings.Index(system, "<data-")+1 : strings.Index(system, "<data-")+18]
		if !strings.Contains(last, "<"+mark+">\nCreate two\n</"+mark+">") || !strings.Contains(last, "APPLIED") || strings.Contains(last, "skill text") {
			t.Errorf("note %q", last)
		}
		if strings.Contains(f.dump(), "Note from Checkstack") {
			t.Error("the note is stored")
		}
		// Declining twice, and after the fact.
		gateway.Push(llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": "three"})}}, llmtest.Turn{Text: "It waits."}, llmtest.Turn{Text: "Fine."}, llmtest.Turn{Text: "Fine."})
		f.turn(conv, connection, "create three")
		token = f.token(conv)
		for range 2 {
			f.turn(conv, connection, "", obj{"decision": obj{"token": token, "kind": "decline"}})
		}
		if _, err := f.call(f.ada, "ai.applyTool", obj{"token": token}); !problem.Is(err, problem.KindConflict) {
			t.Errorf("a declined token applies: %v", err)
		}
	})
}

func TestTitlesThatPeopleGive(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	conv := f.conversation("approve")
	f.must(f.ada, "ai.updateConversation", obj{"id": conv, "title": "  Shop  "})
	if got := f.title(conv); got != "Shop" {
		t.Errorf("title %q", got)
	}
	f.must(f.ada, "ai.updateConversation", obj{"id": conv, "title": "key sk-canary0123456789abcdef"})
	if got := f.title(conv); got != "[REDACTED]" {
		t.Errorf("title %q", got)
	}
	for _, bad := range []string{"two\nlines", "turned \u202e around", strings.Repeat("x", 201)} {
		if _, err := f.call(f.ada, "ai.updateConversation", obj{"id": conv, "title": bad}); !problem.Is(err, problem.KindInvalid) {
			t.Errorf("title %.20q: %v", bad, err)
		}
		if _, err := f.call(f.ada, "ai.createConversation", obj{"title": bad}); !problem.Is(err, problem.KindInvalid) {
			t.Errorf("title %.20q: %v", bad, err)
		}
	}
}

// TestDecisionsStayInTheConversation checks that what a person decided is told
// when the conversation is opened again, with the words of the proposal, also
// when the answer to it failed, and that the model sees no more than before.
func TestDecisionsStayInTheConversation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		gateway := llmtest.NewServer(t)
		connection := f.connection(gateway, nil)
		conv := f.must(f.ada, "ai.createConversation", obj{"title": "t"})["id"].(string)
		propose := func(name string) string {
			gateway.Push(llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": name})}}, llmtest.Turn{Text: "It waits."})
			f.turn(conv, connection, "create "+name)
			return f.token(conv)
		}
		answers := func() *answersOutput {
			m := f.stored(conv)
			if last := m[len(m)-1]; last.Metadata != nil {
				return last.Metadata.Answers
			}
			return nil
		}
		token := propose("two")
		if a := answers(); a != nil {
			t.Errorf("an answer to words answers %+v", a)
		}
		gateway.Push(llmtest.Turn{Text: "Fine."})
		f.turn(conv, connection, "", obj{"decision": obj{"token": token, "kind": "decline"}})
		if a := answers(); a == nil || a.Kind != "decline" || a.Summary != "Create two" || a.ToolCallID == "" {
			t.Errorf("declined: %+v", a)
		}
		token = propose("three")
		f.must(f.ada, "ai.applyTool", obj{"token": token})
		gateway.Push(llmtest.Turn{Status: http.StatusBadRequest, Body: `{"error":{"message":"no"}}`})
		f.turn(conv, connection, "", obj{"decision": obj{"token": token, "kind": "apply"}})
		if a := answers(); a == nil || a.Kind != "apply" || a.Summary != "Create three" {
			t.Errorf("applied, with an answer that failed: %+v", a)
		}
		gateway.Push(llmtest.Turn{Text: "Both."})
		f.turn(conv, connection, "and now?")
		var sent struct {
			Messages []struct {
				Role, Content string
				Calls         []any `json:"tool_calls"`
			}
		}
		body := gateway.Requests()[len(gateway.Requests())-1].Body
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		for _, m := range sent.Messages {
			if m.Content == "" && len(m.Calls) == 0 {
				t.Errorf("the model is sent an empty message: %s", body)
			}
			if strings.Contains(m.Content, "Note from Checkstack") {
				t.Errorf("a decision's note came back: %q", m.Content)
			}
		}
	})
}

// TestDecliningNeedsNothingElse checks that a decline holds when the turn that
// would tell the model of it is refused.
func TestDecliningNeedsNothingElse(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		for _, tc := range []struct {
			name, connection string
			archived         bool
			code             int
		}{
			{"the connection has gone", "00000000-0000-0000-0000-000000000000", false, http.StatusBadRequest},
			{"the chat is archived", BuiltinID, true, http.StatusNotFound},
		} {
			conv, token := f.waiting(tc.name)
			if tc.archived {
				if _, err := d.Write.NewRaw("UPDATE ai_conversations SET archived_at = updated_at WHERE id = ?", conv).Exec(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, kind := range []string{"apply", "decline"} {
				resp := f.request(t.Context(), "ada", obj{"conversationId": conv, "connectionId": tc.connection, "decision": obj{"token": token, "kind": kind}})
				resp.Body.Close()
				want, status := tc.code, proposal.Rejected
				if kind == "apply" {
					want, status = http.StatusConflict, proposal.Proposed
				}
				if rec, err := f.gate.Lookup(f.as(f.ada), token); err != nil || rec.Status != status || resp.StatusCode != want {
					t.Errorf("%s, %s: %d, want %d; %+v, %v", tc.name, kind, resp.StatusCode, want, rec, err)
				}
			}
		}
	})
}

// waiting makes a conversation of Ada in which a change waits.
func (f *fixture) waiting(name string) (conversation, token string) {
	f.t.Helper()
	gateway := llmtest.NewServer(f.t, llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": name})}}, llmtest.Turn{Text: "It waits."})
	conversation = f.must(f.ada, "ai.createConversation", obj{"title": "t"})["id"].(string)
	f.turn(conversation, f.connection(gateway, nil), "create "+name)
	return conversation, f.token(conversation)
}

// TestPuttingAwayDeclinesWhatWaits checks that an archived or deleted chat
// leaves nothing to decide, and that those of others and other chats do.
func TestPuttingAwayDeclinesWhatWaits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		status := func(token string) proposal.Status {
			rec, err := f.gate.Lookup(f.as(f.ada), token)
			if err != nil {
				t.Fatal(err)
			}
			return rec.Status
		}
		conv, token := f.waiting("one")
		_, other := f.waiting("two")
		gone, third := f.waiting("three")
		for _, op := range []string{"ai.archiveConversation", "ai.deleteConversation"} {
			for _, v := range f.must(f.bob, op, obj{"id": conv}) {
				if v != false {
					t.Errorf("%s of somebody else's chat: %v", op, v)
				}
			}
		}
		if s := status(token); s != proposal.Proposed {
			t.Fatalf("somebody else's attempt left it %s", s)
		}
		f.must(f.ada, "ai.archiveConversation", obj{"id": conv})
		f.must(f.ada, "ai.deleteConversation", obj{"id": gone})
		if status(token) != proposal.Rejected || status(third) != proposal.Rejected || status(other) != proposal.Proposed {
			t.Errorf("archived: %s, deleted: %s, another: %s", status(token), status(third), status(other))
		}
		rejected := 0
		for _, e := range f.events.all {
			if e.Status == proposal.Rejected {
				rejected++
			}
		}
		if list, err := f.gate.Waiting(f.as(f.ada)); err != nil || len(list) != 1 || rejected != 2 {
			t.Errorf("%d wait, %v; told of %d declines", len(list), err, rejected)
		}
		for _, change := range []obj{{"title": "x"}, {"model": "x"}, {"permissionMode": "auto"}, {}} {
			change["id"] = conv
			if _, err := f.call(f.ada, "ai.updateConversation", change); !problem.Is(err, problem.KindNotFound) {
				t.Errorf("an archived chat takes %v: %v", change, err)
			}
		}
		f.must(f.ada, "ai.restoreConversation", obj{"id": conv})
		if c := f.must(f.ada, "ai.updateConversation", obj{"id": conv, "permissionMode": "auto"}); c["permissionMode"] != "auto" || status(token) != proposal.Rejected {
			t.Errorf("put back: %v, %s", c, status(token))
		}
	})
}

// TestSettingsAreNoActivity checks that the list is in the order of what
// happened in the chats, not of their settings.
func TestSettingsAreNoActivity(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		conv := f.conversation("approve")
		before := f.must(f.ada, "ai.getConversation", obj{"id": conv})["conversation"].(map[string]any)["updatedAt"]
		f.skew.Add(int64(time.Hour))
		for _, change := range []obj{{"title": "Shop"}, {"model": ""}, {"permissionMode": "auto"}, {}} {
			change["id"] = conv
			if c := f.must(f.ada, "ai.updateConversation", change); c["updatedAt"] != before {
				t.Errorf("%v moves the chat from %v to %v", change, before, c["updatedAt"])
			}
		}
	})
}
