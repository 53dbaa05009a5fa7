package catalog_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

var (
	manager = authz.Principal{Kind: authz.User, ID: "m", Rules: []string{"catalog.system.manage", "catalog.group.manage"}}
	reader  = authz.Principal{Kind: authz.User, ID: "r", Rules: []string{"catalog.system.read", "catalog.group.read"}}
	nobody  = authz.Principal{Kind: authz.User, ID: "n"}
	guest   = authz.Principal{}
)

type bundle struct {
	svc  *catalog.Service
	set  *operation.Set
	hub  *event.Signals
	jobs *jobs.Client
	bus  *event.Bus
	call func(p authz.Principal, id, input string) (map[string]any, error)
}

func setup(t *testing.T, d *db.DB) *bundle {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	b := &bundle{hub: event.New(d, log), jobs: jobs.New(d, log)}
	b.bus = event.NewBus(b.jobs, log)
	b.svc = catalog.New(d, b.hub, b.bus, log)
	b.set = operation.NewSet(b.svc.Operations())
	ops := map[string]operation.Operation{}
	for _, op := range b.set.All() {
		ops[op.Declaration().ID] = op
	}
	b.call = func(p authz.Principal, id, input string) (map[string]any, error) {
		out, err := ops["catalog."+id].CallJSON(authz.With(t.Context(), p), json.RawMessage(input))
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		return m, nil
	}
	return b
}

func (b *bundle) must(t *testing.T, id, input string) map[string]any {
	t.Helper()
	out, err := b.call(manager, id, input)
	if err != nil {
		t.Fatalf("%s %s: %v", id, input, err)
	}
	return out
}

const unknown = "018f0000-0000-7000-8000-000000000000"

