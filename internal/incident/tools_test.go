package incident_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func (b *bundle) tool(name string) tool.Tool {
	b.t.Helper()
	tl, ok := b.tools.Get("incident." + name)
	if !ok {
		b.t.Fatalf("there is no tool incident.%s", name)
	}
	return tl
}

func (b *bundle) propose(name, input string) (tool.Dry, error) {
	b.t.Helper()
	return b.tool(name).Preview(authz.With(b.t.Context(), manager), json.RawMessage(input))
}

func diffOf(d tool.Dry) string {
	var s []string
	for _, c := range d.Diff {
		s = append(s, fmt.Sprintf("%s: %s → %s", c.Path, c.Before, c.After))
	}
	return strings.Join(s, "; ")
}

// TestToolsProposeWithoutChanging goes through every tool that changes
// something: what its card says, what its diff shows, that proposing leaves no
// trace and that applying does what the card said.
func TestToolsProposeWithoutChanging(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		one, two := b.system("Payments API"), b.system("Checkout")
		state := func() string {
			return fmt.Sprint(b.must("listIncidents", `{"includeResolved":true}`))
		}
		var id string
		steps := []struct {
			tool, input   string
			effect        tool.Effect
			summary, diff string
		}{
			{"create", `{"title":" Card payments fail ","severity":"critical","systemIds":["` + one + `","` + two + `"],"override":"unhealthy"}`, tool.Mutate,
				`Open critical incident "Card payments fail" on Checkout, Payments API, showing their health as unhealthy`, ""},
			{"update", `{"id":"ID","severity":"major","description":"D","override":"none","systemIds":["` + one + `"]}`, tool.Mutate,
				`Update incident "Card payments fail"`,
				`description: null → "D"; override: "unhealthy" → null; severity: "critical" → "major"; systems[0]: "Checkout" → "Payments API"; systems[1]: "Payments API" → `},
			{"update", `{"id":"ID","description":""}`, tool.Mutate, `Update incident "Card payments fail"`, `description: "D" → null`},
			{"addUpdate", `{"incidentId":"ID","message":"We see it"}`, tool.Mutate, `Add an update to incident "Card payments fail"`, ""},
			{"addUpdate", `{"incidentId":"ID","message":"Found it","statusChange":"identified","audience":"internal"}`, tool.Mutate,
				`Add an update to incident "Card payments fail" and set it to identified (internal)`, `status: "investigating" → "identified"`},
			{"resolve", `{"id":"ID","message":"Rolled back"}`, tool.Mutate, `Resolve incident "Card payments fail" on Payments API`, `status: "identified" → "resolved"`},
			{"addUpdate", `{"incidentId":"ID","message":"Again","statusChange":"fixing"}`, tool.Mutate,
				`Add an update to incident "Card payments fail" and reopen it as fixing`, `status: "resolved" → "fixing"`},
			{"addUpdate", `{"incidentId":"ID","message":"Over","statusChange":"resolved"}`, tool.Mutate,
				`Add an update to incident "Card payments fail" and resolve it`, `status: "fixing" → "resolved"`},
			{"addLink", `{"incidentId":"ID","label":"Call","url":"https://meet.example.com"}`, tool.Mutate, `Add link "Call" to incident "Card payments fail"`, ""},
			{"removeLink", `{"incidentId":"ID","id":"LINK"}`, tool.Destructive, `Remove link "Call" from incident "Card payments fail"`,
				`link: {"id":"LINK","label":"Call","url":"https://meet.example.com"} → `},
			{"delete", `{"id":"ID"}`, tool.Destructive, `Delete resolved incident "Card payments fail" on Payments API, with its 5 updates and 0 links`,
				`incident: {"description":null,"override":null,"severity":"major","status":"resolved","suppressNotifications":false,"systems":["Payments API"],"title":"Card payments fail"} → `},
		}
		for _, s := range steps {
			fill := strings.NewReplacer("ID", id).Replace
			if id != "" {
				if links := list(b.must("getIncident", `{"id":"`+id+`"}`), "links"); len(links) == 1 {
					fill = strings.NewReplacer("LINK", links[0]["id"].(string), "ID", id).Replace
				}
			}
			before := state()
			dry, err := b.propose(s.tool, fill(s.input))
			if err != nil {
				t.Fatalf("%s %s: %v", s.tool, s.input, err)
			}
			if now := state(); now != before {
				t.Errorf("proposing %s changed\n%s\nto\n%s", s.tool, before, now)
			}
			if dry.Summary != s.summary {
				t.Errorf("%s: summary %q, want %q", s.tool, dry.Summary, s.summary)
			}
			if got := diffOf(dry); got != fill(s.diff) {
				t.Errorf("%s: diff\n%s\nwant\n%s", s.tool, got, fill(s.diff))
			}
			if effect := b.tool(s.tool).Effect(); effect != s.effect {
				t.Errorf("%s is %s, want %s", s.tool, effect, s.effect)
			}
			if _, err := b.tool(s.tool).Run(authz.With(t.Context(), reader), dry.Payload); !problem.Is(err, problem.KindForbidden) {
				t.Errorf("%s by someone who may not: %v", s.tool, err)
			}
			out, err := b.tool(s.tool).Run(authz.With(t.Context(), manager), dry.Payload)
			if err != nil {
				t.Fatalf("apply %s %s: %v", s.tool, dry.Payload, err)
			}
			if id == "" {
				id = b.decode(out)["id"].(string)
			}
		}
	})
}

