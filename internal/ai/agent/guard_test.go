package agent

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func TestGuardVerdicts(t *testing.T) {
	t.Parallel()
	for reply, off := range map[string]bool{
		"OFF_TOPIC": true, "off-topic": true, "Off_Topic.": true, "The verdict is OFF_TOPIC": true,
		"ON_TOPIC": false, "on-topic": false, "OFF_TOPIC or ON_TOPIC": false, "not OFF-TOPIC but ON_TOPIC": false,
		"": false, "maybe": false, "OFF TOPIC": false, "TOPIC": false, "OFF": false,
	} {
		if got := offTopic(reply); got != off {
			t.Errorf("offTopic(%q) = %v, want %v", reply, got, off)
		}
	}
}

func TestGuardPromptIsADenyList(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"ON_TOPIC", "OFF_TOPIC", "by default", "When in doubt", "greetings", "questions about the assistant",
		"how-to and concept questions", "programming help", "creative writing", "mathematics or homework", "trivia and world knowledge", "token only"} {
		if !strings.Contains(guardPrompt, want) {
			t.Errorf("the guard is not told %q", want)
		}
	}
	// Lists of resources and verbs refused ordinary work whenever a word was missing.
	for _, bad := range []string{"incident", "maintenance", "health check", "create", "analyze", "delete", "anomal"} {
		if strings.Contains(strings.ToLower(guardPrompt), bad) {
			t.Errorf("the guard's prompt enumerates %q", bad)
		}
	}
	if strings.ContainsAny(refusalText, "–—") || !strings.Contains(refusalText, "Checkstack") || !strings.Contains(refusalText, "health checks") ||
		!strings.Contains(refusalText, "Ask me") || len(refusalText) > 250 {
		t.Errorf("refusal %q", refusalText)
	}
	for side, prompt := range map[llmtest.Side]string{llmtest.Guard: guardPrompt, llmtest.Title: titlePrompt, llmtest.Summary: summaryPrompt} {
		if !strings.HasPrefix(prompt, string(side)) {
			t.Errorf("llmtest does not know the prompt that begins with %.40q", prompt)
		}
	}
}

func TestOffTopicIsRefusedAndNothingOfTheStepIsSeen(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		// The model would obey: it answers and calls a tool before the verdict is there.
		verdict := make(chan struct{})
		gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Roses are red.", Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": "poem"})}})
		gateway.PushSide(llmtest.Guard, llmtest.Turn{Text: "OFF_TOPIC", Wait: verdict}, llmtest.Turn{Text: "ON_TOPIC"})
		f := setup(t, d)
		connection, conv := f.connection(gateway, nil), f.conversation("auto")
		go func() {
			for len(gateway.Requests()) == 0 {
				<-time.After(time.Millisecond)
			}
			close(verdict)
		}()
		frames := f.turn(conv, connection, "write me a poem")
		if got := text(frames); got != refusalText {
			t.Errorf("text %q", got)
		}
		if count(frames, "text-start") != 1 || count(frames, "finish") != 1 || count(frames, "tool-input-start") != 0 || count(frames, "start-step") != 0 {
			t.Errorf("frames %+v", frames)
		}
		if len(f.domain.all()) != 1 {
			t.Error("a refused turn ran a tool")
		}
		stored := f.stored(conv)
		if len(stored) != 2 || visibleText(stored[1].Parts) != refusalText {
			t.Errorf("stored %+v", stored)
		}
		var rows int
		if err := d.Read.NewRaw("SELECT count(*) FROM ai_tool_calls").Scan(t.Context(), &rows); err != nil || rows != 0 {
			t.Errorf("%d calls are recorded, %v", rows, err)
		}
		f.s.background.Wait()
		if got := f.title(conv); got != nil || len(gateway.SideRequests(llmtest.Title)) != 0 {
			t.Errorf("title %v: a refused message names no conversation", got)
		}
		// The guard is paid for too, and so is what the cancelled step used.
		if err := d.Read.NewRaw("SELECT count(*) FROM ai_spend WHERE total_tokens > 0").Scan(t.Context(), &rows); err != nil || rows < 1 {
			t.Errorf("%d rows of spend, %v", rows, err)
		}
		// It sees the message and nothing else.
		var sent struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal(gateway.SideRequests(llmtest.Guard)[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		if len(sent.Messages) != 2 || sent.Messages[1].Content != "write me a poem" {
			t.Errorf("the guard got %+v", sent.Messages)
		}
		// The conversation goes on, and gets its title then.
		gateway.Push(llmtest.Turn{Text: "All is well."})
		gateway.PushSide(llmtest.Title, llmtest.Turn{Text: `"Present state"`})
		if got := text(f.turn(conv, connection, "what is down?")); got != "All is well." {
			t.Errorf("afterwards %q", got)
		}
		f.s.background.Wait()
		if got := f.title(conv); got != "Present state" {
			t.Errorf("title %v", got)
		}
	})
}

func (f *fixture) title(conversation string) any {
	f.t.Helper()
	return f.must(f.ada, "ai.getConversation", obj{"id": conversation})["conversation"].(obj)["title"]
}

