package builtin

import (
	"fmt"
	"slices"
	"strings"
)

const (
	listVerbs   = "list|show|display|get|give|print|what are|see|view|find|are there|do we have|have we|is there|what|which|how many"
	openWords   = "open|active|current|ongoing|unresolved|running|live"
	overWords   = "resolved|closed|past|old|former|finished"
	createWords = "open|create|declare|report|raise|start|file|add|make|log|new|register"
	deleteWords = "delete|remove|drop|get rid of|erase"
	statusWords = "investigating|identified|fixing|monitoring|resolved"
	severities  = "critical|major|minor"
)

func incidentIntents() []intent {
	return []intent{
		define("list incidents", planIncidents,
			"("+listVerbs+") [me|us] [all] [of] [the|my|our|any] [all] {=state "+openWords+"|"+overWords+"} incidents [there|right now|do we have]",
			"("+listVerbs+") [me|us] [all] [of] [the|my|our|any] {=severity "+severities+"} incidents",
			"("+listVerbs+") [me|us] {=all all} [of] [the|my|our] incidents",
			"("+listVerbs+") [me|us] [of] [the|my|our|any] incidents [there|are there|do we have|are open|are active|exist]",
			"[all|any|my|our|the] {=state "+openWords+"|"+overWords+"} incidents",
			"[all|any|my|our|the] {=severity "+severities+"} incidents",
			"[the|any|my|our] incidents", "{=all all} [the|my|our] incidents",
			"("+listVerbs+") [me|us] [all] [the|any] ["+openWords+"] incidents (of|for|on|with|in|at|affecting) [the] [system] {system}",
			"[all|any|the] ["+openWords+"] incidents (of|for|on|with|in|at|affecting) [the] [system] {system}"),
		define("show incident", planShow(incidents, "incident_get"),
			"(show|display|get|describe|view|see|give me|show me|read|details of|details for|details on|status of|what is|what's|what about|tell me about) [the] [details of|status of] [the] incident [called|with id] {name}",
			"(show|display|describe|view|show me|details of|status of|what about|tell me about) [the] {name} incident"),
		define("rename incident", planRetitle(incidents, "incident_update"),
			"rename [the] incident {name} (to|as|into) {new}",
			"(change|set|update) [the] title of [the] incident {name} to {new}",
			"(change|set|update) [the] incident {name} title to {new}").prose(),
		define("describe incident", planRedescribe(incidents, "incident_update"),
			"(change|set|update) [the] description (of|for) [the] incident {name} to {new}",
			"describe [the] incident {name} as {new}").prose(),
		define("incident severity", planSeverity,
			"(make|mark|set|escalate|raise|lower|downgrade|change|update) [the] [severity of] [the] incident {name} [severity] [to|as] [severity] {=severity "+severities+"}",
			"(make|mark|escalate|raise|lower|downgrade|set|change) [the] severity [of it] to {=severity "+severities+"}",
			"(make|mark|escalate|set|raise|lower|downgrade|change) {=name it|this|that|the incident|this incident|that incident} [to|as] {=severity "+severities+"}",
			"(make|mark|set|escalate|raise|lower|downgrade) [the] {name} incident [to|as] {=severity "+severities+"}"),
		define("incident override", planOverride,
			"(override|show|force) [the] [health of] [the] [systems of] [the] incident {name} (as|to|with) {=override degraded|unhealthy}",
			"(set|change) [the] [health] override (of|for|on) [the] incident {name} to {=override degraded|unhealthy|none}",
			"(clear|remove|lift|delete|drop) [the] [health] override (of|for|on|from) [the] incident {name}"),
		define("incident notifications", planIncidentSilence,
			"{=verb mute|silence} [the] incident {name}", "{=verb unmute} [the] incident {name}",
			"{=verb suppress|stop|disable|turn off|resume|enable|turn on} [the] notifications (for|of|about|on|during) [the] incident {name}"),
		define("resolve incident", planResolve,
			"(resolve|close|end|finish|solve) [the] incident {name} (with|and) [a|the] (note|message|comment|update) [:] {message}",
			"(resolve|close|end|finish|solve) [the] incident {name} (and say|saying) [:] {message}",
			"(resolve|close|end|finish|solve) [the] incident {name} : {message}",
			`(resolve|close|end|finish|solve) [the] incident {name} [with] {"message}`,
			"(resolve|close|end|finish|solve) [the] {name} incident (with|and) [a|the] (note|message|comment|update) [:] {message}",
			"(resolve|close|end|finish|solve) [the] {name} incident : {message}",
			"(mark|set|move) [the] [status of] [the] incident {name} (as|to) [status] resolved : {message}",
			"(mark|set|move|change|put) [the] [status of] [the] incident {name} (as|to) [status] resolved",
			"(mark|set) {=name it|this|that|the incident} (as|to) resolved",
			"[the] incident {name} is (resolved|over|fixed|solved|done|closed)",
			"(resolve|close|end|finish|solve) [the] incident {name}",
			"(resolve|close|end|finish|solve) [the] {name} incident",
			"(resolve|close|end|finish|solve) [the|this|that] incident",
			"resolve {=name it|this|that}").prose(),
		define("incident status", planIncidentStatus,
			"(set|move|mark|change|update|put|switch) [the] [status of] [the] incident {name} [status] (to|as|into) [status] {=status "+statusWords+"} (:|with message|with note|with the message|with the note|and say|saying) {message}",
			"(set|move|mark|change|update|put|switch) [the] [status of] [the] incident {name} [status] (to|as|into) [status] {=status "+statusWords+"}",
			"(set|move|mark|change|put|switch) [the] {name} incident (to|as|into) {=status "+statusWords+"}",
			"(set|move|mark|change|put|switch) {=name it|this|that|the incident|this incident} (to|as|into) [status] {=status "+statusWords+"} : {message}",
			"(set|move|mark|change|put|switch) {=name it|this|that|the incident|this incident} (to|as|into) [status] {=status "+statusWords+"}",
			"reopen [the] incident {name} : {message}", "reopen [the] incident {name}", "reopen [the] {name} incident").prose(),
		define("update incident", planIncidentUpdate,
			"(update|comment|comment on|note on) [the] incident {name} : {message}",
			"(update|comment|comment on|note on) [the] incident {name} (with|and) [a|an|the] [internal|private|public] (note|message|comment|update|say|saying) [:] {message}",
			`(update|comment|comment on|note on) [the] incident {name} [with] {"message}`,
			"(update|comment on) [the] {name} incident : {message}",
			"(update|comment on) [the|this|that] incident : {message}",
			"(add|post|write|send|publish) [a|an|the] [new] {=audience internal|private|public|logged-in} (update|comment|note|message) (to|on|for|in) [the] incident {name} : {message}",
			"(add|post|write|send|publish) [a|an|the] [new] (update|comment|note|message) (to|on|for|in) [the] incident {name} : {message}",
			`(add|post|write|send|publish) [a|an|the] [new] {=audience internal|private|public|logged-in} (update|comment|note|message) {"message} (to|on|for|in) [the] incident {name}`,
			`(add|post|write|send|publish) [a|an|the] [new] (update|comment|note|message) {"message} (to|on|for|in) [the] incident {name}`,
			`(add|post|write|send|publish) [a|an|the] [new] [internal|public] (update|comment|note|message) (to|on|for|in) [the] incident {name} {"message}`,
			`(add|post) {"message} (to|on) [the] incident {name}`).prose(),
		define("incident update without text", func(*turn, matched) step {
			return answer("What should the update say? Write it behind a colon, for example `update incident Card payments fail: we found the cause`.")
		},
			"(update|comment on) [the|this] incident {name}", "(add|post|write) [a|an] (update|comment|note) (to|on|for) [the] incident {name}"),
		define("incident link", planAddLink(incidents, "incident_addLink", "incidentId"),
			"(add|attach|put) [a|the] link {url} (as|called|named|labelled|labeled|with the label|with label) {label} (to|on) [the] incident {name}",
			"(add|attach|put) [a|the] link {url} (to|on) [the] incident {name} (as|called|named|labelled|labeled|with the label|with label) {label}",
			"(add|attach|put) [a|the] link {url} (to|on) [the] incident {name}"),
		define("incident unlink", planRemoveLink(incidents, "incident_get", "incident_removeLink", "incidentId"),
			"("+deleteWords+") [the] link {label} (from|of|on) [the] incident {name}"),
		define("incident systems", planRecordSystem(incidents, "incident_update", true),
			"(add|put) [the] [system] {system} (to|on|into) [the] incident {name}"),
		define("incident without system", planRecordSystem(incidents, "incident_update", false),
			"(remove|take|drop) [the] [system] {system} (from|out of|off) [the] incident {name}"),
		define("delete incident", planRecordDelete(incidents, "incident_delete"),
			"("+deleteWords+") [the] incident [called|named|with id] {name}",
			"("+deleteWords+") [the] {name} incident", "("+deleteWords+") [the|this|that] incident"),
		define("open incident", planOpen,
			"("+createWords+") [up] [a|an|another|new] [new] {=severity "+severities+"} incident {what}",
			"("+createWords+") [up] [a|an|another|new] [new] incident {what}").prose(),
		define("open incident without words", func(*turn, matched) step {
			return answer("What is wrong, and on which system? For example `open a critical incident on Payments API: card payments fail`.")
		}, "("+createWords+") [a|an|another|new] [new] ["+severities+"] incident"),
	}
}

