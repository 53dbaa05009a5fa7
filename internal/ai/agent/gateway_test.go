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
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func TestFC053_CallsWithQuirks(t *testing.T) {
	t.Parallel()
	for _, quirks := range [][]llmtest.Quirk{
		nil, {llmtest.IndexZero}, {llmtest.NoIndex}, {llmtest.IndexReversed}, {llmtest.EmptyIDs}, {llmtest.RepeatedIDs}, {llmtest.ArgsObject},
		{llmtest.NameRepeated}, {llmtest.FinishStop}, {llmtest.CRLFComments, llmtest.EmptyChoices}, {llmtest.NoDelta}, {llmtest.ReasoningField}, {llmtest.ReasoningField2},
	} {
		name := "textbook"
		if len(quirks) > 0 {
			name = string(quirks[0])
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := []llm.ToolCall{llmtest.Call("a", "test_create", obj{"name": "two"}), llmtest.Call("b", "test_create", obj{"name": "three"})}
			gateway := llmtest.NewServer(t, llmtest.Turn{Calls: two, Quirks: quirks},
				// The same ids again in the next step.
				llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("a", "test_list", obj{})}, Quirks: quirks}, llmtest.Turn{Text: "Both are there."})
			f := setup(t, dbtest.SQLite(t))
			frames := f.turn(f.conversation("auto"), f.connection(gateway, nil), "go")
			if got := strings.Join(f.domain.all(), " "); len(f.domain.all()) != 3 || !strings.Contains(got, "two") || !strings.Contains(got, "three") {
				t.Errorf("names %q", got)
			}
			if text(frames) != "Both are there." || count(frames, "tool-output-available") != 3 {
				t.Errorf("text %q, frames %+v", text(frames), frames)
			}
			for _, r := range gateway.Requests() {
				if r.Authorization != "Bearer "+apiKey {
					t.Errorf("authorization %q", r.Authorization)
				}
			}
		})
	}
}

func TestFC053_ArgumentsThatAreMissing(t *testing.T) {
	t.Parallel()
	for _, q := range []llmtest.Quirk{llmtest.ArgsNull, llmtest.ArgsEmpty} {
		gateway := llmtest.NewServer(t, llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("a", "test_list", obj{}), llmtest.Call("b", "test_create", obj{"name": "x"})}, Quirks: []llmtest.Quirk{q}}, llmtest.Turn{Text: "Hm."})
		f := setup(t, dbtest.SQLite(t))
		frames := f.turn(f.conversation("auto"), f.connection(gateway, nil), "go")
		if count(frames, "tool-output-available") != 1 || count(frames, "tool-input-error") != 1 || len(f.domain.all()) != 1 {
			t.Errorf("%s: %+v", q, frames)
		}
	}
}

