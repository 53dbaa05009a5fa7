package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/oauth"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

var (
	ruleRead   = authz.Rule{ID: "test.thing.read", Description: "See things"}
	ruleManage = authz.Rule{ID: "test.thing.manage", Description: "Change things"}
)

type thing struct {
	Name string    `json:"name"`
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at,omitzero" required:"false"`
}

type getInput struct {
	Name string    `json:"name,omitempty"`
	At   time.Time `json:"at,omitzero" required:"false"`
}

type fixture struct {
	*Server
	d    *db.DB
	web  *httptest.Server
	gate *proposal.Gate
	ran  map[string]int
	mu   sync.Mutex
	keys map[string]authz.Principal
}

func (f *fixture) PrincipalForKey(_ context.Context, key string) (authz.Principal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.keys[key]
	if !ok {
		return p, problem.Unauthenticated("unknown key")
	}
	return p, nil
}

func (f *fixture) PrincipalForUser(context.Context, string) (authz.Principal, error) {
	return authz.Principal{}, problem.NotFound("nobody")
}

func (f *fixture) count(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran[name]++
}

func (f *fixture) tools() []tool.Tool {
	spec := func(name string, e tool.Effect, rules ...authz.Rule) tool.Spec {
		return tool.Spec{Name: name, Description: "About " + name + ".", Effect: e, Access: rules}
	}
	list := operation.New(operation.Declaration{ID: "test.listThings", Kind: operation.Query, Summary: "List", Caller: operation.Public, Access: []authz.Rule{ruleRead}},
		func(context.Context, *operation.Empty) (*thing, error) {
			return &thing{Name: "projected", Note: "left out"}, nil
		})
	change := func(name string, e tool.Effect) tool.Tool {
		return tool.DefineChange(spec(name, e, ruleManage),
			func(_ context.Context, in thing) (tool.Preview[thing], error) {
				if in.Name == "" {
					return tool.Preview[thing]{}, problem.Field("name", "must not be empty")
				}
				return tool.Preview[thing]{Summary: "Change " + in.Name, Payload: in}, nil
			},
			func(_ context.Context, in thing) (thing, error) { f.count(name); return in, nil })
	}
	return []tool.Tool{
		tool.Define(spec("test.getThing", tool.Read, ruleRead), func(ctx context.Context, in getInput) (thing, error) {
			f.count("test.getThing")
			switch in.Name {
			case "slow":
				select {
				case <-ctx.Done():
					return thing{}, ctx.Err()
				case <-time.After(700 * time.Millisecond):
				}
			case "missing":
				return thing{}, problem.NotFound("There is no such thing")
			case "broken":
				return thing{}, errors.New("canary-internal at 10.0.0.1")
			}
			return thing{Name: "it", Note: "sk-hunter2hunter2hunter2hunter2hunter2", At: in.At}, nil
		}),
		tool.FromOperation(list, spec("test.listThings", tool.Read), func(t *thing) any { return map[string]string{"name": t.Name} }),
		tool.Define(spec("ai.askOperator", tool.Read, ruleRead), func(context.Context, operation.Empty) (thing, error) { return thing{}, nil }),
		change("test.set", tool.Mutate), change("test.wipe", tool.Destructive),
	}
}

func setup(t testing.TB, d *db.DB) *fixture {
	t.Helper()
	f := &fixture{d: d, ran: map[string]int{}, keys: map[string]authz.Principal{
		"ck_admin":  {Kind: authz.Application, ID: "admin", Rules: []string{authz.Wildcard}},
		"ck_reader": {Kind: authz.Application, ID: "reader", Rules: []string{ruleRead.ID}},
		"ck_nobody": {Kind: authz.Application, ID: "nobody"},
	}}
	registry, err := tool.NewRegistry(f.tools())
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.NewBox(strings.Repeat("ab", 32))
	if err != nil {
		t.Fatal(err)
	}
	if f.gate, err = proposal.New(proposal.Deps{DB: d, Tools: registry, Box: box, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	f.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.Handler().ServeHTTP(w, r) }))
	t.Cleanup(f.web.Close)
	auth := oauth.New(oauth.Deps{DB: d, People: f, Rules: func() []authz.Rule { return []authz.Rule{ruleRead, ruleManage} }, BaseURL: f.web.URL, Log: slog.New(slog.DiscardHandler)})
	f.Server, err = New(Deps{Tools: registry, Gate: f.gate, OAuth: auth, Keys: f, BaseURL: f.web.URL, Version: "test", Log: slog.New(slog.DiscardHandler),
		Docs: []Document{{Slug: "start", Title: "First steps", Text: "# First steps"}}, Prompts: []Prompt{{Name: "triage", Description: "Sort things out", Text: "Look first."}}})
	if err != nil {
		t.Fatal(err)
	}
	f.set(t, oauth.Settings{Enabled: true})
	return f
}