func planIncidents(t *turn, m matched) step {
	if !t.may(incidents.open.tool) {
		return planOverview(t, m)
	}
	a := args{"limit": 100}
	if s := m.get("severity"); s != "" {
		a["severity"] = strings.ToLower(s)
	}
	heading, over := "active incident", slices.Contains(strings.Split(overWords, "|"), strings.ToLower(m.get("state")))
	switch {
	case over:
		a["status"], heading = "resolved", "resolved incident"
	case m.get("all") != "":
		a["includeResolved"], heading = true, "incident"
	}
	on := ""
	if name := m.get("system"); name != "" {
		x, s := t.find(name, "system")
		if s != nil {
			return *s
		}
		a["systemId"], on = x.id, " on "+bold(x.name)
	}
	results, s := t.need(call{tool: "incident_list", args: a})
	if s != nil {
		return *s
	}
	if !results[0].has(incidents.key) {
		return answer("I could not read the list of incidents: its answer has an unexpected form.")
	}
	list := incidents.read(results[0])
	if s := a["severity"]; s != nil {
		heading = fmt.Sprint(s) + " " + heading
	}
	if len(list) == 0 {
		return answer("There is no " + heading + on + " that you may see.")
	}
	var lines []string
	for _, r := range list {
		lines = append(lines, t.recordLine(r))
	}
	return answer(listing(plural(len(list), heading)+on, lines, shortened(results[0])))
}

