package knowledge_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/docs"
	"github.com/checkstack/checkstack/internal/ai/knowledge"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ruleChat         = authz.Rule{ID: "ai.chat.read"}
	ruleSystemRead   = authz.Rule{ID: "catalog.system.read"}
	ruleSystemManage = authz.Rule{ID: "catalog.system.manage"}
)

// defaults are the rules of the role "users".
var defaults = []string{"ai.chat.read", "catalog.system.read", "ai.memory.read", "ai.memory.manage", "ai.skill.read", "ai.skill-create.manage", "ai.skill.manage"}

func person(id string, rules ...string) authz.Principal {
	return authz.Principal{Kind: authz.User, ID: id, Name: id, Rules: rules}
}

var (
	ann     = person("018f0000-0000-7000-8000-00000000000a", defaults...)
	ben     = person("018f0000-0000-7000-8000-00000000000b", defaults...)
	admin   = person("018f0000-0000-7000-8000-00000000000c", "*")
	manager = person("018f0000-0000-7000-8000-00000000000d", append([]string{"catalog.system.manage"}, defaults...)...)
	blind   = person("018f0000-0000-7000-8000-00000000000e", "ai.chat.read", "ai.memory.manage", "ai.skill.read")
	nobody  = person("018f0000-0000-7000-8000-00000000000f")
	robot   = authz.Principal{Kind: authz.Application, ID: "018f0000-0000-7000-8000-000000000010", Rules: defaults}
	guest   = authz.Principal{}
)

const (
	shop    = "018f0000-0000-7000-8000-0000000000a1"
	billing = "018f0000-0000-7000-8000-0000000000a2"
	unknown = "018f0000-0000-7000-8000-0000000000ff"
)

type directory map[string]string

func (d directory) SystemNames(_ context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range ids {
		if name, ok := d[id]; ok {
			out[id] = name
		}
	}
	return out, nil
}

func (d directory) Names(ctx context.Context, ids []string) (map[string]string, error) {
	return d.SystemNames(ctx, ids)
}

// clock moves on by a second at every look.
type clock struct{ n atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.n.Add(1)) * time.Second)
}

type bundle struct {
	t   *testing.T
	svc *knowledge.Service
	ops map[string]operation.Operation
	reg *tool.Registry
}

func deps(d *db.DB, change ...func(*knowledge.Deps)) knowledge.Deps {
	kd := knowledge.Deps{DB: d, Docs: docs.Pages, Systems: directory{shop: "Shop", billing: "Billing"}, People: directory{ann.ID: "Ann", ben.ID: "Ben"},
		Chat: ruleChat, SystemRead: ruleSystemRead, SystemManage: ruleSystemManage, Log: slog.New(slog.DiscardHandler), Now: (&clock{}).now}
	for _, c := range change {
		c(&kd)
	}
	return kd
}

func setup(t *testing.T, d *db.DB, change ...func(*knowledge.Deps)) *bundle {
	t.Helper()
	if d != nil {
		for id, name := range map[string]string{shop: "Shop", billing: "Billing"} {
			at := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
			if _, err := d.Write.NewRaw("INSERT INTO systems (id, name, metadata, version, created_at, updated_at) VALUES (?, ?, '{}', 1, ?, ?)",
				id, name, at, at).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	svc, err := knowledge.New(deps(d, change...))
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{t: t, svc: svc, ops: map[string]operation.Operation{}}
	for _, op := range operation.NewSet(svc.Operations()).All() {
		b.ops[op.Declaration().ID] = op
	}
	if b.reg, err = tool.NewRegistry(svc.Tools()); err != nil {
		t.Fatal(err)
	}
	return b
}

// overHTTP makes the probe reach local servers.
func overHTTP(web http.RoundTripper) func(*knowledge.Deps) {
	return func(d *knowledge.Deps) { d.Web = web }
}

func object(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func input(t *testing.T, in any) json.RawMessage {
	t.Helper()
	if s, ok := in.(string); ok {
		return json.RawMessage(s)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// call runs an operation of the plugin "ai".
func (b *bundle) call(p authz.Principal, op string, in any) (map[string]any, error) {
	b.t.Helper()
	out, err := b.ops["ai."+op].CallJSON(authz.With(b.t.Context(), p), input(b.t, in))
	if err != nil {
		return nil, err
	}
	return object(b.t, out), nil
}

func (b *bundle) must(p authz.Principal, op string, in any) map[string]any {
	b.t.Helper()
	out, err := b.call(p, op, in)
	if err != nil {
		b.t.Fatalf("%s as %s: %v", op, p.ID, err)
	}
	return out
}

// use runs a read tool, or previews a change, as the agent would.
func (b *bundle) use(p authz.Principal, name string, in any) (map[string]any, error) {
	b.t.Helper()
	tl, ok := b.reg.Get("ai." + name)
	if !ok {
		b.t.Fatalf("no tool ai.%s", name)
	}
	ctx := authz.With(b.t.Context(), p)
	if tl.Effect() != tool.Read {
		dry, err := tl.Preview(ctx, input(b.t, in))
		if err != nil {
			return nil, err
		}
		return object(b.t, dry), nil
	}
	out, err := tl.Run(ctx, input(b.t, in))
	if err != nil {
		return nil, err
	}
	return object(b.t, tl.Lean(out)), nil
}

func (b *bundle) mustUse(p authz.Principal, name string, in any) map[string]any {
	b.t.Helper()
	out, err := b.use(p, name, in)
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	return out
}

// wantProblem says what is wrong with err, empty when it is the kind and names
// the path.
func wantProblem(err error, kind problem.Kind, path string) string {
	p, ok := problem.As(err)
	if !ok {
		return "got " + errorText(err) + ", want a problem"
	}
	if p.Kind != kind {
		return "got " + p.Error()
	}
	if path == "" {
		return ""
	}
	for _, is := range p.Issues {
		if is.Path == path {
			return ""
		}
	}
	return "got " + p.Error() + ", want an issue at " + path
}

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

func list(m map[string]any, key string) []map[string]any {
	items, _ := m[key].([]any)
	out := make([]map[string]any, len(items))
	for i, it := range items {
		out[i], _ = it.(map[string]any)
	}
	return out
}

func has(texts string, parts ...string) error {
	for _, p := range parts {
		if !strings.Contains(texts, p) {
			return errors.New("no " + p + " in: " + texts)
		}
	}
	return nil
}

func toolNamed(t testing.TB, svc *knowledge.Service, name string) tool.Tool {
	t.Helper()
	for _, tl := range svc.Tools() {
		if tl.Name() == name {
			return tl
		}
	}
	t.Fatalf("no tool %s", name)
	return tool.Tool{}
}