func TestEveryOperationsAnswers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.must(t, "createSystem", `{"name":"  Payments API ","description":" ","metadata":{"tier":1}}`)
		if sys["name"] != "Payments API" || sys["description"] != nil {
			t.Errorf("created %v, want the name trimmed and a blank description absent", sys)
		}
		group := b.must(t, "createGroup", `{"name":"Core"}`)
		sid, gid := sys["id"].(string), group["id"].(string)
		link := b.must(t, "addSystemLink", `{"systemId":"`+sid+`","label":"Runbook","url":"https://wiki.example.com/x"}`)

		rows := []struct {
			name  string
			as    authz.Principal
			op    string
			input string
			kind  problem.Kind // zero: succeeds
			issue string
		}{
			{"anonymous without the public rule", guest, "getSystems", `{}`, problem.KindForbidden, ""},
			{"wrong role", nobody, "getSystems", `{}`, problem.KindForbidden, ""},
			{"right role", reader, "getSystems", `{}`, 0, ""},
			{"manage includes read", manager, "getSystems", `{}`, 0, ""},
			{"unknown field", reader, "getSystems", `{"q":"x"}`, problem.KindInvalid, "q"},
			{"entities", reader, "getEntities", ``, 0, ""},
			{"one system", reader, "getSystem", `{"systemId":"` + sid + `"}`, 0, ""},
			{"not a uuid", reader, "getSystem", `{"systemId":"Payments API"}`, problem.KindInvalid, "systemId"},
			{"not found", reader, "getSystem", `{"systemId":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"groups", reader, "getGroups", `null`, 0, ""},
			{"groups of a system", reader, "getSystemGroups", `{"systemId":"` + sid + `"}`, 0, ""},
			{"create: anonymous", guest, "createSystem", `{"name":"x"}`, problem.KindUnauthenticated, ""},
			{"create: reader", reader, "createSystem", `{"name":"x"}`, problem.KindForbidden, ""},
			{"create: missing name", manager, "createSystem", `{}`, problem.KindInvalid, "name"},
			{"create: wrong type", manager, "createSystem", `{"name":5}`, problem.KindInvalid, "name"},
			{"create: blank name", manager, "createSystem", `{"name":"   "}`, problem.KindInvalid, "name"},
			{"create: 10,000 characters", manager, "createSystem", `{"name":"` + strings.Repeat("a", 10000) + `"}`, problem.KindInvalid, "name"},
			{"create: NUL", manager, "createSystem", `{"name":"a\u0000b"}`, problem.KindInvalid, "name"},
			{"create: direction override", manager, "createSystem", `{"name":"a\u202eb"}`, problem.KindInvalid, "name"},
			{"create: not JSON", manager, "createSystem", `{"name":`, problem.KindInvalid, ""},
			{"update: not found", manager, "updateSystem", `{"id":"` + unknown + `","data":{}}`, problem.KindNotFound, ""},
			{"update: reader", reader, "updateSystem", `{"id":"` + sid + `","data":{}}`, problem.KindForbidden, ""},
			{"update: blank", manager, "updateSystem", `{"id":"` + sid + `","data":{"name":" "}}`, problem.KindInvalid, "data.name"},
			{"update: stale", manager, "updateSystem", `{"id":"` + sid + `","version":99,"data":{"name":"y"}}`, problem.KindConflict, ""},
			{"link: javascript", manager, "addSystemLink", `{"systemId":"` + sid + `","label":"x","url":"javascript:alert(1)"}`, problem.KindInvalid, "url"},
			{"link: credentials", manager, "addSystemLink", `{"systemId":"` + sid + `","label":"x","url":"https://u:p@example.com"}`, problem.KindInvalid, "url"},
			{"link: unknown system", manager, "addSystemLink", `{"systemId":"` + unknown + `","label":"x","url":"https://example.com"}`, problem.KindNotFound, ""},
			{"member: unknown group", manager, "addSystemToGroup", `{"groupId":"` + unknown + `","systemId":"` + sid + `"}`, problem.KindNotFound, ""},
			{"member: unknown system", manager, "addSystemToGroup", `{"groupId":"` + gid + `","systemId":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"member", manager, "addSystemToGroup", `{"groupId":"` + gid + `","systemId":"` + sid + `"}`, 0, ""},
			{"member again", manager, "addSystemToGroup", `{"groupId":"` + gid + `","systemId":"` + sid + `"}`, 0, ""},
			{"member out", manager, "removeSystemFromGroup", `{"groupId":"` + gid + `","systemId":"` + sid + `"}`, 0, ""},
			{"group update", manager, "updateGroup", `{"id":"` + gid + `","data":{"description":"all of it"}}`, 0, ""},
			{"group update: not found", manager, "updateGroup", `{"id":"` + unknown + `","data":{}}`, problem.KindNotFound, ""},
			{"link: of another system", manager, "removeSystemLink", `{"systemId":"` + unknown + `","id":"` + link["id"].(string) + `"}`, problem.KindNotFound, ""},
			{"link out", manager, "removeSystemLink", `{"systemId":"` + sid + `","id":"` + link["id"].(string) + `"}`, 0, ""},
			{"group delete", manager, "deleteGroup", `{"id":"` + gid + `"}`, 0, ""},
			{"group delete again", manager, "deleteGroup", `{"id":"` + gid + `"}`, problem.KindNotFound, ""},
			{"delete: reader", reader, "deleteSystem", `{"id":"` + sid + `"}`, problem.KindForbidden, ""},
			{"delete", manager, "deleteSystem", `{"id":"` + sid + `"}`, 0, ""},
			{"delete again", manager, "deleteSystem", `{"id":"` + sid + `"}`, problem.KindNotFound, ""},
		}
		for _, r := range rows {
			_, err := b.call(r.as, r.op, r.input)
			if r.kind == 0 {
				if err != nil {
					t.Errorf("%s: %v", r.name, err)
				}
				continue
			}
			e, ok := problem.As(err)
			if !ok || e.Kind != r.kind {
				t.Errorf("%s: got %v, want kind %d", r.name, err, r.kind)
				continue
			}
			if r.issue != "" && (len(e.Issues) == 0 || e.Issues[0].Path != r.issue) {
				t.Errorf("%s: issues %v, want one at %s", r.name, e.Issues, r.issue)
			}
		}
	})
}

