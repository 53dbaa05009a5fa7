package builtin

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
)

// args are the arguments of a call.
type args map[string]any

// call is a wish for one tool call. label says in plain words what a change
// does, for the report when the result has no summary.
type call struct {
	tool  string
	args  args
	label string
}

func (c call) json() json.RawMessage {
	if c.args == nil {
		return json.RawMessage("{}")
	}
	b, err := json.Marshal(c.args)
	if err != nil { // plans build arguments from strings, numbers and maps
		return json.RawMessage("{}")
	}
	return b
}

func (c call) key() string { return c.tool + " " + canonical(c.json()) }

// canonical gives JSON with sorted keys, so that stored and new arguments
// compare equal.
func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// step is what a plan wants now: calls, or an answer.
type step struct {
	calls []call
	text  string
}

func answer(text string) step { return step{text: text} }

// turn is the request as a plan sees it.
type turn struct {
	command string
	now     time.Time
	zone    *time.Location
	forced  bool
	offered map[string]bool
	results map[string]result // by call.key, of this turn only
	recent  map[string]string // by kind, the id or title of the incident or maintenance last changed or shown
	last    string            // the kind that came last
}

func newTurn(req llm.Request) *turn {
	t := &turn{now: req.Turn.Now, zone: req.Turn.Zone, forced: req.Turn.Forced,
		offered: map[string]bool{}, results: map[string]result{}, recent: map[string]string{}}
	if t.zone == nil {
		t.zone = time.UTC
	}
	for _, d := range req.Tools {
		t.offered[d.Name] = true
	}
	start := 0
	for i, m := range req.Messages {
		if m.Role == llm.RoleUser {
			t.command, start = m.Text, i+1
		}
	}
	for _, m := range req.Messages[:max(0, start-1)] {
		for _, c := range m.ToolCalls {
			t.remember(c)
		}
	}
	keys := map[string]string{}
	for _, m := range req.Messages[start:] {
		for _, c := range m.ToolCalls {
			keys[c.ID] = c.Name + " " + canonical(c.Arguments)
		}
		if key, ok := keys[m.ToolCallID]; ok && m.Role == llm.RoleTool {
			t.results[key] = readResult(m)
		}
	}
	return t
}

// remember keeps which incident or maintenance a call was about.
func (t *turn) remember(c llm.ToolCall) {
	kind, _, _ := strings.Cut(c.Name, "_")
	if kind != "incident" && kind != "maintenance" {
		return
	}
	if id := firstText(object(string(c.Arguments)), kind+"Id", "id", "title"); id != "" {
		t.recent[kind], t.last = id, kind
	}
}

// may reports whether a tool is offered, or was when its result came (the last
// step offers none).
func (t *turn) may(tool string) bool { return t.offered[tool] || t.forced }

// need gives the results of reads in the order of the calls. When some are
// missing it gives the step that gets them; when one failed or cannot be had,
// the step that says so.
func (t *turn) need(calls ...call) ([]result, *step) {
	var missing []call
	results := make([]result, len(calls))
	for i, c := range calls {
		r, ok := t.results[c.key()]
		switch {
		case ok && r.err != "":
			s := answer("I could not look that up: " + because(r.err))
			return nil, &s
		case ok:
			results[i] = r
		default:
			missing = append(missing, c)
		}
	}
	if len(missing) == 0 {
		return results, nil
	}
	s := t.ask(missing)
	return nil, &s
}

// gather gives the results of those reads that are offered, failed ones
// included, or the step that gets them. A read that is not offered has an
// error.
func (t *turn) gather(calls ...call) ([]result, *step) {
	var missing []call
	results := make([]result, len(calls))
	for i, c := range calls {
		r, ok := t.results[c.key()]
		switch {
		case ok:
			results[i] = r
		case t.offered[c.tool]:
			missing = append(missing, c)
		case t.forced:
			results[i].err = "I ran out of steps before I had looked"
		default:
			results[i].err = "not available to you here"
		}
	}
	if len(missing) > 0 {
		return nil, &step{calls: missing}
	}
	return results, nil
}

