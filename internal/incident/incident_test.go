package incident_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/incident"
	"github.com/checkstack/checkstack/internal/problem"
)

func TestEveryOperationsAnswers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("Payments API")
		in := b.must("createIncident", `{"title":"  Card payments fail ","description":" ","severity":"major","systemIds":["`+sys+`","`+sys+`"],"initialMessage":"We look into it"}`)
		if in["title"] != "Card payments fail" || in["description"] != nil || in["status"] != "investigating" || in["override"] != nil || in["resolvedAt"] != nil ||
			in["version"] != 1.0 || in["suppressNotifications"] != false || len(in["systemIds"].([]any)) != 1 || list(in, "systems")[0]["name"] != "Payments API" {
			t.Errorf("created %v, want a trimmed title, no description, one system", in)
		}
		id := in["id"].(string)
		link := b.must("addLink", `{"incidentId":"`+id+`","label":"Call","url":"https://meet.example.com/x"}`)["id"].(string)
		long := strings.Repeat("a", 10_000)
		create := func(rest string) string {
			return `{"severity":"minor","systemIds":["` + sys + `"],` + rest + `}`
		}
		rows := []struct {
			name  string
			as    authz.Principal
			op    string
			input string
			kind  problem.Kind // zero: succeeds
			issue string
		}{
			{"list: without the public rule", guest, "listIncidents", `{}`, problem.KindForbidden, ""},
			{"list: wrong role", nobody, "listIncidents", `{}`, problem.KindForbidden, ""},
			{"list: visitor with the public rule", visitor, "listIncidents", `{}`, 0, ""},
			{"list: reader", reader, "listIncidents", `{}`, 0, ""},
			{"list: manage includes read", manager, "listIncidents", `{}`, 0, ""},
			{"list: no such status", reader, "listIncidents", `{"status":"open"}`, problem.KindInvalid, "status"},
			{"list: no such severity", reader, "listIncidents", `{"severity":"high"}`, problem.KindInvalid, "severity"},
			{"list: limit too large", reader, "listIncidents", `{"limit":101}`, problem.KindInvalid, "limit"},
			{"list: limit zero", reader, "listIncidents", `{"limit":0}`, problem.KindInvalid, "limit"},
			{"list: system by name", reader, "listIncidents", `{"systemId":"Payments"}`, problem.KindInvalid, "systemId"},
			{"list: foreign cursor", reader, "listIncidents", `{"cursor":"page-2"}`, problem.KindInvalid, "cursor"},
			{"list: control character", reader, "listIncidents", `{"query":"a\u0007"}`, problem.KindInvalid, "query"},
			{"get: reader", reader, "getIncident", `{"id":"` + id + `"}`, 0, ""},
			{"get: wrong role", nobody, "getIncident", `{"id":"` + id + `"}`, problem.KindForbidden, ""},
			{"get: not found", reader, "getIncident", `{"id":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"get: not an id", reader, "getIncident", `{"id":"1"}`, problem.KindInvalid, "id"},
			{"for system", reader, "getIncidentsForSystem", `{"systemId":"` + sys + `"}`, 0, ""},
			{"for system: wrong role", nobody, "getIncidentsForSystem", `{"systemId":"` + sys + `"}`, problem.KindForbidden, ""},
			{"for unknown system", reader, "getIncidentsForSystem", `{"systemId":"` + unknown + `"}`, 0, ""},
			{"for systems", reader, "getBulkIncidentsForSystems", `{"systemIds":["` + sys + `","` + unknown + `"]}`, 0, ""},
			{"for no systems", reader, "getBulkIncidentsForSystems", `{"systemIds":[]}`, 0, ""},
			{"for systems: wrong role", nobody, "getBulkIncidentsForSystems", `{"systemIds":[]}`, problem.KindForbidden, ""},
			{"for systems: not ids", reader, "getBulkIncidentsForSystems", `{"systemIds":["x"]}`, problem.KindInvalid, "systemIds[0]"},
			{"updates", reader, "getBulkIncidentUpdates", `{"incidentIds":["` + id + `","` + unknown + `"]}`, 0, ""},
			{"updates: wrong role", nobody, "getBulkIncidentUpdates", `{"incidentIds":[]}`, problem.KindForbidden, ""},
			{"create: guest", guest, "createIncident", create(`"title":"x"`), problem.KindUnauthenticated, ""},
			{"create: reader", reader, "createIncident", create(`"title":"x"`), problem.KindForbidden, ""},
			{"create: application", robot, "createIncident", create(`"title":"by a robot"`), 0, ""},
			{"create: nothing", manager, "createIncident", `{}`, problem.KindInvalid, ""},
			{"create: no title", manager, "createIncident", create(`"title":""`), problem.KindInvalid, "title"},
			{"create: blank title", manager, "createIncident", create(`"title":" \u3164 "`), problem.KindInvalid, "title"},
			{"create: 10,000 characters", manager, "createIncident", create(`"title":"` + long + `"`), problem.KindInvalid, "title"},
			{"create: 200 characters of four bytes", manager, "createIncident", create(`"title":"` + strings.Repeat("🔥", 200) + `"`), 0, ""},
			{"create: 201 characters", manager, "createIncident", create(`"title":"` + strings.Repeat("🔥", 201) + `"`), problem.KindInvalid, "title"},
			{"create: NUL", manager, "createIncident", create(`"title":"a\u0000b"`), problem.KindInvalid, "title"},
			{"create: escape", manager, "createIncident", create(`"title":"a\u001b[31mb"`), problem.KindInvalid, "title"},
			{"create: line break", manager, "createIncident", create(`"title":"a\nb"`), problem.KindInvalid, "title"},
			{"create: direction override", manager, "createIncident", create(`"title":"a\u202eb"`), problem.KindInvalid, "title"},
			{"create: right to left is a language", manager, "createIncident", create(`"title":"בעיה בתשלומים"`), 0, ""},
			{"create: description with an override", manager, "createIncident", create(`"title":"x","description":"a\u2066b"`), problem.KindInvalid, "description"},
			{"create: description too long", manager, "createIncident", create(`"title":"x","description":"` + long + `a"`), problem.KindInvalid, "description"},
			{"create: description of 10,000", manager, "createIncident", create(`"title":"x","description":"` + long + `"`), 0, ""},
			{"create: message with a control", manager, "createIncident", create(`"title":"x","initialMessage":"a\u0008"`), problem.KindInvalid, "initialMessage"},
			{"create: severity of another product", manager, "createIncident", `{"title":"x","severity":"high","systemIds":["` + sys + `"]}`, problem.KindInvalid, "severity"},
			{"create: healthy is no override", manager, "createIncident", create(`"title":"x","override":"healthy"`), problem.KindInvalid, "override"},
			{"create: status is not asked", manager, "createIncident", create(`"title":"x","status":"resolved"`), problem.KindInvalid, "status"},
			{"create: no systems", manager, "createIncident", `{"title":"x","severity":"minor","systemIds":[]}`, problem.KindInvalid, "systemIds"},
			{"create: systems null", manager, "createIncident", `{"title":"x","severity":"minor","systemIds":null}`, problem.KindInvalid, "systemIds"},
			{"create: second system unknown", manager, "createIncident", `{"title":"x","severity":"minor","systemIds":["` + sys + `","` + unknown + `"]}`, problem.KindInvalid, "systemIds[1]"},
			{"create: system by name", manager, "createIncident", `{"title":"x","severity":"minor","systemIds":["Payments API"]}`, problem.KindInvalid, "systemIds[0]"},
			{"create: 101 systems", manager, "createIncident", `{"title":"x","severity":"minor","systemIds":["` + strings.Repeat(sys+`","`, 100) + sys + `"]}`, problem.KindInvalid, "systemIds"},
			{"update: reader", reader, "updateIncident", `{"id":"` + id + `","title":"y"}`, problem.KindForbidden, ""},
			{"update: guest", guest, "updateIncident", `{"id":"` + id + `","title":"y"}`, problem.KindUnauthenticated, ""},
			{"update: not found", manager, "updateIncident", `{"id":"` + unknown + `","title":"y"}`, problem.KindNotFound, ""},
			{"update: stale", manager, "updateIncident", `{"id":"` + id + `","version":99,"title":"y"}`, problem.KindConflict, ""},
			{"update: blank title", manager, "updateIncident", `{"id":"` + id + `","title":"  "}`, problem.KindInvalid, "title"},
			{"update: title null is left out", manager, "updateIncident", `{"id":"` + id + `","title":null}`, 0, ""},
			{"update: no systems", manager, "updateIncident", `{"id":"` + id + `","systemIds":[]}`, problem.KindInvalid, "systemIds"},
			{"update: unknown system", manager, "updateIncident", `{"id":"` + id + `","systemIds":["` + unknown + `"]}`, problem.KindInvalid, "systemIds[0]"},
			{"update: no such override", manager, "updateIncident", `{"id":"` + id + `","override":"healthy"}`, problem.KindInvalid, "override"},
			{"update: override null", manager, "updateIncident", `{"id":"` + id + `","override":null}`, 0, ""},
			{"update: nothing", manager, "updateIncident", `{"id":"` + id + `"}`, 0, ""},
			{"add update: reader", reader, "addUpdate", `{"incidentId":"` + id + `","message":"x"}`, problem.KindForbidden, ""},
			{"add update: not found", manager, "addUpdate", `{"incidentId":"` + unknown + `","message":"x"}`, problem.KindNotFound, ""},
			{"add update: no message", manager, "addUpdate", `{"incidentId":"` + id + `","message":" \n "}`, problem.KindInvalid, "message"},
			{"add update: NUL", manager, "addUpdate", `{"incidentId":"` + id + `","message":"a\u0000"}`, problem.KindInvalid, "message"},
			{"add update: direction override", manager, "addUpdate", `{"incidentId":"` + id + `","message":"a\u202e"}`, problem.KindInvalid, "message"},
			{"add update: too long", manager, "addUpdate", `{"incidentId":"` + id + `","message":"` + long + `a"}`, problem.KindInvalid, "message"},
			{"add update: lines and tabs", manager, "addUpdate", `{"incidentId":"` + id + `","message":"a\r\n\tb"}`, 0, ""},
			{"add update: no such audience", manager, "addUpdate", `{"incidentId":"` + id + `","message":"x","audience":"all"}`, problem.KindInvalid, "audience"},
			{"add update: no such status", manager, "addUpdate", `{"incidentId":"` + id + `","message":"x","statusChange":"closed"}`, problem.KindInvalid, "statusChange"},
			{"resolve: reader", reader, "resolveIncident", `{"id":"` + id + `"}`, problem.KindForbidden, ""},
			{"resolve: not found", manager, "resolveIncident", `{"id":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"resolve: message with a control", manager, "resolveIncident", `{"id":"` + id + `","message":"\u0001"}`, problem.KindInvalid, "message"},
			{"link: reader", reader, "addLink", `{"incidentId":"` + id + `","label":"x","url":"https://example.com"}`, problem.KindForbidden, ""},
			{"link: not found", manager, "addLink", `{"incidentId":"` + unknown + `","label":"x","url":"https://example.com"}`, problem.KindNotFound, ""},
			{"link: javascript", manager, "addLink", `{"incidentId":"` + id + `","label":"x","url":"javascript:alert(1)"}`, problem.KindInvalid, "url"},
			{"link: data", manager, "addLink", `{"incidentId":"` + id + `","label":"x","url":"data:text/html,x"}`, problem.KindInvalid, "url"},
			{"link: credentials", manager, "addLink", `{"incidentId":"` + id + `","label":"x","url":"https://u:p@example.com"}`, problem.KindInvalid, "url"},
			{"link: too long", manager, "addLink", `{"incidentId":"` + id + `","label":"x","url":"https://example.com/` + long + `"}`, problem.KindInvalid, "url"},
			{"link: label with an override", manager, "addLink", `{"incidentId":"` + id + `","label":"a\u202eb","url":"https://example.com"}`, problem.KindInvalid, "label"},
			{"link: blank label", manager, "addLink", `{"incidentId":"` + id + `","label":" ","url":"https://example.com"}`, problem.KindInvalid, "label"},
			{"unlink: reader", reader, "removeLink", `{"incidentId":"` + id + `","id":"` + link + `"}`, problem.KindForbidden, ""},
			{"unlink: of another incident", manager, "removeLink", `{"incidentId":"` + unknown + `","id":"` + link + `"}`, problem.KindNotFound, ""},
			{"unlink: unknown", manager, "removeLink", `{"incidentId":"` + id + `","id":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"unlink", manager, "removeLink", `{"incidentId":"` + id + `","id":"` + link + `"}`, 0, ""},
			{"bulk resolve: reader", reader, "bulkResolveIncidents", `{"ids":["` + id + `"]}`, problem.KindForbidden, ""},
			{"bulk resolve: none", manager, "bulkResolveIncidents", `{"ids":[]}`, problem.KindInvalid, "ids"},
			{"bulk delete: reader", reader, "bulkDeleteIncidents", `{"ids":["` + id + `"]}`, problem.KindForbidden, ""},
			{"bulk delete: 101", manager, "bulkDeleteIncidents", `{"ids":["` + strings.Repeat(unknown+`","`, 100) + unknown + `"]}`, problem.KindInvalid, "ids"},
			{"refs: wrong role", nobody, "resolveIncidentRefs", `{"ids":[]}`, problem.KindForbidden, ""},
			{"refs: whatever stood in the text", reader, "resolveIncidentRefs", `{"ids":["","../x","` + unknown + `"]}`, 0, ""},
			{"search refs: wrong role", nobody, "searchIncidentRefs", `{}`, problem.KindForbidden, ""},
			{"search refs: too many", reader, "searchIncidentRefs", `{"limit":21}`, problem.KindInvalid, "limit"},
			{"search refs: wildcards are text", reader, "searchIncidentRefs", `{"query":"%_!"}`, 0, ""},
			{"delete: reader", reader, "deleteIncident", `{"id":"` + id + `"}`, problem.KindForbidden, ""},
			{"delete: not found", manager, "deleteIncident", `{"id":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"delete", manager, "deleteIncident", `{"id":"` + id + `"}`, 0, ""},
			{"deleted is gone", reader, "getIncident", `{"id":"` + id + `"}`, problem.KindNotFound, ""},
		}
		asked := map[string]bool{}
		for _, r := range rows {
			asked["incident."+r.op] = true
			_, err := b.call(r.as, r.op, r.input)
			if !isKind(err, r.kind) {
				t.Errorf("%s: %v, want kind %v", r.name, err, r.kind)
				continue
			}
			if p, ok := problem.As(err); ok && r.issue != "" && (len(p.Issues) == 0 || p.Issues[0].Path != r.issue) {
				t.Errorf("%s: issues %v, want the first to name %s", r.name, p.Issues, r.issue)
			}
		}
		for id := range b.ops {
			if !asked[id] {
				t.Errorf("nothing asks %s", id)
			}
		}
	})
}

