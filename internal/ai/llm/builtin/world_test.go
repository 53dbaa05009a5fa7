package builtin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/zone"
)

var (
	berlin = mustZone("Europe/Berlin")
	now    = time.Date(2026, 11, 30, 13, 5, 0, 0, time.UTC)
)

func mustZone(name string) *time.Location {
	loc, err := zone.Load(name)
	if err != nil {
		panic(err)
	}
	return loc
}

var allTools = []string{
	"incident_list", "incident_get", "incident_create", "incident_update", "incident_addUpdate", "incident_resolve", "incident_addLink", "incident_removeLink", "incident_delete",
	"maintenance_list", "maintenance_get", "maintenance_create", "maintenance_update", "maintenance_addUpdate", "maintenance_close", "maintenance_addLink", "maintenance_removeLink", "maintenance_delete",
	"catalog_listSystems", "catalog_createSystem", "catalog_updateSystem", "catalog_deleteSystem",
	"catalog_listGroups", "catalog_createGroup", "catalog_updateGroup", "catalog_deleteGroup",
	"catalog_addSystemToGroup", "catalog_removeSystemFromGroup",
	"healthcheck_status", "healthcheck_propose", "healthcheck_update", "healthcheck_delete", "system_issues",
}

// world answers tool calls as the platform does: reads from fixed texts,
// changes with a confirm card, or applied.
type world struct {
	reads   map[string]string // by tool, or "tool {args}" for one call
	errors  map[string]string // by tool
	applied bool
	without []string // tools that are not offered
}

func defaultWorld() world {
	return world{reads: map[string]string{
		"catalog_listSystems": `{"systems":[{"id":"s1","name":"Payments API","description":"takes money"},{"id":"s2","name":"Billing","description":null},{"id":"s3","name":"Twin"},{"id":"s4","name":"twin"}]}`,
		"catalog_listGroups":  `{"groups":[{"id":"g1","name":"Backend","systemIds":["s1"]},{"id":"g2","name":"Frontend","systemIds":[]}]}`,
		"healthcheck_status": `{"checks":[
			{"configurationId":"c1","name":"Payments health","systemId":"s1","systemName":"Payments API","status":"unhealthy","since":"2026-11-30T13:00:00.000Z","reason":"Check failed: connection refused","intervalSeconds":30,"paused":false,"lastRunAt":"2026-11-30T13:04:30.000Z"},
			{"configurationId":"c2","name":"Billing page","systemId":"s2","systemName":"Billing","status":"healthy","since":"2026-11-29T10:00:00.000Z","reason":null,"intervalSeconds":60,"paused":false,"lastRunAt":"2026-11-30T13:04:00.000Z"}]}`,
		`healthcheck_status {"systemId":"s1"}`: `{"checks":[{"configurationId":"c1","name":"Payments health","systemId":"s1","systemName":"Payments API","status":"unhealthy","since":"2026-11-30T13:00:00.000Z","reason":"Check failed: connection refused","intervalSeconds":30,"paused":false}]}`,
		`healthcheck_status {"systemId":"s2"}`: `{"checks":[{"configurationId":"c2","name":"Billing page","systemId":"s2","systemName":"Billing","status":"healthy","since":"2026-11-29T10:00:00.000Z","intervalSeconds":60,"paused":false}]}`,
		"system_issues":                        `{"systems":[{"systemId":"s1","systemName":"Payments API","signals":[{"source":"healthcheck","tone":"error","label":"Unhealthy","since":"2026-11-30T13:00:00Z"},{"source":"incident","tone":"warn","label":"Open incident","detail":"Card payments fail"}]}],"totalSystems":1,"totalSignals":2,"checkedSources":["healthcheck","incident"],"inaccessibleSources":["slo"],"failedSources":["anomaly"]}`,
		"incident_list": `{"incidents":[
			{"id":"i1","title":"Card payments fail","status":"investigating","severity":"critical","systems":[{"id":"s1","name":"Payments API"}],"createdAt":"2026-11-30T13:00:00.000Z"},
			{"id":"i2","title":"Slow invoices","status":"monitoring","severity":"minor","systems":[{"id":"s2","name":"Billing"},{"id":"s1","name":"Payments API"}],"createdAt":"2026-11-29T10:00:00.000Z"}],"activeCount":2}`,
		`incident_list {"includeResolved":true,"limit":100,"query":"Old one"}`: `{"incidents":[{"id":"i0","title":"Old one","status":"resolved","severity":"minor","systems":[{"id":"s2","name":"Billing"}],"createdAt":"2026-10-01T10:00:00Z","resolvedAt":"2026-10-01T11:00:00Z"}],"activeCount":2}`,
		`incident_list {"includeResolved":true,"limit":100,"query":"nothing"}`: `{"incidents":[],"activeCount":2}`,
		"incident_get": `{"id":"i1","title":"Card payments fail","description":"All cards","status":"investigating","severity":"critical","override":"unhealthy","suppressNotifications":true,"systems":[{"id":"s1","name":"Payments API"}],"createdAt":"2026-11-30T13:00:00.000Z",
			"updates":[{"at":"2026-11-30T13:01:00.000Z","by":"Ada","audience":"internal","statusChange":"investigating","message":"Looking <b>"}],"links":[{"id":"l1","label":"Call","url":"https://meet.example.com/x"}]}`,
		"maintenance_list": `{"maintenances":[
			{"id":"m1","title":"DB upgrade","status":"scheduled","startAt":"2026-12-05T21:00:00.000Z","endAt":"2026-12-05T22:30:00.000Z","systems":[{"id":"s1","name":"Payments API"}]},
			{"id":"m2","title":"Weekly reboot","status":"scheduled","startAt":"2026-12-06T01:00:00.000Z","endAt":"2026-12-06T02:00:00.000Z","systems":[{"id":"s2","name":"Billing"}],"seriesId":"w"},
			{"id":"m3","title":"Weekly reboot","status":"scheduled","startAt":"2026-12-13T01:00:00.000Z","endAt":"2026-12-13T02:00:00.000Z","systems":[{"id":"s2","name":"Billing"}],"seriesId":"w"},
			{"id":"m4","title":"Disk swap","status":"in_progress","startAt":"2026-11-30T12:00:00.000Z","endAt":"2026-11-30T14:00:00.000Z","systems":[{"id":"s1","name":"Payments API"},{"id":"s2","name":"Billing"}]}]}`,
		`maintenance_list {"limit":100,"query":"nothing"}`: `{"maintenances":[]}`,
		"maintenance_get":                    `{"id":"m1","title":"DB upgrade","status":"scheduled","startAt":"2026-12-05T21:00:00.000Z","endAt":"2026-12-05T22:30:00.000Z","systems":[{"id":"s1","name":"Payments API"}],"updates":[],"links":[{"id":"l2","label":"Ticket","url":"https://t.example.com/1"}]}`,
		`system_issues {"systemIds":["s2"]}`: `{"systems":[],"totalSystems":0,"totalSignals":0,"checkedSources":["healthcheck"],"inaccessibleSources":[],"failedSources":[]}`,
	}}
}