func TestFC056_BrokenAnswers(t *testing.T) {
	t.Parallel()
	create := []llm.ToolCall{llmtest.Call("a", "test_create", obj{"name": "two"})}
	for _, tc := range []struct {
		name string
		turn llmtest.Turn
		want string // part of the error text
		text string
	}{
		{"error within the stream", llmtest.Turn{Text: "So far ", Quirks: []llmtest.Quirk{llmtest.ErrorMidStream}}, "the model is overloaded", "So far "},
		{"JSON error with 200", llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.JSONError200}}, "rate limit reached", ""},
		{"HTML with 200", llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.HTML200}}, "log in to the proxy", ""},
		{"cut connection", llmtest.Turn{Text: "So far ", Calls: create, Quirks: []llmtest.Quirk{llmtest.CutStream}}, "broke off", "So far "},
		{"half a line", llmtest.Turn{Text: "So far ", Quirks: []llmtest.Quirk{llmtest.HalfLine}}, "broke off", "So far "},
		{"silence", llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.Silence}}, "sent nothing", ""},
		{"silence in the text", llmtest.Turn{Text: "So far ", Quirks: []llmtest.Quirk{llmtest.SilenceMidText}}, "sent nothing", "So far "},
		{"done at once", llmtest.Turn{Quirks: []llmtest.Quirk{llmtest.DoneAtOnce}}, "", ""},
		{"401 that repeats the key", llmtest.Turn{Status: 401, Body: `{"error":"bad key ` + apiKey + `"}`}, "HTTP 401", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			gateway := llmtest.NewServer(t, tc.turn, llmtest.Turn{Text: "Back again."})
			f := setup(t, dbtest.SQLite(t))
			connection := f.connection(gateway, nil)
			conv := f.conversation("auto")
			frames := f.turn(conv, connection, "go")
			fr := find(t, frames, "error")
			if !strings.Contains(fr.ErrorText, tc.want) || strings.Contains(fr.ErrorText, apiKey) || strings.Contains(fr.ErrorText, gateway.BaseURL()) {
				t.Errorf("error %q, want %q", fr.ErrorText, tc.want)
			}
			if text(frames) != tc.text || len(f.domain.all()) != 1 {
				t.Errorf("text %q, names %v", text(frames), f.domain.all())
			}
			if n := len(gateway.Requests()); n != 1 {
				t.Errorf("%d requests: no retries that cost money", n)
			}
			if got := text(f.turn(conv, connection, "and now?")); got != "Back again." {
				t.Errorf("sending again: %q", got)
			}
			if !strings.Contains(f.log.String(), `"conversation_id":"`+conv) || strings.Contains(f.log.String(), apiKey) {
				t.Errorf("log %s", f.log.String())
			}
		})
	}
}

func TestFC055_SpendCap(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, tc := range []struct {
			name   string
			quirks []llmtest.Quirk
		}{{"reported", nil}, {"never reported", []llmtest.Quirk{llmtest.UsageNever}}, {"null", []llmtest.Quirk{llmtest.UsageNull}},
			{"growing", []llmtest.Quirk{llmtest.UsageGrowing}}, {"text", []llmtest.Quirk{llmtest.UsageText}}, {"negative", []llmtest.Quirk{llmtest.UsageNegative}},
			{"total only", []llmtest.Quirk{llmtest.UsageTotalOnly}}} {
			gateway := llmtest.NewServer(t, llmtest.Turn{Text: "One.", Quirks: tc.quirks}, llmtest.Turn{Text: "Two."})
			f := setup(t, d)
			connection := f.connection(gateway, obj{"spendCap": obj{"tokenBudget": 5, "windowMinutes": 60}})
			conv := f.conversation("approve")
			f.turn(conv, connection, "one")
			resp := f.request(context.Background(), "ada", obj{"conversationId": conv, "connectionId": connection, "message": "two"})
			raw, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(raw), "LLM spend/budget exceeded: ") {
				t.Errorf("%s: %d %s, want 429", tc.name, resp.StatusCode, raw)
			}
			if got := f.stored(conv); len(got) != 2 {
				t.Errorf("%s: a refused message was stored: %d messages", tc.name, len(got))
			}
			f.skew.Store(int64(61 * time.Minute))
			if got := text(f.turn(conv, connection, "two")); got != "Two." {
				t.Errorf("%s: an hour later: %q", tc.name, got)
			}
		}
		var bad int
		if err := d.Read.NewRaw("SELECT count(*) FROM ai_spend WHERE total_tokens <= 0 OR input_tokens < 0 OR output_tokens < 0").Scan(t.Context(), &bad); err != nil || bad != 0 {
			t.Errorf("%d rows of spend that count nothing, %v", bad, err)
		}
	})
}