func TestNoSystemsIsSaidInTheWordsOfTheSpecification(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.SQLite(t))
	_, err := b.call(manager, "createIncident", `{"title":"x","severity":"minor","systemIds":[]}`)
	if err == nil || !strings.Contains(err.Error(), "At least one system is required") {
		t.Errorf("got %v", err)
	}
	_, err = b.call(manager, "addUpdate", `{"incidentId":"`+unknown+`","message":""}`)
	if err == nil || !strings.Contains(err.Error(), "Message is required") {
		t.Errorf("got %v", err)
	}
}

// TestUpdate: what is named changes, null clears, all else stays, and the
// version rises once for each change and not for a change of nothing.
func TestUpdate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		one, two := b.system("One"), b.system("Two")
		in := b.must("createIncident", `{"title":"A","description":"Text","severity":"minor","systemIds":["`+one+`"],"override":"degraded","suppressNotifications":true}`)
		id := in["id"].(string)
		steps := []struct {
			change  string
			version float64
			want    string
		}{
			{`"title":"B"`, 2, `B Text investigating minor true degraded One`},
			{`"title":"B"`, 2, `B Text investigating minor true degraded One`},
			{`"description":null`, 3, `B <nil> investigating minor true degraded One`},
			{`"description":"  "`, 3, `B <nil> investigating minor true degraded One`},
			{`"override":null`, 4, `B <nil> investigating minor true <nil> One`},
			{`"override":"unhealthy","suppressNotifications":false`, 5, `B <nil> investigating minor false unhealthy One`},
			{`"systemIds":["` + two + `","` + one + `"]`, 6, `B <nil> investigating minor false unhealthy One Two`},
			{`"systemIds":["` + one + `","` + two + `"]`, 6, `B <nil> investigating minor false unhealthy One Two`},
			{`"systemIds":["` + two + `"]`, 7, `B <nil> investigating minor false unhealthy Two`},
			{`"severity":"critical","status":"monitoring"`, 8, `B <nil> monitoring critical false unhealthy Two`},
		}
		for _, s := range steps {
			out := b.must("updateIncident", `{"id":"`+id+`",`+s.change+`}`)
			got := fmt.Sprint(out["title"], " ", out["description"], " ", out["status"], " ", out["severity"], " ", out["suppressNotifications"], " ", out["override"])
			for _, sys := range list(out, "systems") {
				got += " " + sys["name"].(string)
			}
			if got != s.want || out["version"] != s.version {
				t.Errorf("%s: got %s version %v, want %s version %v", s.change, got, out["version"], s.want, s.version)
			}
			if read := b.must("getIncident", `{"id":"`+id+`"}`); !cmp.Equal(read["version"], out["version"]) || !cmp.Equal(read["systems"], out["systems"]) {
				t.Errorf("%s: read back %v, answered %v", s.change, read, out)
			}
		}
	})
}

