package incident_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/incident"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// TestAudience is the audience filter of spec/monitoring.md 8.2 on everything
// that shows updates, and who is told who wrote them.
func TestAudience(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		id := b.open("x", b.system("Hidden name"))
		for _, a := range []string{"public", "logged-in", "internal"} {
			b.must("addUpdate", `{"incidentId":"`+id+`","message":"`+a+`","audience":"`+a+`"}`)
		}
		if _, err := b.call(robot, "addUpdate", `{"incidentId":"`+id+`","message":"robot"}`); err != nil {
			t.Fatal(err)
		}
		gone := manager
		gone.ID = unknown
		if _, err := b.call(gone, "addUpdate", `{"incidentId":"`+id+`","message":"gone"}`); err != nil {
			t.Fatal(err)
		}
		blind := authz.Principal{Kind: authz.Application, ID: "x", Rules: []string{"incident.incident.read"}}
		for _, c := range []struct {
			name    string
			as      authz.Principal
			updates string
			authors string
			systems int
		}{
			{"visitor", visitor, "public robot gone", "<nil> <nil> <nil>", 1},
			{"reader", reader, "public logged-in robot gone", "<nil> <nil> <nil> <nil>", 1},
			{"application that may not see systems", blind, "public logged-in robot gone", "<nil> <nil> <nil> <nil>", 0},
			{"manager", manager, "public logged-in internal robot gone", "Ann Example Ann Example Ann Example Deploy robot <nil>", 1},
		} {
			one, err := b.call(c.as, "getIncident", `{"id":"`+id+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			many, err := b.call(c.as, "getBulkIncidentUpdates", `{"incidentIds":["`+id+`"]}`)
			if err != nil {
				t.Fatal(err)
			}
			for where, updates := range map[string][]map[string]any{"getIncident": list(one, "updates"), "getBulkIncidentUpdates": list(many["updates"].(map[string]any), id)} {
				var messages, authors []string
				for _, u := range updates {
					messages = append(messages, u["message"].(string))
					authors = append(authors, fmt.Sprint(u["createdByName"]))
					if _, shown := u["createdBy"].(string); shown != (c.name == "manager") {
						t.Errorf("%s: %s is told the author's id: %v", where, c.name, u)
					}
				}
				if strings.Join(messages, " ") != c.updates || strings.Join(authors, " ") != c.authors {
					t.Errorf("%s: %s sees %v by %v", where, c.name, messages, authors)
				}
			}
			if len(list(one, "systems")) != c.systems || len(one["systemIds"].([]any)) != 1 {
				t.Errorf("%s sees systems %v of %v", c.name, one["systems"], one["systemIds"])
			}
		}
	})
}

// TestList pages through every filter and finds each incident once, newest
// first.
func TestList(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		one, two := b.system("One"), b.system("Two")
		for i := range 12 {
			systems := `"` + one + `"`
			if i%3 == 0 {
				systems += `,"` + two + `"`
			}
			severity := []string{"minor", "critical"}[i%2]
			id := b.must("createIncident", fmt.Sprintf(`{"title":"Störung %02d 100%%","severity":"%s","systemIds":[%s]}`, i, severity, systems))["id"].(string)
			switch i % 4 {
			case 1:
				b.must("resolveIncident", `{"id":"`+id+`"}`)
			case 2:
				b.must("updateIncident", `{"id":"`+id+`","status":"fixing"}`)
			}
		}
		for _, c := range []struct{ filter, want string }{
			{``, "11 10 08 07 06 04 03 02 00"},
			{`"includeResolved":true`, "11 10 09 08 07 06 05 04 03 02 01 00"},
			{`"status":"resolved"`, "09 05 01"},
			{`"status":"resolved","includeResolved":false`, "09 05 01"},
			{`"status":"fixing","includeResolved":true`, "10 06 02"},
			{`"severity":"critical"`, "11 07 03"},
			{`"severity":"critical","includeResolved":true`, "11 09 07 05 03 01"},
			{`"systemId":"` + two + `"`, "06 03 00"},
			{`"systemId":"` + two + `","includeResolved":true`, "09 06 03 00"},
			{`"systemId":"` + two + `","status":"resolved"`, "09"},
			{`"systemId":"` + unknown + `"`, ""},
			{`"query":"STÖRUNG 0"`, "08 07 06 04 03 02 00"},
			{`"query":" 07 "`, "07"},
			{`"query":"100%"`, "11 10 08 07 06 04 03 02 00"},
			{`"query":"1_0"`, ""},
			{`"query":"0","severity":"minor","systemId":"` + one + `","includeResolved":true`, "10 08 06 04 02 00"},
		} {
			for _, limit := range []int{1, 2, 5, 100} {
				var got []string
				cursor := ""
				for range 20 {
					input := fmt.Sprintf(`{"limit":%d`, limit)
					if c.filter != "" {
						input += "," + c.filter
					}
					if cursor != "" {
						input += `,"cursor":"` + cursor + `"`
					}
					out := b.must("listIncidents", input+"}")
					if out["activeCount"] != 9.0 {
						t.Errorf("%s: activeCount %v, want 9", c.filter, out["activeCount"])
					}
					page := list(out, "incidents")
					for _, in := range page {
						got = append(got, strings.Fields(in["title"].(string))[1])
					}
					if len(page) > limit {
						t.Errorf("%s: %d on a page of %d", c.filter, len(page), limit)
					}
					var more bool
					if cursor, more = out["nextCursor"].(string); !more {
						break
					}
				}
				if strings.Join(got, " ") != c.want {
					t.Errorf("{%s} in pages of %d: %v, want %s", c.filter, limit, got, c.want)
				}
			}
		}
	})
}

