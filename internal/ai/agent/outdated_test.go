package agent

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

// TestFC057_ACardOutOfDate applies a card whose target has changed: the page is
// told how, and the model that proposed it learns of it with the next message.
func TestFC057_ACardOutOfDate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		type renameIn struct {
			Name    string `json:"name"`
			Version int64  `json:"version,omitempty"`
		}
		var version atomic.Int64
		version.Store(1)
		f.withTools(tool.DefineChange(tool.Spec{Name: "test.rename", Description: "Renames.", Effect: tool.Mutate, Access: []authz.Rule{ruleChange}},
			func(_ context.Context, in renameIn) (tool.Preview[renameIn], error) {
				now := version.Load()
				if in.Version != 0 && in.Version != now {
					return tool.Preview[renameIn]{}, problem.Conflict("This was changed").Because(problem.ErrMoved)
				}
				in.Version = now
				before := map[string]any{"name": "name " + string(rune('0'+now))}
				return tool.Preview[renameIn]{Summary: "Rename to " + in.Name, Payload: in, Before: before, After: map[string]any{"name": in.Name}}, nil
			},
			func(context.Context, renameIn) (struct{}, error) { t.Error("it was renamed"); return struct{}{}, nil }))
		gateway := llmtest.NewServer(t,
			llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_rename", obj{"name": "mine"}), llmtest.Call("2", "test_create", obj{"name": "two"})}},
			llmtest.Turn{Text: "It waits."})
		connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("approve")
		frames := f.turn(conv, connection, "rename it")
		token := card(t, find(t, frames, "tool-output-available"))["token"]
		version.Store(2)
		if _, err := f.call(f.ada, "ai.applyTool", obj{"token": token}); !problem.Is(err, problem.KindConflict) || !strings.Contains(err.Error(), `name: was "name 1", is now "name 2"`) {
			t.Fatalf("apply: %v", err)
		}
		shown := card(t, frameRead{Output: f.stored(conv)[1].Parts[1].Output})
		if shown["status"] != "failed" || shown["outdated"] != true || shown["token"] != nil || !strings.Contains(shown["error"].(string), "name 2") {
			t.Errorf("the card after a reload: %v", shown)
		}
		if got := f.must(f.ada, "ai.getProposal", obj{"toolCallId": shown["toolCallId"]}); got["outdated"] != true || got["status"] != "failed" || got["token"] != nil {
			t.Errorf("proposal %v", got)
		}
		gateway.Push(llmtest.Turn{Text: "I look again."})
		f.turn(conv, connection, "and now?")
		all := gateway.Requests()
		sent := string(all[len(all)-1].Body)
		for _, want := range []string{"This card is out of date", "look at the present state and propose it anew", "name 2", confirmNote[:40]} {
			if !strings.Contains(sent, want) {
				t.Errorf("the model is not told %q: %s", want, sent)
			}
		}
		if n := strings.Count(sent, confirmNote); n != 2 { // in the card and behind it
			t.Errorf("%d notes that a card waits, want those of the other one", n)
		}
	})
}

// TestTheModelKnowsWhatBecameOfItsCards holds the notes to the states.
func TestTheModelKnowsWhatBecameOfItsCards(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	gateway := llmtest.NewServer(t,
		llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "test_create", obj{"name": "a"}), llmtest.Call("2", "test_create", obj{"name": "b"}), llmtest.Call("3", "test_create", obj{"name": "c"})}},
		llmtest.Turn{Text: "They wait."}, llmtest.Turn{Text: "So."}, llmtest.Turn{Text: "Late."})
	connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("approve")
	var tokens []any
	for _, fr := range f.turn(conv, connection, "go") {
		if fr.Type == "tool-output-available" {
			tokens = append(tokens, card(t, fr)["token"])
		}
	}
	f.must(f.ada, "ai.applyTool", obj{"token": tokens[0]})
	f.must(f.ada, "ai.declineTool", obj{"token": tokens[1]})
	f.turn(conv, connection, "and now?")
	sent := func() string {
		all := gateway.Requests()
		return string(all[len(all)-1].Body)
	}
	count := func(body string, applied, declined, expired, waiting int) {
		t.Helper()
		for note, want := range map[string]int{appliedNote: applied, declinedNote: declined, expiredNote: expired, confirmNote: 2 * waiting} {
			if got := strings.Count(body, note); got != want {
				t.Errorf("%d times %q, want %d", got, note, want)
			}
		}
	}
	count(sent(), 1, 1, 0, 1)
	f.skew.Store(int64(24 * 60 * 60 * 1e9))
	f.turn(conv, connection, "a day later")
	count(sent(), 1, 1, 1, 0)
}