// TestStatusMovesInAnyDirection takes every step from every status to every
// other, by an edit and by an update, and looks at resolvedAt each time.
func TestStatusMovesInAnyDirection(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		id := b.open("x", sys)
		all := []string{"investigating", "identified", "fixing", "monitoring", "resolved"}
		for _, from := range all {
			for _, to := range all {
				for _, step := range []string{`updateIncident {"id":"` + id + `","status":"` + to + `"}`, `addUpdate {"incidentId":"` + id + `","message":"m","statusChange":"` + to + `"}`} {
					b.must("updateIncident", `{"id":"`+id+`","status":"`+from+`"}`)
					op, input, _ := strings.Cut(step, " ")
					out := b.must(op, input)
					if op == "addUpdate" {
						want := any(to)
						if from == to {
							want = nil // it had this status already
						}
						if out["statusChange"] != want {
							t.Errorf("%s from %s to %s: statusChange %v, want %v", op, from, to, out["statusChange"], want)
						}
					}
					in := b.must("getIncident", `{"id":"`+id+`"}`)
					if in["status"] != to || (in["resolvedAt"] != nil) != (to == "resolved") {
						t.Errorf("%s from %s to %s: %v, resolved at %v", op, from, to, in["status"], in["resolvedAt"])
					}
					if active := len(list(b.must("getIncidentsForSystem", `{"systemId":"`+sys+`"}`), "incidents")) == 1; active != (to != "resolved") {
						t.Errorf("%s from %s to %s: listed as active of the system: %v", op, from, to, active)
					}
				}
			}
		}
	})
}

