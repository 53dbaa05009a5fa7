package app

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ask sends a request as the administrator and reads the answer into out.
func (p *product) ask(t *testing.T, method, path, body string, out any) {
	t.Helper()
	status, text := p.call(t, p.client, method, path, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatal(err)
	}
}

// scene is what the pages show about one system.
type scene struct {
	Status, Forced, Silenced string
	Signals, Activity        []string
}

// look reads every surface about a system as the client of p sees it.
func (p *product) look(t *testing.T, system string) scene {
	t.Helper()
	var s scene
	var health struct {
		Status   string
		Override *struct{ Source, Title string }
	}
	p.ask(t, "GET", "/rest/healthcheck/getSystemHealthStatus?systemId="+system, "", &health)
	s.Status = health.Status
	if o := health.Override; o != nil {
		s.Forced = o.Source + ": " + o.Title
	}
	var issues struct {
		Systems []struct {
			SystemID string
			Signals  []struct{ Source, Tone, Label, Detail string }
		}
		FailedSources []string
	}
	p.ask(t, "GET", "/rest/system/getIssues", "", &issues)
	for _, sys := range issues.Systems {
		if sys.SystemID != system {
			continue
		}
		for _, sig := range sys.Signals {
			s.Signals = append(s.Signals, strings.TrimSuffix(sig.Source+" "+sig.Tone+" "+sig.Label+": "+sig.Detail, ": "))
		}
	}
	var feed struct {
		Items []struct {
			Source, Kind, Title, From, To, Href string
			Systems                             []struct{ ID, Name string }
		}
		FailedSources []string
	}
	p.ask(t, "GET", "/rest/system/getRecentActivity", "", &feed)
	for _, item := range feed.Items {
		s.Activity = append(s.Activity, strings.Join([]string{item.Source, item.Kind, item.Title, item.From, item.To}, " "))
	}
	if failed := append(issues.FailedSources, feed.FailedSources...); len(failed) > 0 {
		t.Errorf("sources failed: %v\n%s", failed, p.logs)
	}
	var silence struct{ SilencedBy *string }
	p.ask(t, "GET", "/rest/system/getSilence?systemId="+system, "", &silence)
	if silence.SilencedBy != nil {
		s.Silenced = *silence.SilencedBy
	}
	return s
}

// TestAnIncidentShowsEverywhere: opened, renamed, resolved; in the health of its
// system, among the issues, in the activity and as silence.
func TestAnIncidentShowsEverywhere(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		p.signUp(t)
		shop := p.must(t, "/rest/catalog/createSystem", `{"name":"Shop"}`)["id"].(string)
		expect := func(when string, want scene) {
			t.Helper()
			if d := cmp.Diff(want, p.look(t, shop)); d != "" {
				t.Errorf("%s (-want +got)\n%s", when, d)
			}
		}
		expect("before", scene{Status: "unknown"})

		incident := p.must(t, "/rest/incident/createIncident", `{"title":"Payments fail","severity":"major","systemIds":["`+shop+`"],"override":"unhealthy","suppressNotifications":true}`)["id"].(string)
		opened := []string{"healthcheck changed Shop  unhealthy", "incident opened Payments fail  "}
		got := p.look(t, shop)
		got.Activity = slices.Sorted(slices.Values(got.Activity)) // both happened in the same transaction
		if d := cmp.Diff(scene{Status: "unhealthy", Forced: "incident: Payments fail", Silenced: "incident",
			Signals:  []string{"healthcheck error Unhealthy - forced by incident: Payments fail", "incident warn Incident: Payments fail: investigating"},
			Activity: opened}, got); d != "" {
			t.Errorf("opened (-want +got)\n%s", d)
		}

		var any map[string]any
		p.ask(t, "PATCH", "/rest/incident/updateIncident", `{"id":"`+incident+`","title":"Cards are refused","severity":"minor","suppressNotifications":false}`, &any)
		got = p.look(t, shop)
		if got.Forced != "incident: Cards are refused" || got.Silenced != "" ||
			!cmp.Equal(got.Signals, []string{"healthcheck error Unhealthy - forced by incident: Cards are refused", "incident info Incident: Cards are refused: investigating"}) {
			t.Errorf("renamed: %+v", got)
		}

		p.must(t, "/rest/incident/resolveIncident", `{"id":"`+incident+`"}`)
		got = p.look(t, shop)
		if got.Status != "unknown" || got.Forced != "" || got.Signals != nil || len(got.Activity) != 4 {
			t.Errorf("resolved: %+v", got)
		}
		if newest := slices.Sorted(slices.Values(got.Activity[:2])); !cmp.Equal(newest, []string{"healthcheck changed Shop unhealthy unknown", "incident resolved Cards are refused  resolved"}) {
			t.Errorf("resolved: the newest activity is %q", newest)
		}

		// What foreign keys do not remove, an event does.
		p.ask(t, "DELETE", "/rest/catalog/deleteSystem", `{"id":"`+shop+`"}`, &any)
		waitFor(t, "the history of the deleted system to go", func() bool {
			n, err := p.db.Read.NewSelect().Table("health_check_state_transitions").Count(t.Context())
			return err == nil && n == 0
		})
	})
}

// TestAMaintenanceShowsWhileItRuns: only in progress it is among the issues and
// silences its systems, before an incident is asked (spec/monitoring.md 20, item
// 9: a scheduled one never silences).
func TestAMaintenanceShowsWhileItRuns(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		p.signUp(t)
		shop := p.must(t, "/rest/catalog/createSystem", `{"name":"Shop"}`)["id"].(string)
		plan := func(title string, from, to time.Duration) string {
			now := time.Now().UTC()
			return p.must(t, "/rest/maintenance/createMaintenance", `{"title":"`+title+`","systemIds":["`+shop+`"],"suppressNotifications":true,"startAt":"`+
				now.Add(from).Format(time.RFC3339)+`","endAt":"`+now.Add(to).Format(time.RFC3339)+`"}`)["id"].(string)
		}
		plan("Later", time.Hour, 2*time.Hour)
		want := scene{Status: "unknown", Activity: []string{"maintenance scheduled Later  "}}
		if d := cmp.Diff(want, p.look(t, shop)); d != "" {
			t.Errorf("scheduled (-want +got)\n%s", d)
		}
		now := plan("Upgrade", -time.Minute, time.Hour)
		p.must(t, "/rest/incident/createIncident", `{"title":"Down","severity":"critical","systemIds":["`+shop+`"],"suppressNotifications":true}`)
		waitFor(t, "the maintenance to start", func() bool { return p.look(t, shop).Silenced == "maintenance" })
		got := p.look(t, shop)
		if !cmp.Equal(got.Signals, []string{"incident error Incident: Down: investigating", "maintenance info Maintenance: Upgrade"}) || got.Status != "unknown" {
			t.Errorf("in progress: %+v", got)
		}
		if !slices.Contains(got.Activity, "maintenance started Upgrade  in_progress") {
			t.Errorf("in progress: activity %q", got.Activity)
		}
		p.must(t, "/rest/maintenance/closeMaintenance", `{"id":"`+now+`"}`)
		got = p.look(t, shop)
		if got.Silenced != "incident" || !cmp.Equal(got.Signals, []string{"incident error Incident: Down: investigating"}) ||
			!strings.HasPrefix(strings.Join(got.Activity, "|"), "maintenance completed Upgrade  completed") {
			t.Errorf("closed: %+v", got)
		}
	})
}