func (w world) answer(c llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, ToolName: c.Name}
	if text, ok := w.errors[c.Name]; ok {
		m.Text, m.IsError = text, true
		return m
	}
	if text, ok := w.reads[c.Name+" "+string(c.Arguments)]; ok {
		m.Text = text
		return m
	}
	if text, ok := w.reads[c.Name]; ok {
		m.Text = text
		return m
	}
	card := map[string]any{"__confirm": true, "status": "awaiting_operator", "toolName": c.Name, "effect": "mutate", "note": "wait; ignore this"}
	if w.applied {
		card = map[string]any{"__applied": true, "toolName": c.Name, "effect": "mutate", "result": map[string]any{"id": "new"}}
	}
	b, err := json.Marshal(card)
	if err != nil {
		panic(err)
	}
	m.Text = string(b)
	return m
}

func (w world) tools() []llm.ToolDef {
	var out []llm.ToolDef
	for _, name := range allTools {
		skip := false
		for _, x := range w.without {
			skip = skip || x == name
		}
		if !skip {
			out = append(out, llm.ToolDef{Name: name})
		}
	}
	return out
}

// played is what a turn did.
type played struct {
	rounds [][]string // calls of each round, "tool {args}"
	answer string     // the last round's text
	text   string     // of all rounds
}

// calls gives the changes and reads of all rounds in order.
func (p played) calls() string {
	var rounds []string
	for _, r := range p.rounds {
		rounds = append(rounds, strings.Join(r, " + "))
	}
	return strings.Join(rounds, " ; ")
}

func (w world) play(t testing.TB, text string) played {
	t.Helper()
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}, Tools: w.tools(),
		Turn: llm.TurnContext{Now: now, Zone: berlin, Mode: llm.ModeApprove}}
	return w.resume(t, req)
}

// resume plays rounds until an answer; the steps are limited as in the loop.
func (w world) resume(t testing.TB, req llm.Request) played {
	t.Helper()
	var p played
	for step := range 16 {
		if step == 15 {
			req.Tools, req.Turn.Forced = nil, true
		}
		round := oneRound(t, req)
		p.answer = round.Text
		p.text += round.Text
		if len(round.ToolCalls) == 0 {
			return p
		}
		var names []string
		req.Messages = append(req.Messages, round.Message())
		for _, c := range round.ToolCalls {
			names = append(names, fmt.Sprintf("%s %s", c.Name, c.Arguments))
			req.Messages = append(req.Messages, w.answer(c))
		}
		p.rounds = append(p.rounds, names)
	}
	t.Fatalf("no answer within the steps: %s", p.calls())
	return p
}

// oneRound plays one round and checks what must hold for each.
func oneRound(t testing.TB, req llm.Request) llm.Round {
	t.Helper()
	offered := map[string]bool{}
	for _, d := range req.Tools {
		offered[d.Name] = true
	}
	var text strings.Builder
	done := 0
	round, err := New().Stream(t.Context(), req, func(e llm.Event) error {
		switch e := e.(type) {
		case llm.TextDelta:
			text.WriteString(e.Text)
		case llm.ToolCallDone:
			done++
			var o map[string]any
			if json.Unmarshal(e.Call.Arguments, &o) != nil || o == nil {
				t.Errorf("arguments are no object: %s", e.Call.Arguments)
			}
			if !offered[e.Call.Name] {
				t.Errorf("%s was not offered", e.Call.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != round.Text || done != len(round.ToolCalls) {
		t.Errorf("events and round differ: %q, %+v", text.String(), round)
	}
	if done == 0 && strings.TrimSpace(round.Text) == "" {
		t.Error("neither calls nor text")
	}
	if round.Usage != (llm.Usage{}) {
		t.Errorf("usage %+v, want none", round.Usage)
	}
	return round
}
