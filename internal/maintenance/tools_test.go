package maintenance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func (b *bundle) tool(name string) tool.Tool {
	b.t.Helper()
	for _, t := range b.svc.Tools() {
		if t.Name() == "maintenance."+name {
			return t
		}
	}
	b.t.Fatalf("there is no tool %s", name)
	return tool.Tool{}
}

func (b *bundle) preview(name, input string) (tool.Dry, error) {
	b.t.Helper()
	return b.tool(name).Preview(authz.With(b.t.Context(), manager), json.RawMessage(input))
}

// applied runs a change as a confirmed proposal does: with the payload of its
// preview.
func (b *bundle) applied(name, input string) map[string]any {
	b.t.Helper()
	dry, err := b.preview(name, input)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, input, err)
	}
	out, err := b.tool(name).Run(authz.With(b.t.Context(), manager), dry.Payload)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, dry.Payload, err)
	}
	return decode(b.t, out)
}

func diffText(d []tool.Change) string {
	var out []string
	for _, c := range d {
		out = append(out, fmt.Sprintf("%s %s→%s", c.Path, c.Before, c.After))
	}
	return strings.Join(out, "; ")
}

func TestToolList(t *testing.T) {
	t.Parallel()
	want := map[string]tool.Effect{"list": tool.Read, "get": tool.Read, "create": tool.Mutate, "update": tool.Mutate, "addUpdate": tool.Mutate,
		"close": tool.Mutate, "addLink": tool.Mutate, "removeLink": tool.Destructive, "delete": tool.Destructive}
	tools := New(Deps{}).Tools()
	if _, err := tool.NewRegistry(tools); err != nil {
		t.Fatal(err)
	}
	for _, tl := range tools {
		name := strings.TrimPrefix(tl.Name(), "maintenance.")
		rule := Manage
		if want[name] == tool.Read {
			rule = Read
		}
		if tl.Effect() != want[name] || len(tl.Access()) != 1 || tl.Access()[0] != rule {
			t.Errorf("%s: effect %s, rules %v", name, tl.Effect(), tl.Access())
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// TestToolPreviews: a preview tells everything and writes nothing.
func TestToolPreviews(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s, other := b.system("Payments API"), b.system("Shop")
		id := b.plan("Upgrade", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", s)
		link := b.must("addLink", `{"maintenanceId":%q,"label":"Ticket","url":"https://tickets.example.com/1"}`, id)["id"].(string)
		repeats := b.must("createMaintenance", `{"title":"Weekly",`+window+`,"systemIds":[%q],"recurrence":{"rule":"FREQ=WEEKLY","timeZone":"UTC"}}`, s)["id"].(string)
		rows := []struct{ tool, input, summary, diff string }{
			{"create", `{"title":" Reindex ","startAt":"2026-03-05T22:00:00+01:00","endAt":"2026-03-05T23:30:00+01:00","systemIds":["` + s + `"]}`,
				`Plan maintenance "Reindex" on Payments API, 2026-03-05T21:00:00Z to 2026-03-05T22:30:00Z`, ""},
			{"create", `{"title":"Reindex","startAt":"2026-03-28T02:30:00+01:00","endAt":"2026-03-28T03:30:00+01:00","systemIds":["` + s + `"],"suppressNotifications":true,"recurrence":{"rule":"freq=daily","timeZone":"europe/berlin"}}`,
				`Plan maintenance "Reindex" on Payments API, 2026-03-28T01:30:00Z to 2026-03-28T02:30:00Z, repeating every day at 02:30 in Europe/Berlin (2026-03-28T02:30:00+01:00, 2026-03-29T03:30:00+02:00, 2026-03-30T02:30:00+02:00, …); health notifications are kept back meanwhile`, ""},
			{"update", `{"id":"ID","endAt":"2026-03-02T13:30:00+01:00"}`, `Update maintenance "Upgrade", 2026-03-02T10:00:00Z to 2026-03-02T12:30:00Z`,
				`endAt "2026-03-02T11:00:00Z"→"2026-03-02T12:30:00Z"`},
			{"update", `{"id":"ID","title":"New","description":"Why","systemIds":["` + s + `","` + other + `"]}`, `Update maintenance "Upgrade"`,
				`description null→"Why"; systems[1] →"Shop"; title "Upgrade"→"New"`},
			{"update", `{"id":"ID","status":"cancelled"}`, `Cancel maintenance "Upgrade" on Payments API`, `status "scheduled"→"cancelled"`},
			{"update", `{"id":"` + repeats + `","title":"Once"}`, `Update maintenance "Weekly" (only this occurrence of its series)`, `title "Weekly"→"Once"`},
			{"addUpdate", `{"maintenanceId":"ID","message":"Half way","audience":"internal"}`, `Add an update to maintenance "Upgrade" (internal)`, ""},
			{"addUpdate", `{"maintenanceId":"ID","message":"We begin","statusChange":"in_progress"}`, `Add an update to maintenance "Upgrade" and start it`, `status "scheduled"→"in_progress"`},
			{"close", `{"id":"ID","message":"All done"}`, `Complete maintenance "Upgrade" on Payments API early`, `status "scheduled"→"completed"`},
			{"addLink", `{"maintenanceId":"ID","label":"Chat","url":"https://chat.example.com"}`, `Add link "Chat" to maintenance "Upgrade"`, ""},
			{"removeLink", `{"maintenanceId":"ID","id":"` + link + `"}`, `Remove link "Ticket" from maintenance "Upgrade"`,
				`link {"id":"` + link + `","label":"Ticket","url":"https://tickets.example.com/1"}→`},
			{"delete", `{"id":"` + repeats + `"}`, `Delete scheduled maintenance "Weekly" on Payments API, with its 0 updates and 0 links; the other occurrences of its series stay`, "maintenance"},
		}
		before := b.dump()
		for _, r := range rows {
			dry, err := b.preview(r.tool, strings.ReplaceAll(r.input, "ID", id))
			if err != nil {
				t.Errorf("%s %s: %v", r.tool, r.input, err)
				continue
			}
			if got := diffText(dry.Diff); dry.Summary != r.summary || (got != r.diff && (r.diff != "maintenance" || !strings.HasPrefix(got, r.diff))) {
				t.Errorf("%s:\n got %s\n     %s\nwant %s\n     %s", r.tool, dry.Summary, got, r.summary, r.diff)
			}
		}
		refusals := []struct {
			tool, input string
			kind        problem.Kind
		}{
			{"update", `{"id":"ID","title":"Upgrade"}`, problem.KindInvalid},
			{"update", `{"id":"` + unknown + `","title":"X"}`, problem.KindNotFound},
			{"update", `{"id":"ID","systemIds":[]}`, problem.KindInvalid},
			{"update", `{"id":"ID","systemIds":["` + unknown + `"]}`, problem.KindInvalid},
			{"update", `{"id":"ID","endAt":"2026-03-02T09:00:00Z"}`, problem.KindInvalid},
			{"create", `{"title":"X",` + window + `,"systemIds":["` + unknown + `"]}`, problem.KindInvalid},
			{"create", `{"title":"X",` + window + `,"systemIds":["` + s + `"],"recurrence":{"rule":"FREQ=DAILY","timeZone":"Europe/Berlni"}}`, problem.KindInvalid},
			{"addUpdate", `{"maintenanceId":"ID","message":" "}`, problem.KindInvalid},
			{"addLink", `{"maintenanceId":"ID","label":"x","url":"file:///etc/passwd"}`, problem.KindInvalid},
			{"removeLink", `{"maintenanceId":"ID","id":"` + unknown + `"}`, problem.KindNotFound},
			{"delete", `{"id":"` + unknown + `"}`, problem.KindNotFound},
		}
		for _, r := range refusals {
			if dry, err := b.preview(r.tool, strings.ReplaceAll(r.input, "ID", id)); !problem.Is(err, r.kind) {
				t.Errorf("%s %s: %v %v, want kind %v", r.tool, r.input, dry.Summary, err, r.kind)
			}
		}
		if after := b.dump(); after != before {
			t.Errorf("previews wrote:\n%s\n%s", before, after)
		}
	})
}

func (b *bundle) dump() string {
	b.t.Helper()
	var out strings.Builder
	for _, table := range []string{"maintenances", "maintenance_systems", "maintenance_updates", "maintenance_links", "maintenance_series"} {
		var n int
		var versions *int
		if err := b.db.Read.NewRaw("SELECT count(*) FROM ?", bun.Ident(table)).Scan(b.t.Context(), &n); err != nil {
			b.t.Fatal(err)
		}
		if err := b.db.Read.NewRaw("SELECT CAST(sum(version) AS BIGINT) FROM maintenances").Scan(b.t.Context(), &versions); err != nil {
			b.t.Fatal(err)
		}
		fmt.Fprintln(&out, table, n, value(versions))
	}
	return out.String()
}

// TestToolApply: what was confirmed is what is done, unless the thing has moved.
func TestToolApply(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s := b.system("Payments API")
		id := b.applied("create", `{"title":"Reindex","startAt":"2026-03-05T22:00:00+01:00","endAt":"2026-03-05T23:30:00+01:00","systemIds":["`+s+`"]}`)["id"].(string)
		b.applied("update", `{"id":"`+id+`","endAt":"2026-03-06T00:00:00+01:00","description":"x"}`)
		b.applied("update", `{"id":"`+id+`","description":""}`)
		if m := b.get(id); m["endAt"] != "2026-03-05T23:00:00Z" || m["description"] != nil {
			t.Errorf("updated: %v", m)
		}
		dry, err := b.preview("update", `{"id":"`+id+`","title":"Late"}`)
		if err != nil {
			t.Fatal(err)
		}
		b.must("updateMaintenance", `{"id":%q,"title":"Faster"}`, id)
		if _, err := b.tool("update").Run(authz.With(t.Context(), manager), dry.Payload); !problem.Is(err, problem.KindConflict) {
			t.Errorf("apply of what has moved: %v", err)
		}
		if _, err := b.tool("update").Run(authz.With(t.Context(), reader), dry.Payload); !problem.Is(err, problem.KindForbidden) {
			t.Errorf("apply without the rule: %v", err)
		}
		dry, err = b.preview("addUpdate", `{"maintenanceId":"`+id+`","message":"Off","statusChange":"cancelled"}`)
		if err != nil {
			t.Fatal(err)
		}
		moved := b.plan("Moved", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", s)
		onMoved := json.RawMessage(strings.ReplaceAll(string(dry.Payload), id, moved))
		b.must("updateMaintenance", `{"id":%q,"status":"in_progress"}`, moved)
		if _, err := b.tool("addUpdate").Run(authz.With(t.Context(), manager), onMoved); !problem.Is(err, problem.KindConflict) || b.get(moved)["status"] != "in_progress" {
			t.Errorf("cancelling what has started meanwhile: %v", err)
		}
		b.must("deleteMaintenance", `{"id":%q}`, moved)
		link := b.applied("addLink", `{"maintenanceId":"`+id+`","label":"Chat","url":"https://chat.example.com"}`)["id"].(string)
		b.applied("addUpdate", `{"maintenanceId":"`+id+`","message":"We begin","statusChange":"in_progress"}`)
		b.applied("removeLink", `{"maintenanceId":"`+id+`","id":"`+link+`"}`)
		b.applied("close", `{"id":"`+id+`"}`)
		if got := b.timeline(id); got != "in_progress: We begin | completed: Maintenance completed early" {
			t.Errorf("timeline: %s", got)
		}
		repeating := b.applied("create", `{"title":"Weekly","startAt":"2026-03-05T22:00:00+01:00","endAt":"2026-03-05T23:30:00+01:00","systemIds":["`+s+`"],"recurrence":{"rule":"FREQ=WEEKLY;COUNT=3","timeZone":"Europe/Berlin"}}`)
		out, err := b.tool("get").Run(authz.With(t.Context(), reader), json.RawMessage(`{"id":"`+repeating["id"].(string)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if lean := decode(t, b.tool("get").Lean(out)); lean["repeats"] != "every week on Thursday, 3 times in Europe/Berlin" {
			t.Errorf("get: %v", lean)
		}
		out, err = b.tool("list").Run(authz.With(t.Context(), visitor), json.RawMessage(`{"open":true,"sortOrder":"asc"}`))
		if err != nil {
			t.Fatal(err)
		}
		if lean := decode(t, b.tool("list").Lean(out)); fields(list(lean, "maintenances"), "startAt") != "2026-03-05T21:00:00Z, 2026-03-12T21:00:00Z, 2026-03-19T21:00:00Z" {
			t.Errorf("list: %v", lean)
		}
		b.applied("delete", `{"id":"`+id+`"}`)
	})
}
