package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/zone"
)

// talk sends one message to the built-in assistant and gives the text of its
// answer and the waiting cards.
type talk struct {
	p                  *product
	conversation, zone string
}

type waitingCard struct {
	Confirm bool   `json:"__confirm"`
	Token   string `json:"token"`
	Effect  string `json:"effect"`
	Summary string `json:"summary"`
}

func (c talk) says(t *testing.T, text string) (answer string, cards []waitingCard) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"conversationId": c.conversation, "connectionId": "builtin", "timeZone": c.zone, "message": text})
	if err != nil {
		t.Fatal(err)
	}
	status, out := c.p.call(t, c.p.client, http.MethodPost, "/api/ai/chat", string(body))
	if status != http.StatusOK || !strings.Contains(out, `"finish"`) {
		t.Fatalf("%s: %d %s", text, status, out)
	}
	_, stored := c.p.call(t, c.p.client, http.MethodGet, "/rest/ai/getConversation?id="+c.conversation, "")
	messages := decode[struct{ Messages []chatMessage }](t, []byte(stored)).Messages
	last := messages[len(messages)-1]
	for _, part := range last.Parts {
		var card waitingCard
		if json.Unmarshal(part.Output, &card) == nil && card.Confirm {
			cards = append(cards, card)
		}
	}
	return last.text(), cards
}

// get reads a query of the product.
func (c talk) get(t *testing.T, path string) map[string]any {
	t.Helper()
	status, out := c.p.call(t, c.p.client, http.MethodGet, path, "")
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, out)
	}
	return decode[map[string]any](t, []byte(out))
}

// want says something and looks for parts of the answer.
func (c talk) want(t *testing.T, text string, parts ...string) {
	t.Helper()
	answer, _ := c.says(t, text)
	for _, part := range parts {
		if !strings.Contains(answer, part) {
			t.Errorf("%s: %q is not in the answer:\n%s", text, part, answer)
		}
	}
}

