package app

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// TestIncidentsWorsenHealthEverywhere follows an override from the incident to
// every answer that shows health, and back: it applies to a system without
// checks, names the incident, and goes with it.
func TestIncidentsWorsenHealthEverywhere(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		p.signUp(t)
		sys := p.must(t, "/rest/catalog/createSystem", `{"name":"Payments API"}`)["id"].(string)
		read := func(path string) map[string]any {
			t.Helper()
			status, out := p.call(t, p.client, "GET", path, "")
			if status != 200 {
				t.Fatalf("%s: %d %s", path, status, out)
			}
			var m map[string]any
			if err := json.Unmarshal([]byte(out), &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
		health := func() any { return read("/rest/healthcheck/getSystemHealthStatus?systemId=" + sys)["status"] }
		issues := func() string {
			t.Helper()
			_, out := p.call(t, p.client, "GET", "/rest/system/getIssues", "")
			return out
		}
		incident := p.must(t, "/rest/incident/createIncident", `{"title":"Card payments fail","severity":"critical","systemIds":["`+sys+`"],"override":"degraded"}`)
		id := incident["id"].(string)
		want := func(when, status string) {
			t.Helper()
			if got := health(); got != status {
				t.Errorf("%s: health %v, want %s", when, got, status)
			}
			if named := strings.Contains(issues(), "Card payments fail"); named != (status != "unknown") {
				t.Errorf("%s: the dashboard names the incident: %v (%s)", when, named, issues())
			}
		}
		want("opened", "degraded")
		status, out := p.call(t, p.client, "PATCH", "/rest/incident/updateIncident", `{"id":"`+id+`","override":"unhealthy"}`)
		if status != 200 {
			t.Fatalf("%d %s", status, out)
		}
		want("worse", "unhealthy")
		p.must(t, "/rest/incident/resolveIncident", `{"id":"`+id+`"}`)
		want("resolved", "unknown")
		p.must(t, "/rest/incident/addUpdate", `{"incidentId":"`+id+`","message":"Again","statusChange":"fixing"}`)
		want("reopened", "unhealthy")
		if status, out := p.call(t, p.client, "DELETE", "/rest/incident/deleteIncident", `{"id":"`+id+`"}`); status != 200 {
			t.Fatalf("%d %s", status, out)
		}
		want("deleted", "unknown")

		// What the deletion of a system takes with it is said before.
		p.must(t, "/rest/incident/createIncident", `{"title":"Slow","severity":"minor","systemIds":["`+sys+`"]}`)
		card := p.must(t, "/rest/ai/proposeTool", `{"toolName":"catalog.deleteSystem","input":{"id":"`+sys+`"}}`)
		if s := card["summary"].(string); !strings.Contains(s, `its place in the active incident "Slow"`) {
			t.Errorf("summary %q", s)
		}
	})
}

// TestSystemsAreDeletedWhileTheirIncidentsEnd: both write the same rows of
// incidents and health; neither makes the other fail.
func TestSystemsAreDeletedWhileTheirIncidentsEnd(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		p.signUp(t)
		const n = 6
		for range 5 {
			systems, incidents := make([]string, n), make([]string, n)
			for i := range n {
				systems[i] = p.must(t, "/rest/catalog/createSystem", `{"name":"S"}`)["id"].(string)
			}
			for i := range n {
				incidents[i] = p.must(t, "/rest/incident/createIncident",
					`{"title":"I","severity":"minor","override":"degraded","systemIds":["`+strings.Join(systems, `","`)+`"]}`)["id"].(string)
			}
			var wg sync.WaitGroup
			for i := range n {
				for _, req := range [][3]string{
					{"DELETE", "/rest/catalog/deleteSystem", `{"id":"` + systems[i] + `"}`},
					{"POST", "/rest/incident/resolveIncident", `{"id":"` + incidents[i] + `"}`},
				} {
					wg.Go(func() {
						if status, out := p.call(t, p.client, req[0], req[1], req[2]); status != 200 {
							t.Errorf("%s: %d %s", req[1], status, out)
						}
					})
				}
			}
			wg.Wait()
		}
	})
}