func (f *fixture) set(t testing.TB, s oauth.Settings) {
	t.Helper()
	if err := f.oauth.SetSettings(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

type reply struct {
	status int
	header http.Header
	text   string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// post sends one message; header pairs follow, an empty value removes one.
func (f *fixture) post(t *testing.T, key, message string, headers ...string) reply {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, f.web.URL+oauth.MCPPath, strings.NewReader(message))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, text: string(raw)}
	_ = json.Unmarshal(raw, &r)
	return r
}

func toolCall(name, args string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`
}

// client is the official Go client with a key.
func (f *fixture) client(t *testing.T, key string) *sdk.ClientSession {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: f.web.URL + oauth.MCPPath, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: bearer(key)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func names(t *testing.T, s *sdk.ClientSession) []string {
	t.Helper()
	res, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, tl := range res.Tools {
		out = append(out, tl.Name)
	}
	slices.Sort(out)
	return out
}

func TestOfficialClient(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		s := f.client(t, "ck_reader")
		if v := s.InitializeResult().ProtocolVersion; v != "2026-07-28" {
			t.Errorf("it speaks %s", v)
		}
		if got := names(t, s); !slices.Equal(got, []string{"test_getThing", "test_listThings"}) {
			t.Errorf("a reader sees %v", got)
		}
		for _, name := range []string{"test_getThing", "test.getThing"} {
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{"at": "2026-07-01T22:00+02:00"}})
			if err != nil || res.IsError {
				t.Fatalf("%s: %v %+v", name, err, res)
			}
			raw, _ := json.Marshal(res.StructuredContent)
			if !strings.Contains(string(raw), `"at":"2026-07-01T20:00:00Z"`) || strings.Contains(string(raw), "hunter2") {
				t.Errorf("structured content %s", raw)
			}
		}
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "test_listThings"})
		if err != nil || res.StructuredContent != nil || res.Content[0].(*sdk.TextContent).Text != `{"name":"projected"}` {
			t.Errorf("projected tool: %v %+v", err, res)
		}
		docs, err := s.ListResources(t.Context(), nil)
		if err != nil || len(docs.Resources) != 1 {
			t.Fatalf("resources: %v", err)
		}
		page, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: docs.Resources[0].URI})
		if err != nil || page.Contents[0].Text != "# First steps" {
			t.Errorf("page: %v", err)
		}
		prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "triage"})
		if err != nil || prompt.Messages[0].Content.(*sdk.TextContent).Text != "Look first." {
			t.Errorf("prompt: %v", err)
		}
		if got := names(t, f.client(t, "ck_nobody")); len(got) != 0 {
			t.Errorf("a caller without rules sees %v", got)
		}
		// Roles that change count at once.
		f.mu.Lock()
		f.keys["ck_reader"] = authz.Principal{Kind: authz.Application, ID: "reader"}
		f.mu.Unlock()
		if got := names(t, s); len(got) != 0 {
			t.Errorf("after losing the rule: %v", got)
		}
		calls, err := f.gate.Calls(t.Context(), proposal.Query{Transport: proposal.MCP, Limit: 10})
		if err != nil || len(calls) != 3 || calls[0].Status != proposal.Executed || calls[0].ProposedBy.ID != "reader" {
			t.Errorf("audit rows: %+v, %v", calls, err)
		}
	})
}

func TestChangesNeverRunHere(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		for _, name := range []string{"test_set", "test_wipe", "test.set"} {
			if r := f.post(t, "ck_admin", toolCall(name, `{"name":"x"}`)); r.status != 403 || r.Error == nil || r.Error.Code != codeForbidden || !strings.Contains(r.Error.Message, "only lets MCP clients read") {
				t.Errorf("%s: %d %s", name, r.status, r.text)
			}
		}
		f.set(t, oauth.Settings{Enabled: true, AllowProposals: true})
		s := f.client(t, "ck_admin")
		if got := names(t, s); !slices.Contains(got, "test_wipe") || slices.Contains(got, "ai_askOperator") {
			t.Errorf("with proposals: %v", got)
		}
		for _, name := range []string{"test_set", "test_wipe"} {
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{"name": "x"}})
			if err != nil || res.IsError {
				t.Fatalf("%s: %v", name, err)
			}
			text := res.Content[0].(*sdk.TextContent).Text
			if !strings.Contains(text, "Proposed, not done: Change x") || !strings.Contains(text, f.web.URL+"/approvals?call=") || strings.Contains(text, "propose:") {
				t.Errorf("%s: %s", name, text)
			}
		}
		if r := f.post(t, "ck_admin", toolCall("test_set", `{"name":""}`)); !strings.Contains(r.text, `"isError":true`) || !strings.Contains(r.text, "name: must not be empty") {
			t.Errorf("a refused dry run: %s", r.text)
		}
		if len(f.ran) != 0 {
			t.Errorf("a change ran: %v", f.ran)
		}
		person := authz.With(t.Context(), authz.Principal{Kind: authz.User, ID: "u", Rules: []string{ruleManage.ID}})
		waiting, err := f.gate.Waiting(person)
		if err != nil || len(waiting) != 2 || waiting[0].Transport != proposal.MCP {
			t.Fatalf("inbox: %+v, %v", waiting, err)
		}
		if _, err := f.gate.Approve(person, waiting[0].ID); err != nil || len(f.ran) != 1 {
			t.Errorf("approval: %v, ran %v", err, f.ran)
		}
	})
}

func TestCallErrors(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	for name, c := range map[string]struct {
		key, tool, args string
		status, code    int
		says            string
	}{
		"unknown tool":      {"ck_reader", "nothing", `{}`, 200, codeInvalidParams, "no such tool"},
		"needs a person":    {"ck_reader", "ai_askOperator", `{}`, 200, codeInvalidParams, "no such tool"},
		"without the rule":  {"ck_nobody", "test_getThing", `{}`, 403, codeForbidden, "missing permission: test.thing.read"},
		"not there":         {"ck_reader", "test_getThing", `{"name":"missing"}`, 200, 0, "There is no such thing"},
		"broken inside":     {"ck_reader", "test_getThing", `{"name":"broken"}`, 200, 0, "the log of the server says why"},
		"a date only":       {"ck_reader", "test_getThing", `{"at":"2026-07-01"}`, 200, 0, "explicit timezone offset"},
		"an unknown field":  {"ck_reader", "test_getThing", `{"nome":"x"}`, 200, 0, "unknown field"},
		"null as arguments": {"ck_reader", "test_getThing", `null`, 200, 0, `"name":"it"`},
	} {
		r := f.post(t, c.key, toolCall(c.tool, c.args))
		code := 0
		if r.Error != nil {
			code = r.Error.Code
		}
		if r.status != c.status || code != c.code || !strings.Contains(strings.ReplaceAll(r.text, `\"`, `"`), c.says) || strings.Contains(r.text, "canary") {
			t.Errorf("%s: %d %s", name, r.status, r.text)
		}
	}
	if r := f.post(t, "ck_nobody", toolCall("test_getThing", `{}`)); !strings.Contains(r.header.Get("WWW-Authenticate"), `error="insufficient_scope"`) {
		t.Errorf("no challenge for a missing scope: %s", r.header.Get("WWW-Authenticate"))
	}
	if r := f.post(t, "ck_reader", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_getThing"}}`); r.status != 200 || r.Error != nil {
		t.Errorf("no arguments: %s", r.text)
	}
}