func planOpen(t *turn, m matched) step {
	if !t.may("incident_create") {
		return answer(notOffered("incident_create"))
	}
	q := readRequest(m, m.words("what"))
	if s := m.get("severity"); s != "" {
		q.severity = strings.ToLower(s)
	}
	reads := []call{listSystems}
	if t.may(incidents.open.tool) {
		reads = append(reads, incidents.open)
	}
	results, s := t.need(reads...)
	if s != nil {
		return *s
	}
	if !results[0].has("systems") {
		return answer("I could not read the list of systems: its answer has an unexpected form. Nothing was changed.")
	}
	if ask := q.settle(results[0].things("system", "systems"), results[0].cutShort()); ask != "" {
		return answer(ask)
	}
	if q.title == "" {
		return answer(fmt.Sprintf("What is wrong with %s? Say it behind a colon, for example `open a critical incident on %s: card payments fail`.",
			names(q.systems, 3), plain(q.systems[0].name)))
	}
	preface := ""
	if q.severity == "" {
		q.severity = "major"
		preface = "You gave no severity, so I take major. "
	}
	if q.mentioned {
		preface += "I take the system from the title: " + bold(q.systems[0].name) + ". "
	}
	a := args{"title": q.title, "severity": q.severity, "systemIds": ids(q.systems)}
	q.fill(a)
	if q.override != "" {
		a["override"] = q.override
	}
	if q.message != "" {
		a["initialMessage"] = q.message
	}
	c := call{"incident_create", a, fmt.Sprintf("Open %s incident “%s” on %s", q.severity, q.title, names(q.systems, 3))}
	if !t.done(c) && len(results) > 1 {
		for _, r := range incidents.read(results[1]) {
			if fold(r.title) == fold(q.title) {
				return answer(fmt.Sprintf("There is an active incident called %s already (id %s). Nothing was changed. To tell people more, say `update incident %s: …`.", bold(r.title), plain(r.id), plain(r.title)))
			}
		}
	}
	if preface != "" {
		preface = strings.TrimSpace(preface) + "\n\n"
	}
	return t.change(preface, c)
}