// TestToolsRefuse: what cannot be applied is not proposed, in words that the
// model can act on.
func TestToolsRefuse(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.SQLite(t))
	sys := b.system("S")
	id := b.open("x", sys)
	over := b.open("over", sys)
	b.must("resolveIncident", `{"id":"`+over+`"}`)
	for _, c := range []struct {
		tool, input string
		kind        problem.Kind
		says        string
	}{
		{"create", `{"title":"x","severity":"minor","systemIds":[]}`, problem.KindInvalid, "At least one system is required"},
		{"create", `{"title":"x","severity":"minor","systemIds":["Payments"]}`, problem.KindInvalid, "systemIds[0]"},
		{"create", `{"title":"x","severity":"high","systemIds":["` + sys + `"]}`, problem.KindInvalid, "severity"},
		{"update", `{"id":"` + id + `","title":"x"}`, problem.KindInvalid, "nothing would change"},
		{"update", `{"id":"` + id + `","systemIds":["` + unknown + `"]}`, problem.KindInvalid, "systemIds[0]"},
		{"update", `{"id":"` + unknown + `","title":"y"}`, problem.KindNotFound, "Incident not found"},
		{"addUpdate", `{"incidentId":"` + unknown + `","message":"y"}`, problem.KindNotFound, "Incident not found"},
		{"addUpdate", `{"incidentId":"` + id + `","message":"  "}`, problem.KindInvalid, "Message is required"},
		{"resolve", `{"id":"` + over + `"}`, problem.KindConflict, "already resolved"},
		{"resolve", `{"id":"` + id + `","message":"\u202e"}`, problem.KindInvalid, "message"},
		{"addLink", `{"incidentId":"` + id + `","label":"x","url":"ftp://example.com"}`, problem.KindInvalid, "url"},
		{"removeLink", `{"incidentId":"` + id + `","id":"` + unknown + `"}`, problem.KindNotFound, "Link not found"},
		{"delete", `{"id":"` + unknown + `"}`, problem.KindNotFound, "Incident not found"},
	} {
		if _, err := b.propose(c.tool, c.input); !problem.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, want it to say %q", c.tool, c.input, err, c.says)
		}
	}
}

// TestToolsSeeWhatMoved: a card that was made against a state that is gone is
// refused, both when it is looked at again and when it is applied.
func TestToolsSeeWhatMoved(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		id := b.open("x", b.system("S"))
		update, err := b.propose("update", `{"id":"`+id+`","title":"y"}`)
		if err != nil {
			t.Fatal(err)
		}
		step, err := b.propose("addUpdate", `{"incidentId":"`+id+`","message":"m","statusChange":"monitoring"}`)
		if err != nil {
			t.Fatal(err)
		}
		note, err := b.propose("addUpdate", `{"incidentId":"`+id+`","message":"note"}`)
		if err != nil {
			t.Fatal(err)
		}
		b.must("resolveIncident", `{"id":"`+id+`"}`)
		for name, dry := range map[string]tool.Dry{"update": update, "addUpdate": step} {
			if _, err := b.tool(name).Run(authz.With(t.Context(), manager), dry.Payload); !problem.Is(err, problem.KindConflict) {
				t.Errorf("apply %s: %v, want a conflict", name, err)
			}
			if _, err := b.propose(name, string(dry.Payload)); !problem.Is(err, problem.KindConflict) {
				t.Errorf("look at %s again: %v, want a conflict", name, err)
			}
		}
		if _, err := b.tool("addUpdate").Run(authz.With(t.Context(), manager), note.Payload); err != nil {
			t.Errorf("a note that changes no status: %v", err)
		}
	})
}

func TestReadTools(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.SQLite(t))
	sys := b.system("Payments API")
	id := b.must("createIncident", `{"title":"x","severity":"minor","systemIds":["`+sys+`"],"initialMessage":"First"}`)["id"].(string)
	b.must("addUpdate", `{"incidentId":"`+id+`","message":"Internal","audience":"internal"}`)
	run := func(p authz.Principal, name, input string) map[string]any {
		t.Helper()
		out, err := b.tool(name).Run(authz.With(t.Context(), p), json.RawMessage(input))
		if err != nil {
			t.Fatal(err)
		}
		return b.decode(b.tool(name).Lean(out))
	}
	l := run(reader, "list", `{"query":"X"}`)
	first := list(l, "incidents")[0]
	if l["activeCount"] != 1.0 || first["id"] != id || !cmp.Equal(list(first, "systems"), []map[string]any{{"id": sys, "name": "Payments API"}}) || first["version"] != nil {
		t.Errorf("list: %v", l)
	}
	if got := list(run(reader, "get", `{"id":"`+id+`"}`), "updates"); len(got) != 1 || got[0]["message"] != "First" || got[0]["by"] != nil {
		t.Errorf("get as a reader: %v", got)
	}
	if got := list(run(manager, "get", `{"id":"`+id+`"}`), "updates"); len(got) != 2 || got[1]["by"] != "Ann Example" {
		t.Errorf("get as a manager: %v", got)
	}
	blind := authz.Principal{Kind: authz.User, ID: "x", Rules: []string{"incident.incident.read"}}
	if got := list(run(blind, "list", `{}`), "incidents")[0]; list(got, "systems")[0]["id"] != sys || list(got, "systems")[0]["name"] != "" {
		t.Errorf("list for one who may not see systems: %v", got)
	}
}