func TestKeyIsFoundNowhere(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		gateway := llmtest.NewServer(t,
			llmtest.Turn{Text: "x", Calls: []llm.ToolCall{llmtest.Call("1", "test_list", obj{"filter": "fault"}), llmtest.Call("2", "test_login", obj{"name": "ada", "password": "canary-password"})}},
			llmtest.Turn{Status: 400, Body: "no such key: " + apiKey})
		f := setup(t, d)
		id := f.connection(gateway, nil)
		conv := f.conversation("approve")
		resp := f.request(context.Background(), "ada", obj{"conversationId": conv, "connectionId": id, "message": "go"})
		stream, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		seen := string(stream) + f.dump()
		for _, q := range []struct {
			op string
			in obj
		}{
			{"ai.listConnections", obj{}}, {"ai.listChatIntegrations", obj{}}, {"ai.listTools", obj{}}, {"ai.getConversation", obj{"id": conv}},
			{"ai.listConversations", obj{}}, {"ai.testConnection", obj{"id": id}}, {"ai.updateConnection", obj{"id": id, "name": "other" + conv}},
		} {
			raw, err := f.call(f.ada0(), q.op, q.in)
			if err != nil {
				t.Fatal(q.op, err)
			}
			seen += string(raw)
		}
		events, _ := json.Marshal(f.events.all)
		log := f.log.String()
		if strings.Contains(log, "canary-fault") {
			// The fault's own text is the log's business, and the tool's fault.
			log = strings.ReplaceAll(log, "canary-fault "+apiKey, "")
		}
		seen += string(events) + log
		for _, canary := range []string{apiKey, "canary-password"} {
			if i := strings.Index(seen, canary); i >= 0 {
				t.Errorf("%s is readable: …%s…", canary, seen[max(0, i-200):i+len(canary)])
			}
		}
		// And the real password is what apply runs.
		token := ""
		for _, p := range f.stored(conv)[1].Parts {
			if isCard(p.Output) {
				token, _ = card(t, frameRead{Output: p.Output})["token"].(string)
			}
		}
		f.must(f.ada, "ai.applyTool", obj{"token": token})
		if f.domain.secret != "canary-password" {
			t.Errorf("applied with %q", f.domain.secret)
		}
	})
}