// fill takes over what incidents and maintenances have in common.
func (q *request) fill(a args) {
	if q.description != "" {
		a["description"] = q.description
	}
	if q.silent {
		a["suppressNotifications"] = true
	}
}

func planShow(k recordKind, get string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		r, s := t.record(k, m.get("name"), true)
		if s != nil {
			return *s
		}
		results, s := t.need(call{tool: get, args: args{"id": r.id}})
		if s != nil {
			return *s
		}
		return t.detail(k, results[0])
	}
}

// edit makes one change of a record found by name.
func (t *turn) edit(k recordKind, name, tool string, any bool, a args, label string) step {
	r, s := t.record(k, name, any)
	if s != nil {
		return *s
	}
	a["id"] = r.id
	return t.change("", call{tool, a, fmt.Sprintf(label, k.noun+" “"+r.title+"”")})
}

func planRetitle(k recordKind, tool string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		return t.edit(k, m.get("name"), tool, true, args{"title": m.prose("new")}, "Rename %s to “"+percent(m.prose("new"))+"”")
	}
}

func planRedescribe(k recordKind, tool string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		return t.edit(k, m.get("name"), tool, true, args{"description": m.prose("new")}, "Change the description of %s")
	}
}

// percent makes a foreign text safe in a label, which is a format.
func percent(s string) string { return strings.ReplaceAll(s, "%", "%%") }

func planSeverity(t *turn, m matched) step {
	severity := strings.ToLower(m.get("severity"))
	return t.edit(incidents, m.get("name"), "incident_update", true, args{"severity": severity}, "Make %s "+severity)
}

func planOverride(t *turn, m matched) step {
	health := strings.ToLower(m.get("override"))
	if health == "" || health == "none" {
		return t.edit(incidents, m.get("name"), "incident_update", true, args{"override": "none"}, "Lift the health override of %s")
	}
	return t.edit(incidents, m.get("name"), "incident_update", true, args{"override": health}, "Show the systems of %s as "+health)
}

func planIncidentSilence(t *turn, m matched) step {
	silent, label := true, "Hold back health notifications during %s"
	switch strings.ToLower(m.get("verb")) {
	case "unmute", "resume", "enable", "turn on":
		silent, label = false, "Send health notifications during %s again"
	}
	return t.edit(incidents, m.get("name"), "incident_update", true, args{"suppressNotifications": silent}, label)
}

func planResolve(t *turn, m matched) step {
	a := args{}
	if text := m.prose("message"); text != "" {
		a["message"] = text
	}
	return t.edit(incidents, m.get("name"), "incident_resolve", false, a, "Resolve %s")
}

func planIncidentStatus(t *turn, m matched) step {
	status := strings.ToLower(m.get("status"))
	if status == "resolved" {
		return planResolve(t, m)
	}
	label := "Set %s to " + status
	if status == "" {
		status, label = "investigating", "Reopen %s"
	}
	if text := m.prose("message"); text != "" {
		return t.post(incidents, m.get("name"), "incident_addUpdate", "incidentId", args{"message": text, "statusChange": status}, label)
	}
	return t.edit(incidents, m.get("name"), "incident_update", true, args{"status": status}, label)
}