// ask gives the step that makes calls, if they can be made.
func (t *turn) ask(missing []call) step {
	if t.forced {
		return answer("I ran out of steps before I had looked that up. Nothing more was changed. Please ask again.")
	}
	for _, c := range missing {
		if !t.offered[c.tool] {
			return answer(notOffered(c.tool))
		}
	}
	return step{calls: missing}
}

// change makes changes in one round and reports what became of them.
func (t *turn) change(preface string, calls ...call) step {
	var missing []call
	for _, c := range calls {
		if _, ok := t.results[c.key()]; !ok {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		if t.forced && len(missing) < len(calls) {
			return answer(t.report(calls))
		}
		s := t.ask(missing)
		if len(s.calls) > 0 && len(missing) == len(calls) {
			s.text = preface
		}
		return s
	}
	return answer(t.report(calls))
}

// notOffered words what a missing tool means to the person.
func notOffered(tool string) string {
	what := map[string]string{
		"catalog_listSystems": "list systems", "catalog_listGroups": "list groups",
		"catalog_createSystem": "create systems", "catalog_updateSystem": "change systems", "catalog_deleteSystem": "delete systems",
		"catalog_createGroup": "create groups", "catalog_updateGroup": "change groups", "catalog_deleteGroup": "delete groups",
		"catalog_addSystemToGroup": "change group membership", "catalog_removeSystemFromGroup": "change group membership",
		"healthcheck_status": "read health checks", "healthcheck_propose": "create health checks",
		"healthcheck_update": "change health checks", "healthcheck_delete": "delete health checks",
		"system_issues": "read issues",
		"incident_list": "list incidents", "incident_get": "read incidents", "incident_create": "open incidents", "incident_update": "change incidents",
		"incident_addUpdate": "update incidents", "incident_resolve": "resolve incidents", "incident_delete": "delete incidents",
		"incident_addLink": "change links of incidents", "incident_removeLink": "change links of incidents",
		"maintenance_list": "list maintenances", "maintenance_get": "read maintenances", "maintenance_create": "schedule maintenances", "maintenance_update": "change maintenances",
		"maintenance_addUpdate": "update maintenances", "maintenance_close": "complete maintenances", "maintenance_delete": "delete maintenances",
		"maintenance_addLink": "change links of maintenances", "maintenance_removeLink": "change links of maintenances",
	}[tool]
	if what == "" {
		what = "do that"
	}
	return "I cannot " + what + " in this conversation. Most likely your account does not have the permission; an administrator can grant it."
}

// change outcomes.
const (
	waiting = iota
	applied
	failed
	unknown
)

// report says what became of changes, counting each kind.
func (t *turn) report(calls []call) string {
	var kinds [4][]string
	for _, c := range calls {
		r, ok := t.results[c.key()]
		label := c.label
		if r.summary != "" {
			label = r.summary
		}
		label = plain(strings.TrimSuffix(label, "."))
		switch {
		case !ok:
			kinds[unknown] = append(kinds[unknown], label)
		case r.err != "":
			kinds[failed] = append(kinds[failed], plain(c.label)+": "+because(r.err))
		case r.confirm:
			kinds[waiting] = append(kinds[waiting], label)
		default:
			kinds[applied] = append(kinds[applied], label)
		}
	}
	var out []string
	add := func(kind int, one, many string) {
		switch n := len(kinds[kind]); n {
		case 0:
		case 1:
			out = append(out, one+" "+sentence(kinds[kind][0]))
		default:
			out = append(out, strings.ReplaceAll(many, "#", count(n))+"\n"+bullets(kinds[kind]))
		}
	}
	add(applied, "Done:", "Done, # changes:")
	add(waiting, "Waiting for your decision on 1 change; nothing is changed until you apply it:",
		"Waiting for your decision on # changes; nothing is changed until you apply them:")
	add(failed, "This did not work:", "# changes did not work:")
	add(unknown, "Not done, I ran out of steps:", "# changes are not done, I ran out of steps:")
	if len(kinds[waiting]) > 0 && len(kinds[failed])+len(kinds[unknown]) > 0 {
		// The cards on screen were meant to go together with what failed.
		out = append(out, "Decline what waits unless you want it without the rest.")
	}
	return strings.Join(out, "\n\n")
}