// TestConcurrentUpdatesOfOneVersion: of many edits made against one version,
// exactly one wins, and the others are told.
func TestConcurrentUpdatesOfOneVersion(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		id := b.open("x", b.system("S"))
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = b.call(manager, "updateIncident", fmt.Sprintf(`{"id":"%s","version":1,"title":"by %d"}`, id, i))
			})
		}
		wg.Wait()
		won := 0
		for i, err := range errs {
			switch {
			case err == nil:
				won++
				if got := b.must("getIncident", `{"id":"`+id+`"}`); got["title"] != fmt.Sprintf("by %d", i) || got["version"] != 2.0 {
					t.Errorf("winner %d left %v", i, got)
				}
			case !problem.Is(err, problem.KindConflict) || !strings.Contains(err.Error(), "changed by someone else"):
				t.Errorf("loser %d: %v", i, err)
			}
		}
		if won != 1 {
			t.Errorf("%d edits won, want 1", won)
		}
	})
}

// TestUpdatesLeaveTheVersionAlone: an update or link of somebody else does not
// refuse the edit in my form; a change of status does.
func TestUpdatesLeaveTheVersionAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.SQLite(t))
	id := b.open("x", b.system("S"))
	b.must("addUpdate", `{"incidentId":"`+id+`","message":"m"}`)
	b.must("addLink", `{"incidentId":"`+id+`","label":"l","url":"https://example.com"}`)
	b.must("updateIncident", `{"id":"`+id+`","version":1,"title":"y"}`)
	b.must("addUpdate", `{"incidentId":"`+id+`","message":"m","statusChange":"fixing"}`)
	if _, err := b.call(manager, "updateIncident", `{"id":"`+id+`","version":2,"title":"z"}`); !problem.Is(err, problem.KindConflict) {
		t.Errorf("an edit made before the status changed: %v, want a conflict", err)
	}
}

