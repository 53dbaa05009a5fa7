package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// apiKey is the canary: it must be found nowhere but in the provider's header.
const apiKey = "canary-key-0123456789"

// serverTimeout is the server's own, which a stream must outlive.
const serverTimeout = 2 * time.Second

var (
	ruleThings = authz.Rule{ID: "test.thing.read"}
	ruleChange = authz.Rule{ID: "test.thing.manage"}
	ruleAdmin  = authz.Rule{ID: "test.admin.manage"}
)

type listIn struct {
	Filter string    `json:"filter,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}
type nameIn struct {
	Name string `json:"name" minLength:"1" maxLength:"40"`
}
type passIn struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// domain is a list of names.
type domain struct {
	mu       sync.Mutex
	names    []string
	lists    atomic.Int64
	running  chan struct{} // closed when test.slow runs
	secret   string
	extra    map[string]any
	applyErr error
}

func (d *domain) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.names)
}

func (d *domain) tools() []tool.Tool {
	spec := func(name string, e tool.Effect, r authz.Rule) tool.Spec {
		return tool.Spec{Name: "test." + name, Description: "Does " + name + ".", Effect: e, Access: []authz.Rule{r}}
	}
	dry := func(verb string) func(context.Context, nameIn) (tool.Preview[nameIn], error) {
		return func(_ context.Context, in nameIn) (tool.Preview[nameIn], error) {
			if strings.HasPrefix(in.Name, "bad") {
				return tool.Preview[nameIn]{}, problem.InputIssues([]problem.Issue{{Path: "name", Message: "must not begin with bad"}, {Path: "owner", Message: "is missing"}})
			}
			return tool.Preview[nameIn]{Summary: verb + " " + in.Name, Payload: in, After: in}, nil
		}
	}
	return []tool.Tool{
		tool.Define(spec("list", tool.Read, ruleThings), func(_ context.Context, in listIn) (map[string]any, error) {
			d.lists.Add(1)
			if in.Filter == "fail" {
				return nil, problem.NotFound("No such filter")
			}
			if in.Filter == "fault" {
				return nil, fmt.Errorf("canary-fault %s", apiKey)
			}
			out := map[string]any{"names": d.all()}
			for k, v := range d.extra {
				out[k] = v
			}
			return out, nil
		}),
		tool.Define(spec("slow", tool.Read, ruleThings), func(ctx context.Context, _ listIn) (map[string]any, error) {
			close(d.running)
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		tool.Define(spec("admin", tool.Read, ruleAdmin), func(context.Context, listIn) (map[string]any, error) {
			return map[string]any{"all": true}, nil
		}),
		tool.DefineChange(spec("create", tool.Mutate, ruleChange), dry("Create"), func(_ context.Context, in nameIn) (nameIn, error) {
			if d.applyErr != nil {
				return nameIn{}, d.applyErr
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.names = append(d.names, in.Name)
			return in, nil
		}),
		tool.DefineChange(spec("remove", tool.Destructive, ruleChange), dry("Remove"), func(_ context.Context, in nameIn) (nameIn, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.names = slices.DeleteFunc(d.names, func(s string) bool { return s == in.Name })
			return in, nil
		}),
		tool.DefineChange(spec("login", tool.Mutate, ruleChange), func(_ context.Context, in passIn) (tool.Preview[passIn], error) {
			return tool.Preview[passIn]{Summary: "Log in as " + in.Name, Payload: in, After: in}, nil
		}, func(_ context.Context, in passIn) (struct{}, error) { d.secret = in.Password; return struct{}{}, nil }),
	}
}

type eventLog struct {
	mu  sync.Mutex
	all []proposal.ToolCalled
}

func (l *eventLog) ToolCalled(_ context.Context, e proposal.ToolCalled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type fixture struct {
	t      testing.TB
	s      *Service
	d      *db.DB
	gate   *proposal.Gate
	box    *secret.Box
	domain *domain
	script *llmtest.Script // behind the connection "builtin"
	events *eventLog
	log    *lockedBuffer
	http   *httptest.Server
	ada    authz.Principal
	bob    authz.Principal
	client *http.Client
	skew   atomic.Int64 // nanoseconds added to the clock
	told   struct {
		mu  sync.Mutex
		all []string
	}
}

// noteChange is Deps.Changed; changes gives what it heard.
func (f *fixture) noteChange(_ context.Context, userID, conversationID string) {
	f.told.mu.Lock()
	defer f.told.mu.Unlock()
	f.told.all = append(f.told.all, userID+" "+conversationID)
}

func (f *fixture) changes() []string {
	f.told.mu.Lock()
	defer f.told.mu.Unlock()
	return slices.Clone(f.told.all)
}

// withTools adds tools to the registry of a fixture that has run nothing yet.
func (f *fixture) withTools(more ...tool.Tool) {
	f.t.Helper()
	reg, err := tool.NewRegistry(f.domain.tools(), more)
	if err != nil {
		f.t.Fatal(err)
	}
	f.s.tools = reg
	if f.gate, err = proposal.New(proposal.Deps{DB: f.d, Tools: reg, Box: f.box, Events: f.events, Log: f.s.log, Now: f.s.now}); err != nil {
		f.t.Fatal(err)
	}
	f.s.gate = f.gate
}

func setup(t testing.TB, d *db.DB, rounds ...llmtest.Round) *fixture {
	t.Helper()
	f := &fixture{t: t, d: d, domain: &domain{names: []string{"one"}, running: make(chan struct{})},
		script: llmtest.NewScript(rounds...), events: &eventLog{}, log: &lockedBuffer{}}
	rules := []string{RuleChat.ID, ruleThings.ID, ruleChange.ID}
	f.ada = authz.Principal{Kind: authz.User, ID: "ada", Rules: rules}
	f.bob = authz.Principal{Kind: authz.User, ID: "bob", Rules: rules}
	reg, err := tool.NewRegistry(f.domain.tools())
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.NewBox(strings.Repeat("cd", 32))
	if err != nil {
		t.Fatal(err)
	}
	f.box = box
	log := slog.New(slog.NewJSONHandler(f.log, nil))
	now := func() time.Time { return time.Now().Add(time.Duration(f.skew.Load())) }
	if f.gate, err = proposal.New(proposal.Deps{DB: d, Tools: reg, Box: box, Events: f.events, Log: log, Now: now}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	f.s = New(Deps{DB: d, Tools: reg, Gate: f.gate, Secrets: secret.NewStore(box), HTTP: &http.Client{Transport: transport}, Log: log,
		Now: now, Zone: time.UTC, Builtin: f.script, KeepAlive: 20 * time.Millisecond,
		Heartbeat: 30 * time.Millisecond, IdleTimeout: time.Second})
	f.s.listenGrace, f.s.listenEvery = 300*time.Millisecond, 50*time.Millisecond
	t.Cleanup(f.s.Close)
	handler := f.s.ChatHandler()
	f.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := map[string]authz.Principal{"ada": f.ada, "bob": f.bob,
			"app": {Kind: authz.Application, ID: "app", Rules: []string{"*"}}, "weak": {Kind: authz.User, ID: "weak"}}[r.Header.Get("X-Who")]
		handler.ServeHTTP(w, r.WithContext(authz.With(r.Context(), who)))
	}))
	f.http.Config.ReadTimeout, f.http.Config.WriteTimeout = serverTimeout, serverTimeout
	f.http.Start()
	f.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	t.Cleanup(f.http.Close)
	return f
}

func (f *fixture) as(p authz.Principal) context.Context { return authz.With(context.Background(), p) }

// call runs an operation the way REST does.
func (f *fixture) call(p authz.Principal, id string, in any) (json.RawMessage, error) {
	f.t.Helper()
	for _, op := range f.s.Operations() {
		if op.Declaration().ID != id {
			continue
		}
		raw, err := json.Marshal(in)
		if err != nil {
			f.t.Fatal(err)
		}
		out, err := op.CallJSON(f.as(p), raw)
		if err != nil {
			return nil, err
		}
		raw, err = json.Marshal(out)
		if err != nil {
			f.t.Fatal(err)
		}
		return raw, nil
	}
	f.t.Fatalf("there is no operation %s", id)
	return nil, nil
}

func (f *fixture) must(p authz.Principal, id string, in any) map[string]any {
	f.t.Helper()
	raw, err := f.call(p, id, in)
	if err != nil {
		f.t.Fatalf("%s: %v", id, err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		f.t.Fatal(err)
	}
	return out
}

type obj = map[string]any

func (f *fixture) conversation(mode string) string {
	f.t.Helper()
	return f.must(f.ada, "ai.createConversation", obj{"permissionMode": mode})["id"].(string)
}

func (f *fixture) connection(gateway *llmtest.Server, more obj) string {
	f.t.Helper()
	in := obj{"name": "gateway " + fmt.Sprint(len(f.t.Name())) + fmt.Sprint(time.Now().UnixNano()), "baseUrl": gateway.BaseURL(), "apiKey": apiKey, "defaultModel": "fake-small"}
	for k, v := range more {
		in[k] = v
	}
	return f.must(f.ada0(), "ai.createConnection", in)["id"].(string)
}

// ada0 is ada with the rights to configure.
func (f *fixture) ada0() authz.Principal {
	p := f.ada
	p.Rules = append(slices.Clone(p.Rules), RuleConnectionsManage.ID, RuleTools.ID)
	return p
}

func (f *fixture) request(ctx context.Context, who string, body any) *http.Response {
	f.t.Helper()
	raw, ok := body.([]byte)
	if !ok {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			f.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.http.URL, bytes.NewReader(raw))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("X-Who", who)
	resp, err := f.client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp
}

type frameRead struct {
	Type, MessageID, ID, Delta, ToolCallID, ToolName, ErrorText string
	Dynamic                                                     bool
	Input, Output                                               json.RawMessage
}

// turn plays a turn and checks what must hold for every stream: FC-051, and
// that what was shown is what is stored.
func (f *fixture) turn(conversation, connection, message string, more ...obj) []frameRead {
	f.t.Helper()
	body := obj{"conversationId": conversation, "connectionId": connection, "timeZone": "Europe/Berlin"}
	if message != "" {
		body["message"] = message
	}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	resp := f.request(context.Background(), "ada", body)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		f.t.Fatalf("chat answered %d %s", resp.StatusCode, raw)
	}
	frames := parseStream(f.t, string(raw))
	shown := fold(f.t, frames)
	stored := f.stored(conversation)
	if len(stored) > 0 && len(shown) > 0 {
		last := stored[len(stored)-1]
		if last.ID == frames[0].MessageID {
			if d := cmp.Diff(plainParts(shown), plainParts(last.Parts)); d != "" {
				f.t.Errorf("stored differs from shown (-shown +stored)\n%s", d)
			}
		} else if hasContent(shown) {
			f.t.Errorf("the shown message %s is not stored", frames[0].MessageID)
		}
	}
	return frames
}

func hasContent(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return p.Type != partStep })
}

func (f *fixture) stored(conversation string) []messageOutput {
	f.t.Helper()
	raw, err := f.call(f.ada, "ai.getConversation", obj{"id": conversation})
	if err != nil {
		f.t.Fatal(err)
	}
	var out getConversationOutput
	if err := json.Unmarshal(raw, &out); err != nil {
		f.t.Fatal(err)
	}
	return out.Messages
}

// plainParts makes parts comparable: of a card, only what does not change.
func plainParts(parts []Part) []obj {
	var out []obj
	for _, p := range parts {
		o := obj{"type": p.Type, "text": p.Text, "tool": p.ToolName, "id": p.ToolCallID, "error": p.ErrorText}
		var output any
		_ = json.Unmarshal(p.Output, &output)
		if card, ok := output.(map[string]any); ok {
			for _, k := range []string{"status", "token", "result"} {
				if card["__confirm"] == true {
					delete(card, k)
				}
			}
		}
		o["output"] = output
		out = append(out, o)
	}
	return out
}

func parseStream(t testing.TB, raw string) []frameRead {
	t.Helper()
	var frames []frameRead
	done := false
	for block := range strings.SplitSeq(raw, "\n\n") {
		if block == "" || strings.HasPrefix(block, ":") {
			continue
		}
		if done {
			t.Errorf("after [DONE] came %q", block)
		}
		data, ok := strings.CutPrefix(block, "data: ")
		if !ok {
			t.Fatalf("not a data line: %q", block)
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var fr frameRead
		if err := json.Unmarshal([]byte(data), &fr); err != nil {
			t.Fatalf("frame %q: %v", data, err)
		}
		frames = append(frames, fr)
	}
	if !done {
		t.Error("the stream does not end with [DONE]")
	}
	return frames
}

// fold builds the message as the browser's library does, refusing what it
// would refuse.
func fold(t testing.TB, frames []frameRead) []Part {
	t.Helper()
	var parts []Part
	texts, closed, tools, ended := map[string]int{}, map[string]bool{}, map[string]int{}, map[string]bool{}
	steps, finishes := 0, 0
	for i, fr := range frames {
		switch fr.Type {
		case "start":
			if i != 0 || fr.MessageID == "" {
				t.Errorf("start is frame %d with id %q", i, fr.MessageID)
			}
		case "start-step":
			steps++
			parts = append(parts, Part{Type: partStep})
		case "finish-step":
			steps--
		case "text-start":
			if _, dup := texts[fr.ID]; dup || fr.ID == "" {
				t.Errorf("text id %q is used twice", fr.ID)
			}
			texts[fr.ID] = len(parts)
			parts = append(parts, Part{Type: partText})
		case "text-delta":
			at, ok := texts[fr.ID]
			if !ok || closed[fr.ID] || fr.Delta == "" {
				t.Errorf("delta %q for text %q", fr.Delta, fr.ID)
			}
			parts[at].Text += fr.Delta
		case "text-end":
			if _, ok := texts[fr.ID]; !ok || closed[fr.ID] {
				t.Errorf("end of text %q", fr.ID)
			}
			closed[fr.ID] = true
		case "tool-input-start":
			if _, dup := tools[fr.ToolCallID]; dup || !fr.Dynamic || fr.ToolName == "" {
				t.Errorf("tool-input-start %+v", fr)
			}
			tools[fr.ToolCallID] = len(parts)
			parts = append(parts, Part{Type: partTool, ToolCallID: fr.ToolCallID, ToolName: fr.ToolName})
		case "tool-input-available":
			at, ok := tools[fr.ToolCallID]
			if !ok || len(parts[at].Input) > 0 || !fr.Dynamic || len(fr.Input) == 0 {
				t.Errorf("tool-input-available %+v", fr)
			}
			parts[at].Input, parts[at].ToolName = fr.Input, fr.ToolName
		case "tool-input-error", "tool-output-error", "tool-output-available":
			at, ok := tools[fr.ToolCallID]
			if !ok || ended[fr.ToolCallID] || !fr.Dynamic {
				t.Errorf("%s %+v", fr.Type, fr)
			}
			if fr.Type != "tool-input-error" && len(parts[at].Input) == 0 {
				t.Errorf("output before input: %+v", fr)
			}
			ended[fr.ToolCallID] = true
			parts[at].Output, parts[at].ErrorText = fr.Output, fr.ErrorText
		case "error":
			if fr.ErrorText == "" {
				t.Error("an error without a text")
			}
			finishes++
		case "finish", "abort":
			finishes++
		default:
			t.Errorf("unknown frame type %q ends the browser's stream", fr.Type)
		}
	}
	for id := range texts {
		if !closed[id] {
			t.Errorf("text %q never ends", id)
		}
	}
	for id := range tools {
		if !ended[id] {
			t.Errorf("tool call %q has no outcome", id)
		}
	}
	if steps != 0 || finishes != 1 {
		t.Errorf("%d open steps, %d ends of the turn", steps, finishes)
	}
	return parts
}

func text(frames []frameRead) string {
	var b strings.Builder
	for _, fr := range frames {
		b.WriteString(fr.Delta)
	}
	return b.String()
}

func find(t testing.TB, frames []frameRead, typ string) frameRead {
	t.Helper()
	for _, fr := range frames {
		if fr.Type == typ {
			return fr
		}
	}
	t.Fatalf("no frame %s in %+v", typ, frames)
	return frameRead{}
}

func card(t testing.TB, fr frameRead) obj {
	t.Helper()
	var out obj
	if err := json.Unmarshal(fr.Output, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func count(frames []frameRead, typ string) int {
	n := 0
	for _, fr := range frames {
		if fr.Type == typ {
			n++
		}
	}
	return n
}

// dump gives everything that is stored, as text.
func (f *fixture) dump() string {
	f.t.Helper()
	var b strings.Builder
	for _, q := range []string{
		"SELECT coalesce(title,'') || id FROM ai_conversations", "SELECT CAST(content AS TEXT) || CAST(parts AS TEXT) || coalesce(CAST(model_messages AS TEXT),'') FROM ai_messages",
		"SELECT args_hash || coalesce(CAST(result_snapshot AS TEXT),'') || coalesce(proposed_payload,'') || coalesce(error,'') FROM ai_tool_calls",
		"SELECT value FROM secrets", "SELECT name || base_url || default_model FROM ai_connections",
	} {
		var rows []string
		if err := f.d.Read.NewRaw(q).Scan(context.Background(), &rows); err != nil {
			f.t.Fatal(err)
		}
		b.WriteString(strings.Join(rows, "\n"))
	}
	return b.String()
}

func lastMessage(req llm.Request) llm.Message { return req.Messages[len(req.Messages)-1] }
