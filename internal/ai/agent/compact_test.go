package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// sentMessages reads what a provider got.
func sentMessages(t testing.TB, r llmtest.Recorded) (system string, messages []llm.Message) {
	t.Helper()
	var sent struct {
		Messages []struct {
			Role    llm.Role
			Content string
			ID      string `json:"tool_call_id"`
		}
	}
	if err := json.Unmarshal(r.Body, &sent); err != nil {
		t.Fatal(err)
	}
	for _, m := range sent.Messages {
		if m.Role == llm.RoleSystem {
			system += m.Content
			continue
		}
		messages = append(messages, llm.Message{Role: m.Role, Text: m.Content, ToolCallID: m.ID})
	}
	return system, messages
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		gateway := llmtest.NewServer(t)
		f := setup(t, d)
		// Room for about 900 tokens of history.
		connection := f.connection(gateway, obj{"contextWindowTokens": windowReply + windowOverhead + 900, "disableTopicalClassifier": true})
		conv := f.conversation("approve")
		long := func(i int) string { return fmt.Sprintf("Q%d ", i) + strings.Repeat("word ", 200) }
		for i := range 3 {
			gateway.Push(llmtest.Turn{Text: fmt.Sprintf("A%d", i)})
			f.turn(conv, connection, long(i))
		}
		if n := len(gateway.SideRequests(llmtest.Summary)); n != 0 {
			t.Fatalf("%d summaries although all fits", n)
		}
		gateway.PushSide(llmtest.Summary, llmtest.Turn{Text: "They spoke of words. Key sk-canary0123456789abcdef no"}, llmtest.Turn{Text: "They spoke of words twice."})
		gateway.Push(llmtest.Turn{Text: "A3"})
		f.turn(conv, connection, long(3))
		// A summary with a credential is none; everything stays.
		last := func() []llm.Message {
			_, m := sentMessages(t, gateway.Requests()[len(gateway.Requests())-1])
			return m
		}
		if m := last(); !strings.HasPrefix(m[0].Text, "Q0 ") {
			t.Errorf("the history begins with %.60q", m[0].Text)
		}
		gateway.Push(llmtest.Turn{Text: "A4"})
		f.turn(conv, connection, long(4))
		m := last()
		if !strings.Contains(m[0].Text, "They spoke of words twice.") || !strings.Contains(m[0].Text, "Summary of earlier turns") || strings.Contains(m[0].Text, "Q0 ") {
			t.Errorf("the history begins with %.300q", m[0].Text)
		}
		if got := m[len(m)-1]; got.Role != llm.RoleUser || !strings.HasPrefix(got.Text, "Q4 ") {
			t.Errorf("the newest message is %.60q", got.Text)
		}
		system, _ := sentMessages(t, gateway.Requests()[len(gateway.Requests())-1])
		if strings.Contains(system, "They spoke") {
			t.Error("the summary, which a model made of foreign text, is in the system prompt")
		}
		sums := gateway.SideRequests(llmtest.Summary)
		_, asked := sentMessages(t, sums[len(sums)-1])
		if !strings.Contains(asked[0].Text, "USER: Q0 word") || !strings.Contains(asked[0].Text, "ASSISTANT: A0") || strings.Contains(asked[0].Text, "Q4") || !strings.Contains(asked[0].Text, "<data-") {
			t.Errorf("the summary is made of %.300q", asked[0].Text)
		}
		var body struct {
			MaxTokens int `json:"max_tokens"`
		}
		if err := json.Unmarshal(sums[0].Body, &body); err != nil || body.MaxTokens != summaryTokens {
			t.Errorf("at most %d tokens, %v", body.MaxTokens, err)
		}
		// The next one merges the previous summary.
		gateway.PushSide(llmtest.Summary, llmtest.Turn{Text: "All of it."})
		for i := 5; i < 9; i++ {
			gateway.Push(llmtest.Turn{Text: fmt.Sprint("A", i)})
			f.turn(conv, connection, long(i))
		}
		sums = gateway.SideRequests(llmtest.Summary)
		_, asked = sentMessages(t, sums[len(sums)-1])
		if !strings.Contains(asked[0].Text, "Previous summary:") || strings.Contains(asked[0].Text, "Q0 ") {
			t.Errorf("the merged summary is made of %.300q", asked[0].Text)
		}
		// The page still shows every message; the ledger has the summaries.
		if n := len(f.stored(conv)); n != 18 {
			t.Errorf("%d messages are shown, want 18", n)
		}
		var rows int
		if err := d.Read.NewRaw("SELECT count(*) FROM ai_spend").Scan(t.Context(), &rows); err != nil || rows != 9+len(sums) {
			t.Errorf("%d rows of spend for 9 turns and %d summaries, %v", rows, len(sums), err)
		}
	})
}