// TestSideEffects holds table 8.3 of spec/monitoring.md row by row: update
// rows, the signal's action and the durable events.
func TestSideEffects(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		var id string
		rows := func() string {
			out, err := b.call(manager, "getIncident", `{"id":"`+id+`"}`)
			if err != nil {
				return "gone"
			}
			var s []string
			for _, u := range list(out, "updates") {
				s = append(s, fmt.Sprintf("%v:%v", u["message"], u["statusChange"]))
			}
			return strings.Join(s, ", ")
		}
		steps := []struct {
			name   string
			do     func()
			rows   string
			action string
			events []string
		}{
			{"create without a message", func() { id = b.open("x", sys) }, "", "created", []string{"incident.created severity=major status=investigating"}},
			{"delete", func() { b.must("deleteIncident", `{"id":"`+id+`"}`) }, "gone", "deleted", []string{}},
			{"create", func() {
				id = b.must("createIncident", `{"title":"y","severity":"critical","systemIds":["`+sys+`"],"initialMessage":"First"}`)["id"].(string)
			}, "First:investigating", "created", []string{"incident.created severity=critical status=investigating"}},
			{"edit", func() { b.must("updateIncident", `{"id":"`+id+`","severity":"minor"}`) }, "First:investigating", "updated",
				[]string{"incident.updated severity=minor status=investigating"}},
			{"edit of nothing", func() { b.must("updateIncident", `{"id":"`+id+`","severity":"minor"}`) }, "First:investigating", "", []string{}},
			{"edit of the status", func() { b.must("updateIncident", `{"id":"`+id+`","status":"identified"}`) }, "First:investigating", "updated",
				[]string{"incident.updated severity=minor status=identified statusChange=identified previousStatus=investigating"}},
			{"update", func() { b.must("addUpdate", `{"incidentId":"`+id+`","message":"Second","audience":"internal"}`) }, "First:investigating, Second:<nil>", "updated",
				[]string{"incident.updated severity=minor status=identified audience=internal"}},
			{"update with the same status", func() { b.must("addUpdate", `{"incidentId":"`+id+`","message":"Third","statusChange":"identified"}`) },
				"First:investigating, Second:<nil>, Third:<nil>", "updated", []string{"incident.updated severity=minor status=identified audience=public"}},
			{"update that resolves", func() { b.must("addUpdate", `{"incidentId":"`+id+`","message":"Done","statusChange":"resolved"}`) },
				"First:investigating, Second:<nil>, Third:<nil>, Done:resolved", "updated",
				[]string{"incident.updated severity=minor status=resolved statusChange=resolved previousStatus=identified audience=public", "incident.resolved severity=minor"}},
			{"update that reopens", func() { b.must("addUpdate", `{"incidentId":"`+id+`","message":"Again","statusChange":"fixing"}`) },
				"First:investigating, Second:<nil>, Third:<nil>, Done:resolved, Again:fixing", "updated",
				[]string{"incident.updated severity=minor status=fixing statusChange=fixing previousStatus=resolved audience=public"}},
			{"resolve", func() { b.must("resolveIncident", `{"id":"`+id+`"}`) },
				"First:investigating, Second:<nil>, Third:<nil>, Done:resolved, Again:fixing, Incident resolved:resolved", "resolved",
				[]string{"incident.resolved severity=minor"}},
			{"resolve again", func() {
				if _, err := b.call(manager, "resolveIncident", `{"id":"`+id+`"}`); !problem.Is(err, problem.KindConflict) {
					t.Errorf("second resolve: %v", err)
				}
			}, "First:investigating, Second:<nil>, Third:<nil>, Done:resolved, Again:fixing, Incident resolved:resolved", "", []string{}},
			{"edit that reopens", func() { b.must("updateIncident", `{"id":"`+id+`","status":"investigating"}`) },
				"First:investigating, Second:<nil>, Third:<nil>, Done:resolved, Again:fixing, Incident resolved:resolved", "updated",
				[]string{"incident.updated severity=minor status=investigating statusChange=investigating previousStatus=resolved"}},
			{"edit that resolves", func() { b.must("updateIncident", `{"id":"`+id+`","status":"resolved"}`) },
				"First:investigating, Second:<nil>, Third:<nil>, Done:resolved, Again:fixing, Incident resolved:resolved", "updated",
				[]string{"incident.updated severity=minor status=resolved statusChange=resolved previousStatus=investigating", "incident.resolved severity=minor"}},
			{"link", func() { b.must("addLink", `{"incidentId":"`+id+`","label":"l","url":"https://example.com"}`) },
				"First:investigating, Second:<nil>, Third:<nil>, Done:resolved, Again:fixing, Incident resolved:resolved", "updated", []string{}},
		}
		for _, s := range steps {
			s.do()
			if got := rows(); got != s.rows {
				t.Errorf("%s: updates %s, want %s", s.name, got, s.rows)
			}
			var actions []string
			for _, sig := range b.signals.taken() {
				p := sig.Payload.(map[string]any)
				actions = append(actions, p["action"].(string))
				if sig.ID != "incident.updated" || sig.PluginID != "incident" || sig.Rule != "incident.incident.read" || p["incidentId"] != id || !cmp.Equal(p["systemIds"], []string{sys}) {
					t.Errorf("%s: signal %+v", s.name, sig)
				}
			}
			if strings.Join(actions, ",") != s.action {
				t.Errorf("%s: signals %v, want %s", s.name, actions, s.action)
			}
			if diff := cmp.Diff(s.events, b.events()); diff != "" {
				t.Errorf("%s: events (-want +got)\n%s", s.name, diff)
			}
		}
		b.catalogDelete(sys)
		if got := b.events(); len(got) != 0 {
			t.Errorf("deleting the system published %v of the incident, want only the association removed", got)
		}
		if got := b.must("getIncident", `{"id":"`+id+`"}`); len(got["systemIds"].([]any)) != 0 || len(list(got, "systems")) != 0 || got["title"] != "y" {
			t.Errorf("after the system was deleted: %v, want it readable without systems", got)
		}
	})
}

