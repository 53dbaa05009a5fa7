package agent

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// replica gives a second service on the same database.
func (f *fixture) replica() *Service {
	s := New(Deps{DB: f.d, Tools: f.s.tools, Gate: f.gate, Secrets: f.s.secrets, HTTP: f.s.http, Log: f.s.log, Now: f.s.now, Zone: time.UTC,
		Builtin: f.script, KeepAlive: time.Second, Heartbeat: f.s.heartbeat, IdleTimeout: time.Second})
	s.listenGrace, s.listenEvery = f.s.listenGrace, f.s.listenEvery
	f.t.Cleanup(s.Close)
	return s
}

// follow reads the running turn of a conversation as a second tab does, from
// whichever replica.
func follow(t testing.TB, s *Service, p authz.Principal, conversation string) (int, []frameRead) {
	t.Helper()
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/api/ai/chat/"+conversation+"/stream", nil)
	r.SetPathValue("id", conversation)
	s.FollowHandler().ServeHTTP(rec, r.WithContext(authz.With(r.Context(), p)))
	if rec.Code != http.StatusOK {
		return rec.Code, nil
	}
	return rec.Code, parseStream(t, rec.Body.String())
}

// held plays a turn that waits after its second round's text, and gives its
// response and what lets it go on.
func (f *fixture) held(conversation string) (*http.Response, func()) {
	f.t.Helper()
	wait, reached := make(chan struct{}), make(chan struct{})
	f.script.Push(llmtest.Round{Text: "Let me look. ", Calls: []llm.ToolCall{llmtest.Call("1", "test_list", obj{}), llmtest.Call("2", "test_create", obj{"name": "two"})}},
		llmtest.Round{Text: "So far so good", Wait: wait, Reached: reached})
	resp := f.request(context.Background(), "ada", obj{"conversationId": conversation, "connectionId": BuiltinID, "message": "go"})
	<-reached
	return resp, func() { close(wait) }
}

func (f *fixture) waitStored(conversation, text string) messageOutput {
	f.t.Helper()
	for range 500 {
		if m := f.stored(conversation); len(m) > 1 && strings.Contains(visibleText(m[len(m)-1].Parts), text) {
			return m[len(m)-1]
		}
		<-time.After(10 * time.Millisecond)
	}
	f.t.Fatalf("%q was never saved", text)
	return messageOutput{}
}

func TestFC051_ASecondTabSeesTheRunningTurn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		conv := f.conversation("approve")
		other := f.replica()
		if code, _ := follow(t, other, f.ada, conv); code != http.StatusNoContent {
			t.Errorf("nothing runs: %d, want 204", code)
		}
		resp, goOn := f.held(conv)
		defer resp.Body.Close()
		// Reloaded in the middle, the page has what was shown, and knows that more comes.
		m := f.waitStored(conv, "So far so good")
		if m.Metadata == nil || !m.Metadata.Running || m.Metadata.Stopped || m.Metadata.Error != "" {
			t.Errorf("running message %+v", m.Metadata)
		}
		if c := f.must(f.ada, "ai.getConversation", obj{"id": conv})["conversation"].(obj); c["running"] != true {
			t.Errorf("conversation %v", c)
		}
		for _, who := range []authz.Principal{f.bob, {Kind: authz.User, ID: "ada"}, {}} {
			if code, frames := follow(t, other, who, conv); code < 400 {
				t.Errorf("%s follows: %d %v", who.ID, code, frames)
			}
		}
		type result struct {
			code   int
			frames []frameRead
		}
		followed := make(chan result)
		go func() {
			code, frames := follow(t, other, f.ada, conv)
			followed <- result{code, frames}
		}()
		<-time.After(3 * followEvery)
		goOn()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		shown := plainParts(fold(t, parseStream(t, string(raw))))
		r := <-followed
		if r.code != http.StatusOK {
			t.Fatalf("following was answered %d", r.code)
		}
		if got := plainParts(fold(t, r.frames)); !equalJSON(got, shown) {
			t.Errorf("the second tab shows\n%v\nthe first\n%v", got, shown)
		}
		if r.frames[0].MessageID != m.ID || f.stored(conv)[1].ID != m.ID {
			t.Error("the message has more than one id")
		}
		if !strings.Contains(string(find(t, r.frames[8:], "tool-output-available").Output), `"token"`) {
			t.Error("the card in the second tab cannot be decided")
		}
	})
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestStopFromAnotherReplica(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		conv := f.conversation("approve")
		resp, goOn := f.held(conv)
		defer goOn()
		defer resp.Body.Close()
		if ok, err := f.s.StopTurn(t.Context(), "bob", conv); ok || err != nil {
			t.Errorf("somebody else stopped it: %v, %v", ok, err)
		}
		if ok, err := f.replica().StopTurn(t.Context(), "ada", conv); !ok || err != nil {
			t.Fatalf("stop: %v, %v", ok, err)
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		frames := parseStream(t, string(raw))
		fold(t, frames)
		if count(frames, "abort") != 1 {
			t.Errorf("frames %+v", frames)
		}
		m := f.stored(conv)[1]
		if m.Metadata == nil || !m.Metadata.Stopped || visibleText(m.Parts) != "Let me look. \n\nSo far so good" {
			t.Errorf("stored %+v %+v", m.Metadata, m.Parts)
		}
		if out := f.must(f.ada, "ai.stopTurn", obj{"id": conv}); out["stopped"] != false {
			t.Errorf("nothing runs: %v", out)
		}
		if _, err := f.call(f.bob, "ai.stopTurn", obj{"id": conv}); err == nil {
			t.Error("somebody else's conversation exists")
		}
	})
}