func TestUpdateClearsAndKeeps(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.must(t, "createSystem", `{"name":"A","description":"d","metadata":{"k":"v","big":9007199254740991}}`)
		id := sys["id"].(string)
		same := b.must(t, "updateSystem", `{"id":"`+id+`","data":{"name":"B"}}`)
		if same["description"] != "d" || same["metadata"].(map[string]any)["k"] != "v" || same["version"].(float64) != 2 {
			t.Errorf("a change of the name changed more: %v", same)
		}
		cleared := b.must(t, "updateSystem", `{"id":"`+id+`","data":{"description":null,"metadata":null}}`)
		if cleared["description"] != nil || len(cleared["metadata"].(map[string]any)) != 0 || cleared["name"] != "B" {
			t.Errorf("null must clear: %v", cleared)
		}
	})
}

func TestSearchTakesWildcardsLiterally(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		for _, n := range []string{"100% API", "100 API", "a_b!", "aXb!"} {
			b.must(t, "createSystem", `{"name":"`+n+`"}`)
		}
		for query, want := range map[string]int{"100%": 1, "API": 2, "a_b": 1, "b!": 2, "": 4} {
			out := b.must(t, "getSystems", `{"query":"`+query+`"}`)
			if got := len(out["systems"].([]any)); got != want {
				t.Errorf("%q finds %d, want %d", query, got, want)
			}
		}
	})
}

func TestToolsProposeWithoutChanging(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		tools := b.svc.Tools(func(context.Context, string) ([]string, error) { return []string{`health check "HTTP"`}, nil })
		reg, err := tool.NewRegistry(tools)
		if err != nil {
			t.Fatal(err)
		}
		ctx := authz.With(t.Context(), manager)
		get := func(name string) tool.Tool {
			tl, ok := reg.Get(name)
			if !ok {
				t.Fatalf("no tool %s", name)
			}
			return tl
		}
		create := get("catalog_createSystem")
		dry, err := create.Preview(ctx, json.RawMessage(`{"name":" A "}`))
		if err != nil {
			t.Fatal(err)
		}
		if dry.Summary != `Create system "A"` || dry.Diff != nil {
			t.Errorf("got %+v", dry)
		}
		if n := len(b.must(t, "getSystems", `{}`)["systems"].([]any)); n != 0 {
			t.Fatalf("the dry run created %d systems", n)
		}
		if _, err := create.Preview(ctx, json.RawMessage(`{"name":"","extra":1}`)); !problem.Is(err, problem.KindInvalid) {
			t.Errorf("got %v", err)
		}
		if _, err := create.Run(ctx, dry.Payload); err != nil {
			t.Fatal(err)
		}
		id := b.must(t, "getSystems", `{}`)["systems"].([]any)[0].(map[string]any)["id"].(string)

		update := get("catalog.updateSystem")
		dry, err = update.Preview(ctx, json.RawMessage(`{"id":"`+id+`","name":"B"}`))
		if err != nil {
			t.Fatal(err)
		}
		if len(dry.Diff) != 1 || dry.Diff[0].Path != "name" || string(dry.Diff[0].After) != `"B"` {
			t.Errorf("diff %v", dry.Diff)
		}
		b.must(t, "updateSystem", `{"id":"`+id+`","data":{"name":"C"}}`)
		if _, err := update.Run(ctx, dry.Payload); !problem.Is(err, problem.KindConflict) {
			t.Errorf("FC-057: a stale update must be refused, got %v", err)
		}
		if _, err := update.Preview(ctx, dry.Payload); !problem.Is(err, problem.KindConflict) {
			t.Errorf("FC-057: the dry run must see that the object moved, got %v", err)
		}
		dry, err = get("catalog.deleteSystem").Preview(ctx, json.RawMessage(`{"id":"`+id+`"}`))
		if err != nil || dry.Summary != `Delete system "C", and with it health check "HTTP"` {
			t.Errorf("%q, %v", dry.Summary, err)
		}
		if _, err := get("catalog.deleteSystem").Run(authz.With(ctx, reader), dry.Payload); !problem.Is(err, problem.KindForbidden) {
			t.Errorf("the handler must check again, got %v", err)
		}
	})
}