func TestStopClosesTheUpstreamRequestAndCounts(t *testing.T) {
	t.Parallel()
	gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Half an ", Quirks: []llmtest.Quirk{llmtest.SilenceMidText}})
	f := setup(t, dbtest.SQLite(t))
	f.s.idle = time.Hour // only the stop can end it
	connection, conv := f.connection(gateway, nil), f.conversation("approve")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	resp := f.request(ctx, "ada", obj{"conversationId": conv, "connectionId": connection, "message": "go"})
	buf, got := make([]byte, 1024), ""
	for !strings.Contains(got, "text-delta") {
		n, err := resp.Body.Read(buf)
		if got += string(buf[:n]); err != nil {
			t.Fatalf("read %q, %v", got, err)
		}
	}
	cancel()
	resp.Body.Close()
	began := time.Now()
	f.http.Close() // returns when the handler has ended, and with it the request
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("the turn ended %s after the stop", d)
	}
	var total int
	if err := f.d.Read.NewRaw("SELECT sum(total_tokens) FROM ai_spend").Scan(t.Context(), &total); err != nil || total <= 0 {
		t.Errorf("spend %d, %v; tokens used before a stop count", total, err)
	}
	stored := f.stored(conv)
	if len(stored) != 2 || !strings.HasPrefix("Half an ", visibleText(stored[1].Parts)) || !stored[1].Metadata.Stopped {
		t.Errorf("stored %+v", stored)
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		gateway := llmtest.NewServer(t)
		admin := f.ada0()
		if _, err := f.call(f.ada, "ai.createConnection", obj{"name": "x", "defaultModel": "m"}); err == nil {
			t.Error("without the rule a connection was made")
		}
		if _, err := f.call(f.ada, "ai.listConnections", obj{}); err == nil {
			t.Error("without the rule connections are listed")
		}
		for _, tc := range []struct {
			in   obj
			want string
		}{
			{obj{"name": "a"}, "defaultModel"},
			{obj{"name": " ", "defaultModel": " ", "baseUrl": "ftp://x"}, "name: must not be blank; baseUrl: must be an http or https URL with a host; defaultModel"},
			{obj{"name": "a", "defaultModel": "m", "baseUrl": "https://user:canary@host"}, "must not hold a user"},
			{obj{"name": "a", "defaultModel": "m", "modelFamily": "llama"}, "modelFamily"},
			{obj{"name": "a", "defaultModel": "m", "spendCap": obj{"tokenBudget": 0, "windowMinutes": -1}}, "spendCap.tokenBudget"},
			{obj{"name": "a", "defaultModel": "m", "contextWindowTokens": 0}, "contextWindowTokens"},
			{obj{"name": "a", "defaultModel": "m", "unknown": 1}, "unknown"},
		} {
			if _, err := f.call(admin, "ai.createConnection", tc.in); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("create %v = %v, want %q", tc.in, err, tc.want)
			}
		}
		c := f.must(admin, "ai.createConnection", obj{"name": "Main", "baseUrl": gateway.BaseURL() + "///", "apiKey": apiKey, "defaultModel": "m1",
			"availableModels": []string{"m2", "m2", " "}, "spendCap": obj{"tokenBudget": "", "windowMinutes": 5}})
		id := c["id"].(string)
		if c["baseUrl"] != gateway.BaseURL() || c["hasApiKey"] != true || c["spendCap"] != nil || len(c["availableModels"].([]any)) != 2 {
			t.Errorf("created %v", c)
		}
		if _, err := f.call(admin, "ai.createConnection", obj{"name": "main", "defaultModel": "m"}); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("second of one name: %v", err)
		}
		// The key stays unless the address moves to another server.
		c = f.must(admin, "ai.updateConnection", obj{"id": id, "apiKey": "", "defaultModel": "m2", "spendCap": obj{"tokenBudget": 10, "windowMinutes": 5}, "contextWindowTokens": 32000})
		if c["hasApiKey"] != true || c["spendCap"].(obj)["tokenBudget"] != 10.0 || c["contextWindowTokens"] != 32000.0 {
			t.Errorf("updated %v", c)
		}
		c = f.must(admin, "ai.updateConnection", obj{"id": id, "name": "Renamed"})
		if c["spendCap"] == nil || c["contextWindowTokens"] == nil {
			t.Errorf("absent fields were cleared: %v", c)
		}
		c = f.must(admin, "ai.updateConnection", obj{"id": id, "spendCap": nil, "contextWindowTokens": nil})
		if c["spendCap"] != nil || c["contextWindowTokens"] != nil {
			t.Errorf("cleared fields stayed: %v", c)
		}
		for _, op := range []string{"ai.updateConnection", "ai.testConnection"} {
			if _, err := f.call(admin, op, obj{"id": id, "baseUrl": "http://evil.example/v1"}); err == nil || !strings.Contains(err.Error(), "apiKey") {
				t.Errorf("%s: the stored key would go to another server: %v", op, err)
			}
		}
		if got := f.must(admin, "ai.testConnection", obj{"id": id}); got["ok"] != true || !strings.Contains(got["message"].(string), "2 models") {
			t.Errorf("test %v", got)
		}
		if got := f.must(admin, "ai.testConnection", obj{"baseUrl": "http://127.0.0.1:1/v1"}); got["ok"] != false || !strings.Contains(got["message"].(string), "refused") {
			t.Errorf("test of a closed port %v", got)
		}
		list := f.must(f.ada, "ai.listChatIntegrations", obj{})["integrations"].([]any)
		if len(list) != 2 || list[0].(obj)["connectionId"] != BuiltinID || list[0].(obj)["builtin"] != true || list[1].(obj)["name"] != "Renamed" {
			t.Errorf("integrations %v", list)
		}
		f.must(admin, "ai.deleteConnection", obj{"id": id})
		var secrets int
		if err := d.Read.NewRaw("SELECT count(*) FROM secrets").Scan(t.Context(), &secrets); err != nil || secrets != 0 {
			t.Errorf("%d secrets left, %v", secrets, err)
		}
		if _, err := f.call(admin, "ai.updateConnection", obj{"id": BuiltinID, "name": "x"}); err == nil {
			t.Error("the built-in assistant was changed")
		}
	})
}