func planIncidentUpdate(t *turn, m matched) step {
	return t.post(incidents, m.get("name"), "incident_addUpdate", "incidentId", updateArgs(m), "Add an update to %s")
}

// updateArgs reads an update and for whom it is.
func updateArgs(m matched) args {
	a := args{"message": m.prose("message")}
	audience := strings.ToLower(m.get("audience"))
	for _, w := range strings.Fields(strings.ToLower(m.u.verbatim)) {
		if w == colon || isQuote(w) {
			break // what follows is the text
		}
		if (w == "internal" || w == "private") && audience == "" && !within(fold(m.get("name")), w) {
			audience = w
		}
	}
	switch audience {
	case "internal", "private":
		a["audience"] = "internal"
	case "logged-in":
		a["audience"] = "logged-in"
	}
	return a
}

// post adds to a record that the tool names under key.
func (t *turn) post(k recordKind, name, tool, key string, a args, label string) step {
	r, s := t.record(k, name, true)
	if s != nil {
		return *s
	}
	a[key] = r.id
	return t.change("", call{tool, a, fmt.Sprintf(label, k.noun+" “"+r.title+"”")})
}

func planAddLink(k recordKind, tool, key string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		address := trimURL(m.get("url"))
		if !strings.HasPrefix(strings.ToLower(address), "http://") && !strings.HasPrefix(strings.ToLower(address), "https://") {
			return answer(badURL)
		}
		label := m.get("label")
		if label == "" {
			_, host, _ := strings.Cut(address, "://")
			label, _, _ = strings.Cut(host, "/")
		}
		return t.post(k, m.get("name"), tool, key, args{"url": address, "label": label}, "Add link “"+percent(label)+"” to %s")
	}
}

func planRemoveLink(k recordKind, get, tool, key string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		r, s := t.record(k, m.get("name"), true)
		if s != nil {
			return *s
		}
		results, s := t.need(call{tool: get, args: args{"id": r.id}})
		if s != nil {
			return *s
		}
		var links []thing
		for _, l := range results[0].list("links") {
			links = append(links, thing{kind: "link", id: str(l["id"]), name: str(l["label"])})
		}
		found := named(links, m.get("label"))
		if len(found) != 1 {
			return answer(undecided(m.get("label"), "link", links, found, false))
		}
		return t.change("", call{tool, args{key: r.id, "id": found[0].id}, fmt.Sprintf("Remove link “%s” from %s “%s”", found[0].name, k.noun, r.title)})
	}
}

// planRecordSystem adds a system to a record, or takes it away.
func planRecordSystem(k recordKind, tool string, add bool) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		x, s := t.find(m.get("system"), "system")
		if s != nil {
			return *s
		}
		r, s := t.record(k, m.get("name"), true)
		if s != nil {
			return *s
		}
		has := func(y thing) bool { return y.id == x.id }
		switch on := slices.ContainsFunc(r.systems, has); {
		case add == on:
			word := map[bool]string{true: "already", false: "not"}[on]
			return answer(fmt.Sprintf("%s is %s part of the %s %s. Nothing was changed.", bold(x.name), word, k.noun, bold(r.title)))
		case add:
			return t.change("", call{tool, args{"id": r.id, "systemIds": append(ids(r.systems), x.id)}, fmt.Sprintf("Add %s to %s “%s”", x.name, k.noun, r.title)})
		case len(r.systems) == 1:
			return answer(fmt.Sprintf("%s is the only system of the %s %s, and one is needed. Nothing was changed.", bold(x.name), k.noun, bold(r.title)))
		}
		return t.change("", call{tool, args{"id": r.id, "systemIds": ids(slices.DeleteFunc(slices.Clone(r.systems), has))}, fmt.Sprintf("Remove %s from %s “%s”", x.name, k.noun, r.title)})
	}
}

func planRecordDelete(k recordKind, tool string) func(*turn, matched) step {
	return func(t *turn, m matched) step { return t.edit(k, m.get("name"), tool, true, args{}, "Delete %s") }
}