func TestANewMessageStopsTheTurnThatRuns(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	conv := f.conversation("approve")
	resp, goOn := f.held(conv)
	defer goOn()
	defer resp.Body.Close()
	f.script.Push(say("Here."))
	if got := text(f.turn(conv, BuiltinID, "never mind, hello?")); got != "Here." {
		t.Errorf("text %q", got)
	}
	stored := f.stored(conv)
	if len(stored) != 4 || !stored[1].Metadata.Stopped || stored[3].Metadata != nil {
		t.Fatalf("stored %+v", stored)
	}
	// The history the model got is whole and in order.
	roles := ""
	for _, m := range lastRequest(f).Messages {
		roles += string(m.Role)[:1]
	}
	if roles != "uattau" {
		t.Errorf("roles %q", roles)
	}
}

// abandoned leaves a turn as a killed process does: begun and saved, never
// finished.
func (f *fixture) abandoned(conversation, connection, message string) *turn {
	f.t.Helper()
	ctx := f.as(f.ada)
	conv, err := f.s.conversation(ctx, "ada", conversation)
	if err != nil {
		f.t.Fatal(err)
	}
	req := &chatRequest{Message: message, ConnectionID: connection}
	t, err := f.s.begin(ctx, f.ada, conv, req, f.s.look(ctx, f.ada.ID, req), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return t
}

func TestFC050_KilledProcessLeavesWhatWasShown(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		gateway := llmtest.NewServer(t)
		connection := f.connection(gateway, obj{"disableTopicalClassifier": true})
		conv := f.conversation("approve")
		tn := f.abandoned(conv, connection, "go")
		ctx := f.as(f.ada)
		gateway.Push(llmtest.Turn{Text: "I propose. ", Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": "two"})}})
		if more, err := tn.step(ctx, 0); !more || err != nil {
			t.Fatal(more, err)
		}
		// A second change is proposed, and then the process dies before it can say so.
		tn.beginStep()
		tn.write("And now ")
		call := llmtest.Call("2", "test_create", obj{"name": "three"})
		prepared, err := tn.admit(ctx, tn.partOf(call), call)
		if err != nil {
			t.Fatal(err)
		}
		tn.save(ctx)
		if _, err := f.gate.Execute(ctx, prepared, tn.origin(tn.partOf(call))); err != nil {
			t.Fatal(err)
		}

		// While the claim stands, the message is shown as running.
		if m := f.stored(conv)[1]; !m.Metadata.Running {
			t.Errorf("message %+v", m.Metadata)
		}
		f.skew.Store(int64(turnLease + time.Second))
		check := func(when string) {
			t.Helper()
			stored := f.stored(conv)
			if len(stored) < 2 || stored[1].Metadata == nil || stored[1].Metadata.Error != interruptedText || stored[1].Metadata.Running {
				t.Fatalf("%s: stored %+v", when, stored)
			}
			if got := visibleText(stored[1].Parts); got != "I propose. \n\nAnd now " {
				t.Errorf("%s: text %q", when, got)
			}
			cards := 0
			for _, p := range stored[1].Parts {
				if p.Type == partTool {
					if c := card(t, frameRead{Output: p.Output}); p.State != stateOutput || c["__confirm"] != true || c["token"] == nil || c["summary"] == "" {
						t.Errorf("%s: part %+v", when, p)
					}
					cards++
				}
			}
			if cards != 2 {
				t.Errorf("%s: %d cards, want both: what was proposed can be decided", when, cards)
			}
		}
		check("before anybody closed it")
		if code, _ := follow(t, f.s, f.ada, conv); code != http.StatusNoContent {
			t.Errorf("a dead turn is followed: %d", code)
		}
		if err := f.s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("after the sweep")
		var used struct {
			N, Total int
		}
		if err := d.Read.NewRaw("SELECT count(*) AS n, coalesce(sum(total_tokens), 0) AS total FROM ai_spend WHERE estimated").Scan(t.Context(), &used); err != nil || used.N != 1 || used.Total < 18 {
			t.Errorf("spend of the dead turn: %+v, %v", used, err)
		}
		// The conversation is usable and its history whole.
		gateway.Push(llmtest.Turn{Text: "Back."})
		if got := text(f.turn(conv, connection, "and now?")); got != "Back." {
			t.Errorf("afterwards %q", got)
		}
		var sent struct {
			Messages []struct {
				Role      string
				ToolCalls []any `json:"tool_calls"`
			}
		}
		all := gateway.Requests()
		if err := json.Unmarshal(all[len(all)-1].Body, &sent); err != nil {
			t.Fatal(err)
		}
		open := 0
		for _, m := range sent.Messages {
			if open += len(m.ToolCalls); m.Role == "tool" {
				open--
			}
		}
		if open != 0 {
			t.Errorf("the model gets %d calls without a result", open)
		}
	})
}

func TestADeadTurnThatShowedNothingLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		conv := f.conversation("approve")
		f.abandoned(conv, BuiltinID, "go")
		f.s.takeOver = 50 * time.Millisecond
		// Its process may live: nobody may talk over it.
		resp := f.request(context.Background(), "ada", obj{"conversationId": conv, "connectionId": BuiltinID, "message": "hello?"})
		if resp.Body.Close(); resp.StatusCode != http.StatusConflict {
			t.Errorf("a second turn was answered %d, want 409", resp.StatusCode)
		}
		if stored := f.stored(conv); len(stored) != 2 || len(stored[1].Parts) != 0 || !stored[1].Metadata.Running {
			t.Errorf("stored %+v", stored)
		}
		f.skew.Store(int64(turnLease + time.Second))
		if stored := f.stored(conv); len(stored) != 1 {
			t.Errorf("stored %+v, want the question alone", stored)
		}
		f.script.Push(say("Here."))
		if got := text(f.turn(conv, BuiltinID, "hello?")); got != "Here." {
			t.Errorf("text %q", got)
		}
		if stored := f.stored(conv); len(stored) != 3 {
			t.Errorf("stored %+v", stored)
		}
	})
}