func (b *bundle) catalogDelete(id string) {
	b.t.Helper()
	if err := b.catalog.DeleteSystem(b.t.Context(), id); err != nil {
		b.t.Fatal(err)
	}
}

// TestWithoutSystems: an incident whose systems are all deleted can be read,
// listed, edited, resolved, and given systems again.
func TestWithoutSystems(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		one, two := b.system("One"), b.system("Two")
		id := b.open("x", one, two)
		b.must("updateIncident", `{"id":"`+id+`","override":"unhealthy"}`)
		b.catalogDelete(one)
		if got := b.must("getIncident", `{"id":"`+id+`"}`); len(list(got, "systems")) != 1 || got["version"] != 2.0 {
			t.Errorf("after one of two was deleted: %v", got)
		}
		b.catalogDelete(two)
		b.health.told()
		b.must("updateIncident", `{"id":"`+id+`","title":"y"}`)
		if got := titles(b.must("listIncidents", `{}`), "incidents"); got != "y" {
			t.Errorf("listed %q", got)
		}
		three := b.system("Three")
		b.must("updateIncident", `{"id":"`+id+`","systemIds":["`+three+`"]}`)
		if got := b.health.told(); !cmp.Equal(got, []string{"y=unhealthy on 1"}) {
			t.Errorf("health was told %v, want the override on the new system only", got)
		}
		b.must("resolveIncident", `{"id":"`+id+`"}`)
	})
}