// A list that is kept in memory must never hide a change, whoever made it.
func TestListsShowEveryChangeAtOnce(t *testing.T) {
	t.Parallel()
	url := dbtest.PostgresURL(t)
	open := func() *bundle {
		d, err := db.Open(t.Context(), db.Options{URL: url, MaxOpenConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		if err := d.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		return setup(t, d)
	}
	a, b := open(), open()
	list := func() string {
		t.Helper()
		onA, err := json.Marshal(a.must(t, "getEntities", `{}`))
		if err != nil {
			t.Fatal(err)
		}
		onB, err := json.Marshal(b.must(t, "getEntities", `{}`))
		if err != nil {
			t.Fatal(err)
		}
		if string(onA) != string(onB) {
			t.Fatalf("replicas differ:\n%s\n%s", onA, onB)
		}
		return string(onA)
	}
	before := list()
	sid := a.must(t, "createSystem", `{"name":"A"}`)["id"].(string)
	gid := b.must(t, "createGroup", `{"name":"G"}`)["id"].(string)
	link := b.must(t, "addSystemLink", `{"systemId":"`+sid+`","label":"L","url":"https://example.com"}`)["id"].(string)
	for _, step := range []struct{ op, input string }{
		{"updateSystem", `{"id":"` + sid + `","data":{"name":"B"}}`},
		{"addSystemToGroup", `{"groupId":"` + gid + `","systemId":"` + sid + `"}`},
		{"updateGroup", `{"id":"` + gid + `","data":{"name":"H"}}`},
		{"removeSystemFromGroup", `{"groupId":"` + gid + `","systemId":"` + sid + `"}`},
		{"removeSystemLink", `{"systemId":"` + sid + `","id":"` + link + `"}`},
		{"deleteGroup", `{"id":"` + gid + `"}`},
		{"deleteSystem", `{"id":"` + sid + `"}`},
	} {
		was := list()
		a.must(t, step.op, step.input)
		if now := list(); now == was {
			t.Errorf("%s does not show", step.op)
		}
		a, b = b, a
	}
	if after := list(); after != before {
		t.Errorf("after undoing everything:\n%s\n%s", before, after)
	}
}

// TestDeletionsAreEvents: others learn what is gone and what it was called, once
// it really is gone.
func TestDeletionsAreEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		got := make(chan any, 10)
		event.Subscribe(b.bus, catalog.SystemDeleted, "test.system", func(_ context.Context, e event.Event[catalog.SystemDeletedPayload]) error {
			got <- e.Payload
			return nil
		})
		event.Subscribe(b.bus, catalog.GroupDeleted, "test.group", func(_ context.Context, e event.Event[catalog.GroupDeletedPayload]) error {
			got <- e.Payload
			return nil
		})
		if err := b.jobs.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.jobs.Stop(context.Background()) })
		sys := b.must(t, "createSystem", `{"name":"Shop"}`)["id"].(string)
		group := b.must(t, "createGroup", `{"name":"Web"}`)["id"].(string)
		if _, err := b.call(manager, "deleteSystem", `{"id":"`+group+`"}`); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("got %v", err)
		}
		for _, step := range []struct {
			op, id string
			want   any
		}{
			{"deleteSystem", sys, catalog.SystemDeletedPayload{SystemID: sys, SystemName: "Shop"}},
			{"deleteGroup", group, catalog.GroupDeletedPayload{GroupID: group, GroupName: "Web"}},
		} {
			b.must(t, step.op, `{"id":"`+step.id+`"}`)
			select {
			case e := <-got:
				if e != step.want {
					t.Errorf("got %+v, want %+v", e, step.want)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s told nobody", step.op)
			}
		}
	})
}