// TestATurnThatLostItsPlaceEnds closes a turn, as another replica does when it
// takes the process for dead, while that process lives.
func TestATurnThatLostItsPlaceEnds(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	conv := f.conversation("approve")
	resp, goOn := f.held(conv)
	defer goOn()
	defer resp.Body.Close()
	if _, err := f.d.Write.NewRaw("UPDATE ai_conversations SET turn_id = NULL WHERE id = ?", conv).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(raw), `"abort"`) {
		t.Errorf("stream %s, %v", raw, err)
	}
}

func TestArchivingAndDeletingEndTheTurn(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"ai.archiveConversation", "ai.deleteConversation"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			f := setup(t, dbtest.SQLite(t))
			conv := f.conversation("approve")
			resp, goOn := f.held(conv)
			defer goOn()
			defer resp.Body.Close()
			f.must(f.ada, op, obj{"id": conv})
			if raw, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(raw), `"abort"`) {
				t.Errorf("stream %s, %v", raw, err)
			}
			resp = f.request(context.Background(), "ada", obj{"conversationId": conv, "connectionId": BuiltinID, "message": "hello?"})
			if resp.Body.Close(); resp.StatusCode != http.StatusNotFound {
				t.Errorf("a turn in it was answered %d, want 404", resp.StatusCode)
			}
		})
	}
}