func TestBudgetIsSeenInTheStatus(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	for range proposal.BudgetCalls {
		if r := f.post(t, "ck_reader", toolCall("test_getThing", `{}`)); r.status != 200 {
			t.Fatalf("%d %s", r.status, r.text)
		}
	}
	r := f.post(t, "ck_reader", toolCall("test_getThing", `{}`))
	wait, err := strconv.Atoi(r.header.Get("Retry-After"))
	if r.status != 429 || r.Error == nil || r.Error.Code != codeBudget || err != nil || wait < 1 || wait > 60 || f.ran["test.getThing"] != proposal.BudgetCalls {
		t.Errorf("%d %s, ran %d", r.status, r.text, f.ran["test.getThing"])
	}
}

func TestDoor(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	host := strings.TrimPrefix(f.web.URL, "http://")
	for name, c := range map[string]struct {
		key     string
		headers []string
		status  int
	}{
		"good":                  {"ck_reader", nil, 200},
		"no key":                {"", nil, 401},
		"unknown key":           {"ck_wrong", nil, 401},
		"an OAuth token":        {"cko_wrong", nil, 401},
		"a session cookie":      {"", []string{"Cookie", "checkstack_session=x"}, 401},
		"basic":                 {"", []string{"Authorization", "Basic eDp5"}, 401},
		"two keys":              {"ck_reader", []string{"Authorization", "Bearer ck_admin"}, 401},
		"own origin":            {"ck_reader", []string{"Origin", f.web.URL}, 200},
		"origin on the machine": {"ck_reader", []string{"Origin", "http://localhost:6274"}, 200},
		"foreign origin":        {"ck_reader", []string{"Origin", "https://evil.example"}, 403},
		"null origin":           {"ck_reader", []string{"Origin", "null"}, 403},
		"a proxy's host":        {"ck_reader", []string{"Host", "127.0.0.1:8080"}, 200},
		"foreign host":          {"ck_reader", []string{"Host", "evil.example"}, 403},
		"look-alike host":       {"ck_reader", []string{"Host", host + ".evil.example"}, 403},
	} {
		if r := f.post(t, c.key, ping, c.headers...); r.status != c.status || (r.status == 401) != strings.Contains(r.header.Get("WWW-Authenticate"), "resource_metadata=") {
			t.Errorf("%s: %d %s (%s)", name, r.status, r.text, r.header.Get("WWW-Authenticate"))
		}
	}
	f.set(t, oauth.Settings{})
	if r := f.post(t, "ck_admin", ping); r.status != 404 {
		t.Errorf("switched off: %d", r.status)
	}
	f.set(t, oauth.Settings{Enabled: true})
	if r := f.post(t, "ck_reader", `{"jsonrpc":"2.0","method":"notifications/initialized"}`); r.status != 202 {
		t.Errorf("notification: %d %s", r.status, r.text)
	}
}