// TestOverride follows what health is told through the life of an incident.
func TestOverride(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		one, two := b.system("One"), b.system("Two")
		var id string
		edit := func(change string) func() {
			return func() { b.must("updateIncident", `{"id":"`+id+`",`+change+`}`) }
		}
		steps := []struct {
			name string
			do   func()
			want []string
		}{
			{"create without", func() { id = b.open("x", one) }, nil},
			{"edit without", edit(`"title":"y"`), nil},
			{"set", edit(`"override":"degraded"`), []string{"y=degraded on 1"}},
			{"title", edit(`"title":"z"`), []string{"z=degraded on 1"}},
			{"what health does not show", edit(`"severity":"critical","description":"d"`), nil},
			{"systems", edit(`"systemIds":["` + one + `","` + two + `"]`), []string{"z=degraded on 2"}},
			{"worse", edit(`"override":"unhealthy"`), []string{"z=unhealthy on 2"}},
			{"update of the timeline", func() { b.must("addUpdate", `{"incidentId":"`+id+`","message":"m","statusChange":"fixing"}`) }, nil},
			{"resolve", func() { b.must("resolveIncident", `{"id":"`+id+`"}`) }, []string{"z= on 2"}},
			{"edit while resolved", edit(`"title":"w","override":"degraded"`), nil},
			{"reopen by an update", func() { b.must("addUpdate", `{"incidentId":"`+id+`","message":"m","statusChange":"fixing"}`) }, []string{"w=degraded on 2"}},
			{"resolve by an edit", edit(`"status":"resolved"`), []string{"w= on 2"}},
			{"reopen by an edit", edit(`"status":"monitoring"`), []string{"w=degraded on 2"}},
			{"clear", edit(`"override":null`), []string{"w= on 2"}},
			{"set again", edit(`"override":"unhealthy"`), []string{"w=unhealthy on 2"}},
			{"delete", func() { b.must("deleteIncident", `{"id":"`+id+`"}`) }, []string{"w= on 2"}},
			{"create with", func() {
				id = b.must("createIncident", `{"title":"n","severity":"minor","systemIds":["`+one+`"],"override":"unhealthy"}`)["id"].(string)
			}, []string{"n=unhealthy on 1"}},
			{"bulk resolve", func() { b.must("bulkResolveIncidents", `{"ids":["`+id+`"]}`) }, []string{"n= on 1"}},
			{"delete resolved", func() { b.must("bulkDeleteIncidents", `{"ids":["`+id+`"]}`) }, nil},
		}
		for _, s := range steps {
			s.do()
			if diff := cmp.Diff(s.want, b.health.told()); diff != "" {
				t.Errorf("%s: health was told (-want +got)\n%s", s.name, diff)
			}
		}
		// What health cannot take, did not happen.
		b.events()
		b.signals.taken()
		b.health.fail = context.DeadlineExceeded
		if _, err := b.call(manager, "createIncident", `{"title":"never","severity":"minor","systemIds":["`+one+`"],"override":"degraded"}`); err == nil {
			t.Error("an incident whose override was refused was created")
		}
		if got := titles(b.must("listIncidents", `{"includeResolved":true}`), "incidents"); got != "" {
			t.Errorf("left behind: %s", got)
		}
		if ev, sig := b.events(), b.signals.taken(); len(ev)+len(sig) != 0 {
			t.Errorf("announced what did not happen: %v %v", ev, sig)
		}
	})
}

func TestSuppresses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		one, two := b.system("One"), b.system("Two")
		id := b.open("loud", one, two)
		want := func(when string, systemID string, want bool) {
			t.Helper()
			if got, err := b.svc.Suppresses(t.Context(), systemID); err != nil || got != want {
				t.Errorf("%s: %v, %v, want %v", when, got, err, want)
			}
		}
		want("not asked for", one, false)
		b.must("updateIncident", `{"id":"`+id+`","suppressNotifications":true,"systemIds":["`+one+`"]}`)
		want("asked for", one, true)
		want("a sibling", two, false)
		want("unknown system", unknown, false)
		b.must("resolveIncident", `{"id":"`+id+`"}`)
		want("resolved", one, false)
		b.must("addUpdate", `{"incidentId":"`+id+`","message":"m","statusChange":"fixing"}`)
		want("reopened", one, true)
		b.must("deleteIncident", `{"id":"`+id+`"}`)
		want("deleted", one, false)
	})
}

// TestBulk is case 15 of spec/monitoring.md 20: what cannot be done with one
// is told and does not keep the rest from it.
func TestBulk(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		open1, over, open2 := b.open("1", sys), b.open("2", sys), b.open("3", sys)
		b.must("resolveIncident", `{"id":"`+over+`"}`)
		outcome := func(op string, ids ...string) string {
			var s []string
			for _, r := range list(b.must(op, `{"ids":["`+strings.Join(ids, `","`)+`"]}`), "results") {
				s = append(s, fmt.Sprintf("%v", r["status"]))
			}
			return strings.Join(s, " ")
		}
		if got := outcome("bulkResolveIncidents", open1, unknown, over, open2, open1); got != "resolved not_found skipped resolved" {
			t.Errorf("bulk resolve: %s", got)
		}
		if got := outcome("bulkDeleteIncidents", unknown, open1, over, open2); got != "not_found deleted deleted deleted" {
			t.Errorf("bulk delete: %s", got)
		}
		if n := b.must("listIncidents", `{"includeResolved":true}`); len(list(n, "incidents")) != 0 {
			t.Errorf("left %v", n)
		}
		b.health.fail = context.DeadlineExceeded
		forced := b.open("forced", sys)
		plain := b.open("plain", sys)
		if _, err := b.db.Write.NewRaw("UPDATE incidents SET health_override = 'degraded' WHERE id = ?", forced).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := outcome("bulkResolveIncidents", forced, plain); got != "failed resolved" {
			t.Errorf("with a fault of ours: %s", got)
		}
	})
}