// TestIncidentsAndMaintenancesByWord walks what a person says through the whole
// product: the assistant's calls, the gate, the domains, the answers.
func TestIncidentsAndMaintenancesByWord(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		p.signUp(t)
		for _, name := range []string{"Payments API", "Billing"} {
			p.must(t, "/rest/catalog/createSystem", `{"name":"`+name+`"}`)
		}
		id := p.must(t, "/rest/ai/createConversation", `{"permissionMode":"auto"}`)["id"].(string)
		c := talk{p, id, "Europe/Berlin"}

		c.want(t, "list incidents", "no active incident")
		c.want(t, "open a critical incident on Payments API: card payments fail", "Done")
		c.want(t, "open a critical incident on Payments API: Card payments FAIL", "already", "Nothing was changed")
		incidents := asList(c.get(t, "/rest/incident/listIncidents")["incidents"])
		if len(incidents) != 1 || incidents[0]["severity"] != "critical" || incidents[0]["title"] != "card payments fail" {
			t.Fatalf("incidents %v", incidents)
		}
		c.want(t, "update incident card payments fail: we found the cause, it is the database", "Done")
		c.want(t, "add an internal note to it: the index was dropped", "Done")
		c.want(t, "set incident card payments fail to monitoring: the index is back", "Done")
		c.want(t, "make it minor", "Done")
		c.want(t, "add Billing to the incident card payments fail", "Done")
		c.want(t, `add link https://meet.example.com/x as "Call" to incident card payments fail`, "Done")
		c.want(t, "show incident card payments fail", "minor, monitoring", "on Billing and Payments API", "we found the cause, it is the database", "the index was dropped (internal)", "**Call**")
		c.want(t, "incidents of Billing", "1 active incident on **Billing**")
		c.want(t, "resolve the payments incident with note: all cards work again", "Done")
		c.want(t, "list incidents", "no active incident")
		c.want(t, "resolve incident card payments fail", "resolved already")
		detail := c.get(t, "/rest/incident/getIncident?id="+incidents[0]["id"].(string))
		var audiences []string
		for _, u := range asList(detail["updates"]) {
			audiences = append(audiences, fmt.Sprint(u["audience"]))
		}
		if detail["status"] != "resolved" || strings.Join(audiences, " ") != "public internal public public" || asList(detail["updates"])[3]["message"] != "all cards work again" {
			t.Errorf("%v", detail)
		}
		if _, cards := c.says(t, "delete incident card payments fail"); len(cards) != 1 || cards[0].Effect != "destructive" {
			t.Errorf("a deletion in auto mode: %v", cards)
		}

		// One text in two zones is two windows.
		one := talk{p, p.must(t, "/rest/ai/createConversation", `{"permissionMode":"auto"}`)["id"].(string), "America/New_York"}
		for zoneOf, c := range map[string]talk{"Europe/Berlin": c, "America/New_York": one} {
			loc, err := zone.Load(zoneOf)
			if err != nil {
				t.Fatal(err)
			}
			c.want(t, `schedule maintenance "DB of `+zoneOf+`" for Payments API and Billing 2030-06-05 22:00 to 00:30`, "Done", "Wed 5 Jun 2030 22:00 to Thu 6 Jun 2030 00:30 ("+zoneOf)
			m := c.maintenance(t, "DB of "+zoneOf)
			if m["startAt"] != rest(time.Date(2030, 6, 5, 22, 0, 0, 0, loc)) || m["endAt"] != rest(time.Date(2030, 6, 6, 0, 30, 0, 0, loc)) {
				t.Errorf("%s: %v to %v", zoneOf, m["startAt"], m["endAt"])
			}
		}
		berlin, _ := zone.Load("Europe/Berlin")
		c.want(t, `extend maintenance DB of Europe/Berlin by 30 minutes`, "Done")
		c.want(t, `move maintenance DB of Europe/Berlin to 2030-06-07 23:00`, "Done")
		if m := c.maintenance(t, "DB of Europe/Berlin"); m["startAt"] != rest(time.Date(2030, 6, 7, 23, 0, 0, 0, berlin)) || m["endAt"] != rest(time.Date(2030, 6, 8, 2, 0, 0, 0, berlin)) {
			t.Errorf("moved to %v, %v", m["startAt"], m["endAt"])
		}
		c.want(t, "schedule maintenance for Billing 2030-03-31 02:30 for 1 hour", "leave out 02:30", "`2030-03-31 03:30`")
		c.want(t, "schedule maintenance for Billing 2030-10-27 02:30 for 1 hour", "twice", "`2030-10-27T02:30:00+02:00`")
		c.want(t, "schedule maintenance for Billing 2030-10-27T02:30:00+01:00 for 1 hour", "Done")
		c.want(t, "schedule maintenance for Billing 2020-03-31 02:00 for 1 hour", "has passed")

		c.want(t, "start maintenance for Billing called Reboot for 1 hour from now", "Done")
		c.want(t, "update maintenance Reboot: half of it is done", "Done")
		c.want(t, "close maintenance Reboot with note: quicker than planned", "Done")
		if m := c.maintenance(t, "Reboot"); m["status"] != "completed" {
			t.Errorf("closed: %v", m)
		}
		c.want(t, "cancel maintenance DB of America/New_York", "Done")
		if m := c.maintenance(t, "DB of America/New_York"); m["status"] != "cancelled" {
			t.Errorf("cancelled: %v", m)
		}
		c.want(t, "plan maintenance Weekly reboot for Billing every Sunday 02:00 to 03:00", "Done", "then every week on Sunday")
		c.want(t, "show maintenance Weekly reboot", "one of a series")
		c.want(t, "upcoming maintenances", "Weekly reboot", "DB of Europe/Berlin")

		// In approve mode the card waits, and applies what was said.
		approve := talk{p, p.must(t, "/rest/ai/createConversation", `{}`)["id"].(string), "Asia/Kathmandu"}
		answer, cards := approve.says(t, `schedule maintenance "Careful" for Billing 2030-12-05 22:00 for 90 minutes`)
		if len(cards) != 1 || !strings.Contains(answer, "Waiting for your decision") || !strings.Contains(answer, "Thu 5 Dec 2030 22:00 to 23:30 (Asia/Kathmandu, GMT+05:45)") {
			t.Fatalf("%v\n%s", cards, answer)
		}
		p.must(t, "/rest/ai/applyTool", `{"token":"`+cards[0].Token+`"}`)
		if m := c.maintenance(t, "Careful"); m["startAt"] != "2030-12-05T16:15:00Z" || m["endAt"] != "2030-12-05T17:45:00Z" {
			t.Errorf("applied %v", m)
		}
	})
}

// maintenance finds a maintenance by its title.
func (c talk) maintenance(t *testing.T, title string) map[string]any {
	t.Helper()
	list := asList(c.get(t, "/rest/maintenance/listMaintenances?query="+url.QueryEscape(title))["maintenances"])
	if len(list) != 1 {
		t.Fatalf("%s: %v", title, list)
	}
	return list[0]
}

// rest writes an instant as REST answers do.
func rest(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