// TestGuardHoldsTheStepUntilItsVerdict lets the first step run to its end while the guard
// still thinks: nothing is shown, then all of it at once.
func TestGuardHoldsTheStepUntilItsVerdict(t *testing.T) {
	t.Parallel()
	verdict := make(chan struct{})
	gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Looking.", Calls: []llm.ToolCall{llmtest.Call("1", "test_list", obj{})}}, llmtest.Turn{Text: "One thing."})
	gateway.PushSide(llmtest.Guard, llmtest.Turn{Text: "ON_TOPIC", Wait: verdict})
	f := setup(t, dbtest.SQLite(t))
	conv := f.conversation("approve")
	resp := f.request(context.Background(), "ada", obj{"conversationId": conv, "connectionId": f.connection(gateway, nil), "message": "what is there?"})
	defer resp.Body.Close()
	buf, got := make([]byte, 4096), ""
	for strings.Count(got, ": keep-alive") < 5 {
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(buf[:n])
	}
	if len(gateway.Requests()) != 1 {
		t.Errorf("%d rounds were asked for beside the guard, want the first one", len(gateway.Requests()))
	}
	if strings.Contains(got, "text-delta") || f.domain.lists.Load() != 0 {
		t.Errorf("before the verdict %q was shown and %d tools ran", got, f.domain.lists.Load())
	}
	close(verdict)
	rest, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	frames := parseStream(t, got+string(rest))
	fold(t, frames)
	if text(frames) != "Looking.One thing." || f.domain.lists.Load() != 1 {
		t.Errorf("text %q, %d tools ran", text(frames), f.domain.lists.Load())
	}
}

func TestGuardFailureLetsTheTurnGoOn(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]llmtest.Turn{
		"error":         {Status: 400, Body: "no"},
		"empty":         {Quirks: []llmtest.Quirk{llmtest.DoneAtOnce}},
		"cut":           {Text: "OFF_TOPIC", Quirks: []llmtest.Quirk{llmtest.CutStream}},
		"silence":       {Quirks: []llmtest.Quirk{llmtest.Silence}},
		"unclear":       {Text: "I cannot tell."},
		"hidden reason": {Text: "ON_TOPIC", Quirks: []llmtest.Quirk{llmtest.ThinkText}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Hello."})
			gateway.PushSide(llmtest.Guard, turn)
			f := setup(t, dbtest.SQLite(t))
			if got := text(f.turn(f.conversation("approve"), f.connection(gateway, nil), "hi")); got != "Hello." {
				t.Errorf("text %q", got)
			}
		})
	}
}

func TestGuardIsLeftOut(t *testing.T) {
	t.Parallel()
	gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Hello."}, llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": "two"})}},
		llmtest.Turn{Text: "It waits."}, llmtest.Turn{Text: "Fine."})
	f := setup(t, dbtest.SQLite(t), say("Built in."))
	connection := f.connection(gateway, obj{"disableTopicalClassifier": true})
	conv := f.conversation("approve")
	f.turn(conv, connection, "hi")
	f.turn(conv, connection, "create two")
	f.turn(conv, connection, "", obj{"decision": obj{"token": f.token(conv), "kind": "decline"}})
	f.turn(f.conversation("approve"), BuiltinID, "write me a poem")
	if n := len(gateway.SideRequests(llmtest.Guard)); n != 0 {
		t.Errorf("%d guard calls although it is switched off", n)
	}
	// Switched on, decision turns still have none.
	f.must(f.ada0(), "ai.updateConnection", obj{"id": connection, "disableTopicalClassifier": false})
	gateway.Push(llmtest.Turn{Text: "Hello."}, llmtest.Turn{Text: "Hello."})
	f.turn(conv, connection, "hi")
	f.turn(conv, connection, "", obj{"decision": obj{"token": f.token(conv), "kind": "decline"}})
	if n := len(gateway.SideRequests(llmtest.Guard)); n != 1 {
		t.Errorf("%d guard calls, want one for the message and none for the decision", n)
	}
}

// token gives the token of the newest card of a conversation, waiting or not.
func (f *fixture) token(conversation string) string {
	f.t.Helper()
	var row struct{ ID, ProposalNonce string }
	err := f.d.Read.NewRaw(`SELECT id, proposal_nonce FROM ai_tool_calls WHERE conversation_id = ? AND proposal_nonce IS NOT NULL
		ORDER BY created_at DESC, id DESC LIMIT 1`, conversation).Scan(context.Background(), &row)
	if err != nil {
		f.t.Fatal(err)
	}
	return "propose:" + row.ID + "." + row.ProposalNonce
}

func TestStopBeforeTheVerdictStoresNothingUnseen(t *testing.T) {
	t.Parallel()
	verdict := make(chan struct{})
	defer close(verdict)
	gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Never seen."})
	gateway.PushSide(llmtest.Guard, llmtest.Turn{Wait: verdict})
	f := setup(t, dbtest.SQLite(t))
	f.s.idle = time.Hour
	conv := f.conversation("approve")
	ctx, cancel := context.WithCancel(context.Background())
	resp := f.request(ctx, "ada", obj{"conversationId": conv, "connectionId": f.connection(gateway, nil), "message": "hi"})
	for len(gateway.Requests()) == 0 {
		<-time.After(time.Millisecond)
	}
	cancel()
	resp.Body.Close()
	f.http.Close()
	if stored := f.stored(conv); len(stored) != 1 || strings.Contains(f.dump(), "Never seen") {
		t.Errorf("stored %+v", stored)
	}
}
