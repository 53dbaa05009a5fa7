package incident_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

// TestFC031_ResolvedOnce: person and machine resolve at the same time; the
// incident ends once, with one update, one event and one signal, and the other
// one is told. What was deleted in the meantime is a clear answer, too.
func TestFC031_ResolvedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		id := b.open("x", b.system("S"))
		b.events()
		b.signals.taken()
		ways := []func() error{
			func() error { _, err := b.call(manager, "resolveIncident", `{"id":"`+id+`"}`); return err },
			func() error { _, err := b.call(robot, "resolveIncident", `{"id":"`+id+`"}`); return err },
			func() error {
				out, err := b.call(robot, "bulkResolveIncidents", `{"ids":["`+id+`"]}`)
				if err == nil && list(out, "results")[0]["status"] == "skipped" {
					return problem.Conflict("skipped")
				}
				return err
			},
		}
		errs := make([]error, len(ways))
		var wg sync.WaitGroup
		for i, resolve := range ways {
			wg.Go(func() { errs[i] = resolve() })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !problem.Is(err, problem.KindConflict) {
				t.Errorf("the slower one: %v, want a conflict", err)
			}
		}
		if won != 1 {
			t.Errorf("%d of them resolved it", won)
		}
		_, err := b.call(robot, "resolveIncident", `{"id":"`+id+`","message":"late"}`)
		if p, ok := problem.As(err); !ok || p.Code() != "ALREADY_RESOLVED" {
			t.Errorf("later: %v, want ALREADY_RESOLVED", err)
		}
		if got := list(b.must("getIncident", `{"id":"`+id+`"}`), "updates"); len(got) != 1 {
			t.Errorf("updates: %v, want one", got)
		}
		if ev, sig := b.events(), b.signals.taken(); len(ev) != 1 || len(sig) != 1 {
			t.Errorf("announced %v and %v, want one of each", ev, sig)
		}
		b.must("deleteIncident", `{"id":"`+id+`"}`)
		if _, err := b.call(robot, "resolveIncident", `{"id":"`+id+`"}`); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("after the deletion: %v", err)
		}
	})
}

// TestFC036_VisitorsSeeOnlyWhatIsForThem reads everything a visitor can reach
// and looks for what is not meant for him.
func TestFC036_VisitorsSeeOnlyWhatIsForThem(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		hidden := b.system("canary-system")
		id := b.must("createIncident", `{"title":"x","severity":"minor","systemIds":["`+hidden+`"],"initialMessage":"public"}`)["id"].(string)
		b.must("addUpdate", `{"incidentId":"`+id+`","message":"canary-internal","audience":"internal"}`)
		b.must("addUpdate", `{"incidentId":"`+id+`","message":"canary-staff","audience":"logged-in"}`)
		who := visitor
		who.Rules = []string{"incident.incident.read"} // systems are not public here
		var all strings.Builder
		for op, input := range map[string]string{"listIncidents": `{}`, "getIncident": `{"id":"` + id + `"}`, "getIncidentsForSystem": `{"systemId":"` + hidden + `"}`,
			"getBulkIncidentsForSystems": `{"systemIds":["` + hidden + `"]}`, "getBulkIncidentUpdates": `{"incidentIds":["` + id + `"]}`,
			"resolveIncidentRefs": `{"ids":["` + id + `"]}`, "searchIncidentRefs": `{}`} {
			out, err := b.call(who, op, input)
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := json.Marshal(out)
			if !strings.Contains(string(raw), id) {
				t.Errorf("%s does not show the incident: %s", op, raw)
			}
			all.Write(raw)
		}
		for _, secret := range []string{"canary-system", "canary-internal", "canary-staff", manager.ID, "Ann Example"} {
			if strings.Contains(all.String(), secret) {
				t.Errorf("a visitor is told %q", secret)
			}
		}
	})
}

// TestFC037_TextStaysText: markup is kept as it was typed, for the page to show
// literally; addresses that run script and marks that reorder text are refused.
func TestFC037_TextStaysText(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		for _, s := range []string{`<img src=x onerror=alert(1)>`, `[a](javascript:alert(1))`, `[a](data:text/html,<b>)`, `<svg onload=alert(1)>`, `<https://example.com/"onmouseover=alert(1)>`, `<!-- x -->`, `{{ system.name }} ${{ secrets.X }}`, `'; DROP TABLE incidents; --`} {
			raw, _ := json.Marshal(map[string]any{"title": s, "description": s, "severity": "minor", "systemIds": []string{sys}, "initialMessage": s})
			in := b.must("createIncident", string(raw))
			read := b.must("getIncident", `{"id":"`+in["id"].(string)+`"}`)
			if read["title"] != s || read["description"] != s || list(read, "updates")[0]["message"] != s {
				t.Errorf("%s came back as %v", s, read)
			}
		}
		for _, s := range []string{"a\u202Eb", "a\u2066b", "\u202Dx", "a\U000E0041b"} {
			raw, _ := json.Marshal(map[string]any{"title": s, "description": s, "severity": "minor", "systemIds": []string{sys}, "initialMessage": s})
			_, err := b.call(manager, "createIncident", string(raw))
			p, ok := problem.As(err)
			if !ok || len(p.Issues) != 3 {
				t.Errorf("%q: %v, want all three fields named", s, err)
				continue
			}
			if strings.Contains(err.Error(), s) {
				t.Errorf("the refusal repeats %q", s)
			}
		}
	})
}

type queryCount struct{ n atomic.Int64 }

func (c *queryCount) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context {
	c.n.Add(1)
	return ctx
}
func (*queryCount) AfterQuery(context.Context, *bun.QueryEvent) {}

// TestFC038_QueriesDoNotGrowWithRows: every list takes as many queries for one
// incident as for sixty.
func TestFC038_QueriesDoNotGrowWithRows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		var systems, incidents []string
		count := &queryCount{}
		read := d.Read.WithQueryHook(count)
		*d.Read = *read
		grow := func(to int) {
			for len(incidents) < to {
				n := len(incidents)
				systems = append(systems, b.system(fmt.Sprint("S", n)))
				incidents = append(incidents, b.open(fmt.Sprint("I", n), systems[max(0, n-3):]...))
				b.must("addUpdate", `{"incidentId":"`+incidents[n]+`","message":"m"}`)
			}
		}
		measure := func() map[string]int64 {
			out := map[string]int64{}
			for op, input := range map[string]string{"listIncidents": `{"limit":100}`, "getIncident": `{"id":"` + incidents[0] + `"}`,
				"getBulkIncidentsForSystems": `{"systemIds":["` + strings.Join(systems, `","`) + `"]}`,
				"getBulkIncidentUpdates":     `{"incidentIds":["` + strings.Join(incidents, `","`) + `"]}`,
				"resolveIncidentRefs":        `{"ids":["` + strings.Join(incidents, `","`) + `"]}`, "searchIncidentRefs": `{"limit":20}`} {
				before := count.n.Load()
				b.must(op, input)
				out[op] = count.n.Load() - before
			}
			return out
		}
		grow(1)
		few := measure()
		grow(60)
		for op, n := range measure() {
			if n > few[op] || n == 0 || n > 4 {
				t.Errorf("%s: %d queries for one, %d for sixty", op, few[op], n)
			}
		}
	})
}