func TestFC043_ProtocolVersions(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	for asked, want := range map[string]string{"2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2024-11-05": "2024-11-05",
		"2099-01-01": "", "": ""} {
		r := f.post(t, "ck_reader", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		var res struct {
			Version string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(r.Result, &res)
		if r.status != 200 || res.Version == "" || (want != "" && res.Version != want) {
			t.Errorf("initialize %q: %d %s", asked, r.status, r.text)
		}
		if r.header.Get("Mcp-Session-Id") != "" {
			t.Error("the server made a session")
		}
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	for version, want := range map[string]int{"": 200, "2025-03-26": 200, "2025-06-18": 200, "2025-11-25": 200, "banana": 400, "2020-01-01": 400} {
		headers := []string{}
		if version != "" {
			headers = []string{"Mcp-Protocol-Version", version}
		}
		if r := f.post(t, "ck_reader", list, headers...); r.status != want {
			t.Errorf("header %q: %d %s", version, r.status, r.text)
		}
	}
	if r := f.post(t, "ck_reader", list, "Mcp-Protocol-Version", "2025-06-18", "Mcp-Protocol-Version", "2025-11-25"); r.status != 400 || r.Error == nil || r.Error.Code != codeVersion {
		t.Errorf("two headers: %d %s", r.status, r.text)
	}
}

// TestNewestRevision speaks 2026-07-28, which the conformance suite does not
// know: no handshake, the version in _meta, discovery, private caching.
func TestNewestRevision(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	send := func(method, params string, extra ...string) reply {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		if params != "" {
			params += ","
		}
		return f.post(t, "ck_reader", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+meta+`}}`,
			append([]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}, extra...)...)
	}
	if r := send("server/discover", ""); r.status != 200 || !strings.Contains(r.text, `"2026-07-28"`) || !strings.Contains(r.text, `"2025-03-26"`) || !strings.Contains(r.text, `"cacheScope":"private"`) {
		t.Errorf("discover: %d %s", r.status, r.text)
	}
	if r := send("tools/list", ""); r.status != 200 || !strings.Contains(r.text, `"cacheScope":"private"`) || !strings.Contains(r.text, "test_getThing") || strings.Contains(r.text, "test_set") {
		t.Errorf("list: %d %s", r.status, r.text)
	}
	if r := send("tools/call", `"name":"test_getThing","arguments":{}`, "Mcp-Name", "test_getThing"); r.status != 200 || !strings.Contains(r.text, `"structuredContent"`) {
		t.Errorf("call: %d %s", r.status, r.text)
	}
}

// TestFC044_NoSessionToLose: what an earlier process knew about a client does
// not matter.
func TestFC044_NoSessionToLose(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	for _, id := range []string{"0190b1c0-0000-7000-8000-000000000000", strings.Repeat("x", 7000)} {
		if r := f.post(t, "ck_reader", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Session-Id", id); r.status != 200 {
			t.Errorf("an old session id: %d %s", r.status, r.text)
		}
	}
}

// TestFC045_NothingHangsOnASession: a session id gives nobody anything, and a
// caller who may less does so with the next message.
func TestFC045_NothingHangsOnASession(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	f.set(t, oauth.Settings{Enabled: true, AllowProposals: true})
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	seen := func(key string) string {
		r := f.post(t, key, list, "Mcp-Session-Id", "the-admins-session")
		if r.status != 200 || r.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d", key, r.status)
		}
		return r.text
	}
	if all := seen("ck_admin"); !strings.Contains(all, "test_set") {
		t.Errorf("the administrator sees %s", all)
	}
	if other := seen("ck_reader"); strings.Contains(other, "test_set") || !strings.Contains(other, "test_getThing") {
		t.Errorf("a reader with the administrator's session sees %s", other)
	}
	f.mu.Lock()
	f.keys["ck_admin"] = authz.Principal{Kind: authz.Application, ID: "admin", Rules: []string{ruleRead.ID}}
	f.mu.Unlock()
	if less := seen("ck_admin"); strings.Contains(less, "test_set") {
		t.Errorf("after losing rules: %s", less)
	}
	if r := f.post(t, "ck_admin", toolCall("test_set", `{"name":"x"}`), "Mcp-Session-Id", "the-admins-session"); r.status != 403 {
		t.Errorf("a call after losing rules: %d %s", r.status, r.text)
	}
	f.mu.Lock()
	delete(f.keys, "ck_admin")
	f.mu.Unlock()
	if r := f.post(t, "ck_admin", list, "Mcp-Session-Id", "the-admins-session"); r.status != 401 {
		t.Errorf("after the key was taken back: %d", r.status)
	}
}

func TestFC046_EverySchemaIsOneThatClientsTake(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	f.set(t, oauth.Settings{Enabled: true, AllowProposals: true})
	res, err := f.client(t, "ck_admin").ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range res.Tools {
		raw, _ := json.Marshal(m.InputSchema)
		CheckSchema(t, m.Name, raw)
		if (m.Annotations.ReadOnlyHint) == strings.Contains(m.Description, proposes) {
			t.Errorf("%s: read only %t, described as %q", m.Name, m.Annotations.ReadOnlyHint, m.Description)
		}
	}
	if r := f.post(t, "ck_nobody", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(r.text, `"tools":[]`) {
		t.Errorf("an empty list: %s", r.text)
	}
}

// CheckSchema holds an input schema to what clients and providers accept.
func CheckSchema(t *testing.T, name string, raw []byte) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if root["type"] != "object" || root["properties"] == nil || root["anyOf"] != nil || root["oneOf"] != nil {
		t.Errorf("%s: the root is not a plain object: %s", name, raw)
	}
	defs, _ := root["$defs"].(map[string]any)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["type"] == "array" && v["items"] == nil {
				t.Errorf("%s: an array without items: %v", name, v)
			}
			if ref, ok := v["$ref"].(string); ok && defs[ref[strings.LastIndexByte(ref, '/')+1:]] == nil {
				t.Errorf("%s: %s leads nowhere", name, ref)
			}
			if props, ok := v["properties"].(map[string]any); ok {
				for k, p := range props {
					if _, ok := p.(map[string]any); !ok {
						t.Errorf("%s: property %s has the schema %v", name, k, p)
					}
				}
			}
			for _, sub := range v {
				walk(sub)
			}
		case []any:
			for _, sub := range v {
				walk(sub)
			}
		}
	}
	walk(root)
}
