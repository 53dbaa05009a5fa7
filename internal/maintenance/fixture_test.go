package maintenance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

var (
	manager = authz.Principal{Kind: authz.User, ID: "01930000-0000-7000-8000-00000000000a", Rules: []string{"maintenance.maintenance.manage", "catalog.system.manage"}}
	robot   = authz.Principal{Kind: authz.Application, ID: "01930000-0000-7000-8000-00000000000b", Rules: manager.Rules}
	reader  = authz.Principal{Kind: authz.User, ID: "01930000-0000-7000-8000-00000000000c", Rules: []string{"maintenance.maintenance.read", "catalog.system.read"}}
	nobody  = authz.Principal{Kind: authz.User, ID: "01930000-0000-7000-8000-00000000000d"}
	visitor = authz.Principal{Rules: []string{"maintenance.maintenance.read", "catalog.system.read"}}
	guest   = authz.Principal{}
)

const unknown = "018f0000-0000-7000-8000-000000000000"

// people knows the authors of the fixture.
type people struct{}

func (people) Names(_ context.Context, ids []string) (map[string]string, error) {
	all := map[string]string{manager.ID: "Ann Example", robot.ID: "Deploy robot"}
	out := map[string]string{}
	for _, id := range ids {
		if name, ok := all[id]; ok {
			out[id] = name
		}
	}
	return out, nil
}

// signalBook remembers signals.
type signalBook struct {
	mu   sync.Mutex
	list []event.Signal
}

func (b *signalBook) Publish(_ context.Context, s event.Signal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, s)
}

// taken gives the actions of the signals since it was asked last.
func (b *signalBook) taken() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, s := range b.list {
		out = append(out, s.Payload.(updatedSignal).Action)
	}
	b.list = nil
	return strings.Join(out, " ")
}

// wallClock is a clock that a test moves.
type wallClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *wallClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *wallClock) set(t *testing.T, rfc3339 string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = at
}

func (c *wallClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type bundle struct {
	t       *testing.T
	db      *db.DB
	svc     *Service
	catalog *catalog.Service
	signals *signalBook
	clock   *wallClock
	ops     map[string]operation.Operation
}

func setup(t *testing.T, d *db.DB) *bundle {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	client := jobs.New(d, log)
	if err := client.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := client.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return replica(t, d, client)
}

// replica makes a service on d, as a process of its own would have it.
func replica(t *testing.T, d *db.DB, client *jobs.Client) *bundle {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	bus := event.NewBus(client, log)
	b := &bundle{t: t, db: d, signals: &signalBook{}, clock: &wallClock{}, ops: map[string]operation.Operation{}}
	b.clock.set(t, "2026-03-01T12:00:00Z")
	b.catalog = catalog.New(d, event.New(d, log), bus, log)
	b.svc = New(Deps{DB: d, Bus: bus, Signals: b.signals, Systems: b.catalog, Authors: people{}, Log: log})
	b.svc.now = b.clock.Now
	for _, op := range b.svc.Operations() {
		b.ops[strings.TrimPrefix(op.Declaration().ID, "maintenance.")] = op
	}
	return b
}

// call runs an operation as p, as a request would.
func (b *bundle) call(p authz.Principal, id, input string) (map[string]any, error) {
	b.t.Helper()
	op := b.ops[id]
	if op == nil {
		b.t.Fatalf("there is no operation %s", id)
	}
	out, err := op.CallJSON(authz.With(b.t.Context(), p), json.RawMessage(input))
	if err != nil {
		return nil, err
	}
	return decode(b.t, out), nil
}

func decode(t *testing.T, v any) map[string]any {
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

func (b *bundle) must(id, format string, args ...any) map[string]any {
	b.t.Helper()
	return b.done(id, fmt.Sprintf(format, args...))
}

// done runs an operation as a manager and expects no fault.
func (b *bundle) done(id, input string) map[string]any {
	b.t.Helper()
	out, err := b.call(manager, id, input)
	if err != nil {
		b.t.Fatalf("%s %s: %v", id, input, err)
	}
	return out
}

func (b *bundle) tick() {
	b.t.Helper()
	if err := b.svc.Tick(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// system makes a system and gives its id.
func (b *bundle) system(name string) string {
	b.t.Helper()
	sys, err := b.catalog.CreateSystem(b.t.Context(), catalog.Fields{Name: name})
	if err != nil {
		b.t.Fatal(err)
	}
	return sys.ID
}

// plan makes a maintenance and gives its id.
func (b *bundle) plan(title, startAt, endAt string, systemIDs ...string) string {
	b.t.Helper()
	return b.must("createMaintenance", `{"title":%q,"startAt":%q,"endAt":%q,"systemIds":["%s"]}`, title, startAt, endAt, strings.Join(systemIDs, `","`))["id"].(string)
}

func (b *bundle) get(id string) map[string]any {
	b.t.Helper()
	return b.must("getMaintenance", `{"id":%q}`, id)
}

// timeline gives the updates of a maintenance as "status message".
func (b *bundle) timeline(id string) string {
	b.t.Helper()
	var out []string
	for _, u := range list(b.get(id), "updates") {
		line := u["message"].(string)
		if s, ok := u["statusChange"].(string); ok {
			line = s + ": " + line
		}
		out = append(out, line)
	}
	return strings.Join(out, " | ")
}

func list(m map[string]any, key string) []map[string]any {
	items, _ := m[key].([]any)
	out := make([]map[string]any, len(items))
	for i, v := range items {
		out[i], _ = v.(map[string]any)
	}
	return out
}

func fields(rows []map[string]any, key string) string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = fmt.Sprint(r[key])
	}
	return strings.Join(out, ", ")
}

// issue gives the message of the fault at path, empty when there is none.
func issue(err error, path string) string {
	p, ok := problem.As(err)
	if !ok {
		return ""
	}
	for _, is := range p.Issues {
		if is.Path == path {
			return is.Message
		}
	}
	return ""
}

func isKind(err error, kind problem.Kind) bool {
	return (kind == 0 && err == nil) || problem.Is(err, kind)
}