func TestCompactionFailureKeepsTheWholeHistory(t *testing.T) {
	t.Parallel()
	gateway := llmtest.NewServer(t)
	gateway.PushSide(llmtest.Summary, llmtest.Turn{Status: http.StatusBadRequest, Body: "no"})
	f := setup(t, dbtest.SQLite(t))
	connection := f.connection(gateway, obj{"contextWindowTokens": 1, "disableTopicalClassifier": true})
	conv := f.conversation("approve")
	for i := range 3 {
		gateway.Push(llmtest.Turn{Text: "Ok."})
		if got := text(f.turn(conv, connection, fmt.Sprint("Q", i))); got != "Ok." {
			t.Fatalf("text %q", got)
		}
	}
	_, m := sentMessages(t, gateway.Requests()[2])
	if len(m) != 5 || m[0].Text != "Q0" || m[4].Text != "Q2" {
		t.Errorf("sent %+v", m)
	}
	if len(gateway.SideRequests(llmtest.Summary)) != 2 {
		t.Errorf("%d summaries were tried: none is needed for a first message", len(gateway.SideRequests(llmtest.Summary)))
	}
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	got := transcript([]Message{
		{Role: llm.RoleUser, Text: "two\nlines"},
		{Role: llm.RoleAssistant, Text: "answer", model: []llm.Message{{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1"}}}}},
		{Role: llm.RoleAssistant},
		{Role: llm.RoleAssistant, model: []llm.Message{{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1"}}}}},
	})
	if got != "USER: two lines\nASSISTANT: answer [used tools]\nASSISTANT:  [used tools]" {
		t.Errorf("transcript %q", got)
	}
	long := transcript([]Message{{Role: llm.RoleUser, Text: strings.Repeat("ä", 30_000)}})
	if !strings.HasSuffix(long, "\n...[older content truncated]") || len([]rune(long)) != transcriptChars+len("\n...[older content truncated]") {
		t.Errorf("%d characters", len([]rune(long)))
	}
}

// TestALongTurnFitsTheWindow has a model that reads more in one turn than its
// window holds: the oldest results give way, calls and results stay paired.
func TestALongTurnFitsTheWindow(t *testing.T) {
	t.Parallel()
	gateway := llmtest.NewServer(t)
	f := setup(t, dbtest.SQLite(t))
	f.domain.extra = obj{"log": strings.Repeat("x", 3000)}
	connection := f.connection(gateway, obj{"contextWindowTokens": windowReply + 4000, "disableTopicalClassifier": true})
	for i := range 10 {
		gateway.Push(llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call(fmt.Sprint(i), "test_list", obj{"filter": fmt.Sprint(i)})}})
	}
	gateway.Push(llmtest.Turn{Text: "Done."})
	f.turn(f.conversation("approve"), connection, "read it all")
	reqs := gateway.Requests()
	_, m := sentMessages(t, reqs[len(reqs)-1])
	whole, cut := 0, 0
	for _, each := range m {
		switch {
		case each.Role != llm.RoleTool:
		case strings.Contains(each.Text, "left out to save space"):
			cut++
			if whole > 0 {
				t.Error("a newer result gave way before an older one")
			}
		default:
			whole++
		}
	}
	if whole+cut != 10 || cut == 0 || whole == 0 {
		t.Errorf("%d results whole, %d left out", whole, cut)
	}
	if n := len(reqs[len(reqs)-1].Body); n/4 > windowReply+4000 {
		t.Errorf("the request has %d bytes", n)
	}
}