// TestLimits: an incident cannot grow without end.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.SQLite(t))
	id := b.open("x", b.system("S"))
	for i := range 50 {
		b.must("addLink", fmt.Sprintf(`{"incidentId":"%s","label":"%d","url":"https://example.com"}`, id, i))
	}
	if _, err := b.call(manager, "addLink", `{"incidentId":"`+id+`","label":"l","url":"https://example.com"}`); !problem.Is(err, problem.KindConflict) {
		t.Errorf("link 51: %v", err)
	}
	rows := make([]string, 1000)
	for i := range rows {
		rows[i] = fmt.Sprintf("('u%04d', '%s', 'm', 'public', 'a', '2026-01-01 00:00:00')", i, id)
	}
	if _, err := b.db.Write.NewRaw("INSERT INTO incident_updates (id, incident_id, message, audience, author_id, created_at) VALUES " + strings.Join(rows, ",")).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.call(manager, "addUpdate", `{"incidentId":"`+id+`","message":"m"}`); !problem.Is(err, problem.KindConflict) {
		t.Errorf("update 1001: %v", err)
	}
	// It can be ended all the same.
	if out := b.must("resolveIncident", `{"id":"`+id+`"}`); out["status"] != "resolved" {
		t.Errorf("resolved: %v", out)
	}
}

func TestActiveAndRecentActivity(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		one := b.system("One")
		first := b.must("createIncident", `{"title":"first","severity":"minor","systemIds":["`+one+`"],"initialMessage":"m"}`)["id"].(string)
		second := b.open("second", one)
		b.must("addUpdate", `{"incidentId":"`+first+`","message":"secret","audience":"internal"}`)
		b.must("addUpdate", `{"incidentId":"`+first+`","message":"for us","audience":"logged-in"}`)
		b.must("resolveIncident", `{"id":"`+second+`"}`)
		active, err := b.svc.Active(t.Context())
		if err != nil || len(active) != 1 || active[0].ID != first || !cmp.Equal(active[0].Systems, []incident.System{{ID: one, Name: "One"}}) {
			t.Errorf("active: %+v, %v", active, err)
		}
		for who, want := range map[*authz.Principal]string{
			&visitor: "second status, second created, first created",
			&reader:  "second status, first updated, second created, first created",
			&manager: "second status, first updated, first updated, second created, first created",
		} {
			got, err := b.svc.RecentActivity(authz.With(t.Context(), *who), 10)
			if err != nil {
				t.Fatal(err)
			}
			var s []string
			for i, a := range got {
				s = append(s, a.Title+" "+a.Kind)
				if i > 0 && got[i-1].At.Before(a.At) {
					t.Errorf("activity %d is newer than the one before", i)
				}
			}
			if strings.Join(s, ", ") != want {
				t.Errorf("%v sees %s, want %s", who.Rules, strings.Join(s, ", "), want)
			}
			if few, err := b.svc.RecentActivity(authz.With(t.Context(), *who), 2); err != nil || len(few) != 2 || !cmp.Equal(few, got[:2]) {
				t.Errorf("the last two: %v, %v", few, err)
			}
		}
	})
}

func TestDependentsOf(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		want := func(want ...string) {
			t.Helper()
			got, err := b.svc.DependentsOf(t.Context(), sys)
			if err != nil || strings.Join(got, "; ") != strings.Join(want, "; ") {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		}
		want()
		b.must("resolveIncident", `{"id":"`+b.open("old", sys)+`"}`)
		want("its place in 1 resolved incident")
		for i := range 5 {
			b.open(fmt.Sprint(i), sys)
		}
		b.must("resolveIncident", `{"id":"`+b.open("older", sys)+`"}`)
		want(`its place in the active incident "4"`, `its place in the active incident "3"`, `its place in the active incident "2"`,
			"its place in 2 more active incidents", "its place in 2 resolved incidents")
	})
}

// TestTimesAreToTheMillisecondAndUTC: what is answered at once is what is read
// later.
func TestTimesAreToTheMillisecondAndUTC(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		made := b.must("createIncident", `{"title":"x","severity":"minor","systemIds":["`+b.system("S")+`"]}`)
		id := made["id"].(string)
		done := b.must("resolveIncident", `{"id":"`+id+`"}`)
		read := b.must("getIncident", `{"id":"`+id+`"}`)
		for _, pair := range [][2]any{{made["createdAt"], read["createdAt"]}, {done["updatedAt"], read["updatedAt"]}, {done["resolvedAt"], read["resolvedAt"]}} {
			at, err := time.Parse(time.RFC3339Nano, pair[0].(string))
			if err != nil || pair[0] != pair[1] || at.Location() != time.UTC || at.Nanosecond()%1e6 != 0 {
				t.Errorf("answered %v, read %v (%v)", pair[0], pair[1], err)
			}
		}
	})
}