func TestForSystems(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		one, two, three := b.system("One"), b.system("Two"), b.system("Three")
		b.open("a", one)
		b.open("b", one, two)
		b.must("resolveIncident", `{"id":"`+b.open("c", one, two)+`"}`)
		out := b.must("getBulkIncidentsForSystems", `{"systemIds":["`+one+`","`+two+`","`+three+`","`+unknown+`"]}`)["incidents"].(map[string]any)
		for id, want := range map[string]string{one: "b, a", two: "b", three: "", unknown: ""} {
			if got := titles(out, id); got != want || out[id] == nil {
				t.Errorf("of %s: %s, want %s", id, got, want)
			}
		}
		for range 55 {
			b.open("many", three)
		}
		if got := list(b.must("getIncidentsForSystem", `{"systemId":"`+three+`"}`), "incidents"); len(got) != 50 {
			t.Errorf("%d incidents of one system, want the newest 50", len(got))
		}
	})
}

func TestMentions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		ids := map[string]string{}
		for _, title := range []string{"Slow payments", "Payments down", "Überlast", "Repayments late", "Payday", "Old payments"} {
			ids[title] = b.open(title, sys)
		}
		b.must("resolveIncident", `{"id":"`+ids["Old payments"]+`"}`)
		b.must("resolveIncident", `{"id":"`+ids["Payments down"]+`"}`)
		for _, c := range []struct{ input, want string }{
			{`{}`, "Payday, Repayments late, Überlast, Slow payments, Old payments, Payments down"},
			{`{"query":"pay"}`, "Payday, Slow payments, Repayments late, Payments down, Old payments"},
			{`{"query":"PAYMENTS","limit":2}`, "Slow payments, Repayments late"},
			{`{"query":"übER"}`, "Überlast"},
			{`{"query":"%"}`, ""},
		} {
			if got := titles(b.must("searchIncidentRefs", c.input), "items"); got != c.want {
				t.Errorf("%s: %s, want %s", c.input, got, c.want)
			}
		}
		out := b.must("resolveIncidentRefs", `{"ids":["`+ids["Payday"]+`","nonsense","`+unknown+`","`+ids["Old payments"]+`","`+ids["Payday"]+`"]}`)
		if titles(out, "readable") != "Payday, Old payments" || list(out, "readable")[0]["active"] != true || list(out, "readable")[1]["active"] != false {
			t.Errorf("readable: %v", out)
		}
		if out := b.must("resolveIncidentRefs", `{"ids":[]}`); len(out["readable"].([]any)) != 0 {
			t.Errorf("of nothing: %v", out)
		}
	})
}

// FuzzCursor: any text is either a cursor or refused by name.
func FuzzCursor(f *testing.F) {
	b := setupFuzz(f)
	for _, s := range []string{"", "x", unknown, "{" + unknown + "}", "urn:uuid:" + unknown, "018F0000-0000-7000-8000-000000000000", "\x00", "' OR 1=1 --"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		_, err := b.List(authz.With(t.Context(), reader), incident.Filter{Before: cursor, Limit: 1})
		if p, ok := problem.As(err); err != nil && (!ok || p.Kind != problem.KindInvalid || p.Issues[0].Path != "cursor") {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	})
}

// FuzzLink: a link is an http or https address or is refused by name.
func FuzzLink(f *testing.F) {
	b := setupFuzz(f)
	for _, s := range []string{"https://example.com", "HTTP://EXAMPLE.com/a?b#c", "javascript:alert(1)", "https://u:p@example.com", "//example.com", "https://[::1]:80/", "https:example.com", "http://\u202e", "data:text/html,x", " https://example.com\n"} {
		f.Add("label", s)
	}
	var add operation.Operation
	for _, op := range b.Operations() {
		if op.Declaration().ID == "incident.addLink" {
			add = op
		}
	}
	f.Fuzz(func(t *testing.T, label, url string) {
		raw, err := json.Marshal(map[string]string{"incidentId": unknown, "label": label, "url": url})
		if err != nil {
			t.Skip()
		}
		_, err = add.CallJSON(authz.With(t.Context(), manager), raw)
		p, ok := problem.As(err)
		switch {
		case ok && p.Kind == problem.KindInvalid && len(p.Issues) > 0:
		case ok && p.Kind == problem.KindNotFound: // accepted: the incident is what is missing
			low := strings.ToLower(strings.TrimSpace(url))
			if !strings.HasPrefix(low, "http://") && !strings.HasPrefix(low, "https://") {
				t.Errorf("accepted %q", url)
			}
		default:
			t.Errorf("%q %q: %v", label, url, err)
		}
	})
}
