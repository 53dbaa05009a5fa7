package incident_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/incident"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

var (
	manager = authz.Principal{Kind: authz.User, ID: "01930000-0000-7000-8000-00000000000a", Rules: []string{"incident.incident.manage", "catalog.system.manage"}}
	robot   = authz.Principal{Kind: authz.Application, ID: "01930000-0000-7000-8000-00000000000b", Rules: manager.Rules}
	reader  = authz.Principal{Kind: authz.User, ID: "01930000-0000-7000-8000-00000000000c", Rules: []string{"incident.incident.read", "catalog.system.read"}}
	nobody  = authz.Principal{Kind: authz.User, ID: "01930000-0000-7000-8000-00000000000d"}
	visitor = authz.Principal{Rules: []string{"incident.incident.read", "catalog.system.read"}}
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

// healthBook remembers what health was told, as far as it was committed.
type healthBook struct {
	mu    sync.Mutex
	calls []string
	fail  error
}

func (h *healthBook) SetOverride(ctx context.Context, tx bun.Tx, o incident.Override) error {
	if _, err := tx.NewRaw("SELECT 1").Exec(ctx); err != nil { // it must be in the transaction
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil {
		return h.fail
	}
	h.calls = append(h.calls, fmt.Sprintf("%s=%s on %d", o.Title, o.Level, len(o.SystemIDs)))
	return nil
}

// told gives what health was told since it was asked last.
func (h *healthBook) told() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.calls
	h.calls = nil
	return out
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

func (b *signalBook) taken() []event.Signal {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.list
	b.list = nil
	return out
}

type bundle struct {
	t       *testing.T
	db      *db.DB
	svc     *incident.Service
	catalog *catalog.Service
	health  *healthBook
	signals *signalBook
	ops     map[string]operation.Operation
	tools   *tool.Registry
	seen    int64 // the last event that was looked at
}

func setup(t *testing.T, d *db.DB) *bundle {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	client := jobs.New(d, log)
	if err := client.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	bus := event.NewBus(client, log)
	event.Subscribe(bus, incident.CreatedTopic, "test.created", func(context.Context, event.Event[incident.CreatedEvent]) error { return nil })
	event.Subscribe(bus, incident.UpdatedTopic, "test.updated", func(context.Context, event.Event[incident.UpdatedEvent]) error { return nil })
	event.Subscribe(bus, incident.ResolvedTopic, "test.resolved", func(context.Context, event.Event[incident.ResolvedEvent]) error { return nil })
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := client.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	b := &bundle{t: t, db: d, health: &healthBook{}, signals: &signalBook{}, ops: map[string]operation.Operation{}}
	b.catalog = catalog.New(d, event.New(d, log), bus, log)
	b.svc = incident.New(incident.Deps{DB: d, Bus: bus, Signals: b.signals, Systems: b.catalog, Health: b.health, Authors: people{}, Log: log})
	for _, op := range b.svc.Operations() {
		b.ops[op.Declaration().ID] = op
	}
	var err error
	if b.tools, err = tool.NewRegistry(b.svc.Tools()); err != nil {
		t.Fatal(err)
	}
	return b
}

// call runs an operation as p, as a request would.
func (b *bundle) call(p authz.Principal, id, input string) (map[string]any, error) {
	b.t.Helper()
	op := b.ops["incident."+id]
	if op == nil {
		b.t.Fatalf("there is no operation %s", id)
	}
	out, err := op.CallJSON(authz.With(b.t.Context(), p), json.RawMessage(input))
	if err != nil {
		return nil, err
	}
	return b.decode(out), nil
}

func (b *bundle) decode(v any) map[string]any {
	b.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		b.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		b.t.Fatal(err)
	}
	return m
}

func (b *bundle) must(id, input string) map[string]any {
	b.t.Helper()
	out, err := b.call(manager, id, input)
	if err != nil {
		b.t.Fatalf("%s %s: %v", id, input, err)
	}
	return out
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

// open makes an incident and gives its id.
func (b *bundle) open(title string, systemIDs ...string) string {
	b.t.Helper()
	return b.must("createIncident", `{"title":"`+title+`","severity":"major","systemIds":["`+strings.Join(systemIDs, `","`)+`"]}`)["id"].(string)
}

// events gives the durable events since the last time, as "topic payload".
func (b *bundle) events() []string {
	b.t.Helper()
	var rows []struct {
		ID   int64
		Args string
	}
	args := "args"
	if !b.db.Postgres() {
		args = "json(args)" // SQLite keeps it in a binary form
	}
	if err := b.db.Read.NewRaw("SELECT id, ? AS args FROM river_job WHERE kind = 'event' AND id > ? ORDER BY id", bun.Safe(args), b.seen).Scan(b.t.Context(), &rows); err != nil {
		b.t.Fatal(err)
	}
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		b.seen = r.ID
		var d struct {
			Topic   string
			Payload map[string]any
		}
		if err := json.Unmarshal([]byte(r.Args), &d); err != nil {
			b.t.Fatal(err)
		}
		text := d.Topic
		for _, key := range []string{"severity", "status", "statusChange", "previousStatus", "audience"} {
			if v, ok := d.Payload[key]; ok {
				text += fmt.Sprintf(" %s=%v", key, v)
			}
		}
		out = append(out, text)
	}
	return out
}

// setupFuzz gives a service on an empty database.
func setupFuzz(f *testing.F) *incident.Service {
	f.Helper()
	d, log := dbtest.SQLite(f), slog.New(slog.DiscardHandler)
	bus := event.NewBus(jobs.New(d, log), log)
	return incident.New(incident.Deps{DB: d, Bus: bus, Signals: &signalBook{}, Systems: catalog.New(d, event.New(d, log), bus, log), Health: &healthBook{}, Authors: people{}, Log: log})
}

func isKind(err error, kind problem.Kind) bool {
	return (kind == 0 && err == nil) || problem.Is(err, kind)
}

func list(m map[string]any, key string) []map[string]any {
	items, _ := m[key].([]any)
	out := make([]map[string]any, len(items))
	for i, v := range items {
		out[i], _ = v.(map[string]any)
	}
	return out
}

func titles(m map[string]any, key string) string {
	var out []string
	for _, v := range list(m, key) {
		out = append(out, v["title"].(string))
	}
	return strings.Join(out, ", ")
}