func TestModelAllowlist(t *testing.T) {
	t.Parallel()
	gateway := llmtest.NewServer(t, llmtest.Turn{Text: "a"}, llmtest.Turn{Text: "b"}, llmtest.Turn{Text: "c"})
	f := setup(t, dbtest.SQLite(t))
	id := f.connection(gateway, obj{"defaultModel": "small", "availableModels": []string{"large"}})
	c := f.must(f.ada, "ai.createConversation", obj{"integrationId": id, "model": "forbidden"})
	if c["model"] != "small" {
		t.Errorf("created with model %v", c["model"])
	}
	if other := f.must(f.ada, "ai.createConversation", obj{"integrationId": "unknown", "model": "large"}); other["model"] != nil || other["integrationId"] != nil {
		t.Errorf("unknown integration: %v", other)
	}
	conv := c["id"].(string)
	f.must(f.ada, "ai.updateConversation", obj{"id": conv, "model": "large"})
	f.turn(conv, id, "one")
	f.turn(conv, id, "two", obj{"model": "forbidden"})
	f.turn(conv, id, "three", obj{"model": "small"})
	var models []string
	for _, r := range gateway.Requests() {
		var body struct{ Model string }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		models = append(models, body.Model)
	}
	if got := strings.Join(models, " "); got != "large small small" {
		t.Errorf("models %q", got)
	}
}

func TestConversationsBelongToTheirOwner(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		id := f.conversation("approve")
		for _, op := range []string{"ai.getConversation", "ai.updateConversation"} {
			if _, err := f.call(f.bob, op, obj{"id": id}); err == nil || !strings.Contains(err.Error(), "does not exist") {
				t.Errorf("%s by another user = %v", op, err)
			}
		}
		if f.must(f.bob, "ai.archiveConversation", obj{"id": id})["archived"] != false || f.must(f.bob, "ai.deleteConversation", obj{"id": id})["deleted"] != false {
			t.Error("another user archived or deleted it")
		}
		if _, err := f.call(authz.Principal{Kind: authz.Application, ID: "app", Rules: []string{"*"}}, "ai.listConversations", obj{}); err == nil {
			t.Error("an application lists conversations")
		}
		if got := f.must(f.ada, "ai.updateConversation", obj{"id": id, "title": "T", "permissionMode": "auto"}); got["title"] != "T" || got["permissionMode"] != "auto" {
			t.Errorf("updated %v", got)
		}
		if f.must(f.ada, "ai.archiveConversation", obj{"id": id})["archived"] != true || f.must(f.ada, "ai.archiveConversation", obj{"id": id})["archived"] != false {
			t.Error("archive is not true, then false")
		}
		if got := f.must(f.ada, "ai.listConversations", obj{})["conversations"].([]any); len(got) != 0 {
			t.Errorf("an archived conversation is listed: %v", got)
		}
		if got := f.must(f.ada, "ai.getConversation", obj{"id": id})["conversation"].(map[string]any)["archived"]; got != true {
			t.Errorf("archived = %v when read by id", got)
		}
		if got := f.must(f.ada, "ai.listConversations", obj{"archived": true})["conversations"].([]any); len(got) != 1 {
			t.Errorf("archived conversations: %v", got)
		}
		if got := f.must(f.bob, "ai.listConversations", obj{"archived": true})["conversations"].([]any); len(got) != 0 {
			t.Errorf("another user sees archived conversations: %v", got)
		}
		if f.must(f.bob, "ai.restoreConversation", obj{"id": id})["restored"] != false {
			t.Error("another user restored it")
		}
		if f.must(f.ada, "ai.restoreConversation", obj{"id": id})["restored"] != true || f.must(f.ada, "ai.restoreConversation", obj{"id": id})["restored"] != false {
			t.Error("restore is not true, then false")
		}
		if got := f.must(f.ada, "ai.listConversations", obj{})["conversations"].([]any); len(got) != 1 {
			t.Errorf("a restored conversation is not listed: %v", got)
		}
		if f.must(f.ada, "ai.deleteConversation", obj{"id": id})["deleted"] != true {
			t.Error("delete by the owner failed")
		}
	})
}
