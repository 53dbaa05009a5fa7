package builtin

import (
	"slices"
	"strings"
)

const (
	upWords     = "ok|okay|up|down|healthy|unhealthy|working|fine|good|alive|running|failing|broken|available|unavailable|reachable|degraded|online|offline|red|green|all right|alright|doing ok|doing well|having issues|having problems|slow|dead"
	troubleWord = "issues|problems|incidents|alerts|failures|outages|trouble|errors|failing checks|failing systems|broken systems|unhealthy systems|unhealthy checks|failed checks"
)

func statusIntents() []intent {
	return []intent{
		define("overview", planOverview,
			"[the|current|system|overall|show|show me|give me|get] [the] [current|overall|system|health] (status|health|overview|summary|state|dashboard|issues|problems|situation)",
			"(what|who|which systems|which system|which checks|which services) (is|are) [currently] ("+upWords+"|wrong|happening|going on|going wrong|not working|not ok|not healthy|having issues|the status|the problem|the current status|the matter)",
			"what's (up|down|wrong|broken|failing|happening|going on|going wrong|not working|the status|the problem|unhealthy|red)",
			"whats (up|down|wrong|broken|failing|going on|the status)",
			"what (needs attention|needs my attention|failed|fails|went wrong|broke|requires attention|do i need to look at)",
			"(any|are there any|are there|do we have any|do we have|is there any|have we any|show [me]|list|show|show me|show all|list all|show me all|what are the|which|see) [the|any|current|open|active] ("+troubleWord+")",
			"(is|are) (everything|all|all systems|everybody|it all|things|all checks|every system|we) [still] ("+upWords+")",
			"(is|are) (anything|any system|any systems|any check|any checks|something|any service|any services) ("+upWords+"|wrong|not working|on fire|not ok|going on)",
			"(anything|something) ("+upWords+"|wrong|on fire|i should know|to worry about)",
			"how (is everything|are things|are we doing|is it going|are my systems|are the systems|are all systems|does it look|do things look|are my systems doing|are the systems doing|is everything doing|are our systems)",
			"(everything|all) (ok|okay|fine|good|up|healthy|green|systems go)",
			"[all] systems status", "status (of|for) (everything|all|all systems|the systems|my systems)", "status (report|overview|update)"),
		define("status of one", planStatus,
			"(is|are) [the] [system|service|check] {name} [still|really|currently] ("+upWords+"|not working|not ok)",
			"[the|show|show me|get|give me] [the] [current|health] (status|state|health) (of|for) [the] [system|service|check] {name}",
			"how (is|are) [the] [system|service|check] {name} [doing|going|feeling]",
			"how's [the] [system|service|check] {name} [doing]",
			"(what is|what's|whats) (wrong|up|happening|going on|the matter|the problem|the status|the state) (with|of|at|for|on) [the] [system|service|check] {name}",
			"why (is|are) [the] [system|service|check] {name} ("+upWords+"|not working)",
			"(since when|how long|for how long|when) (is|has|did) [the] [system|service|check] {name} (been down|been unhealthy|been failing|down|unhealthy|failing|go down|fail|broken)",
			"(show|describe|inspect|display|view|open|details of|details for|details on|about|explain) [me] [the] [system|service|check] {name}",
			"(any|are there any|is there any) ("+troubleWord+") (with|on|in|at|for) [the] [system|service|check] {name}",
			"does [the] [system|service] {name} (work|have issues|have problems|run)",
			"(list|show|show me) [all] [the] (checks|health checks|monitors) (for|of|on) [the] [system] {name}",
			"(what|which|how many) (checks|health checks|monitors) (does|do) [the] [system] {name} have",
			"what (about|happened to|happened with|is with) [the] [system|service|check] {name}",
			"(check|status|health) [the|on] [system|service|of] {name}",
			"{name} (status|health)"),
	}
}

const nothingWatched = "Nothing is watched yet: there is no health check that you may see. Start with, for example, `monitor https://example.com/health every minute as \"Payments API\"`."

// planOverview answers what is wrong, from issues and checks together.
func planOverview(t *turn, _ matched) step {
	if !t.may("system_issues") && !t.may(listChecks.tool) {
		return answer(notOffered("system_issues"))
	}
	results, s := t.gather(call{tool: "system_issues"}, listChecks)
	if s != nil {
		return *s
	}
	return answer(t.overview(results[0], results[1]))
}

func (t *turn) overview(issues, checks result) string {
	haveIssues, haveChecks := issues.err == "" && issues.has("systems"), checks.err == "" && checks.has("checks")
	if !haveIssues && !haveChecks {
		reason := issues.err
		if reason == "" {
			reason = checks.err
		}
		if reason == "" {
			reason = "the answers have an unexpected form"
		}
		return "I could not find out: " + sentence(plain(reason))
	}
	all := checks.checks()
	bad := t.trouble(all, issues.signals())
	var out []string
	switch {
	case len(bad) > 0:
		verb := "need"
		if len(bad) == 1 {
			verb = "needs"
		}
		out = append(out, "**"+plural(len(bad), "system")+" "+verb+" attention.**", strings.Join(bad, "\n\n"))
	case haveChecks && len(all) == 0:
		out = append(out, nothingWatched)
	case haveChecks && !checks.cutShort():
		out = append(out, "No problem in what I could see. "+tally(all))
	default:
		out = append(out, "No problem in what I could see.")
	}
	return strings.Join(append(out, t.gaps(issues, checks)...), "\n\n")
}

// tally counts checks by state, so that "no problem" says on what grounds.
func tally(all []check) string {
	n := map[string]int{}
	var states []string
	for _, c := range all {
		s := c.state()
		if n[s]++; n[s] == 1 {
			states = append(states, s)
		}
	}
	slices.Sort(states)
	var parts []string
	for _, s := range states {
		parts = append(parts, count(n[s])+" "+s)
	}
	return "Health checks: " + strings.Join(parts, ", ") + "."
}

// trouble gives one block per system with something wrong, worst first as the
// platform sent them.
func (t *turn) trouble(all []check, signals []signal) []string {
	type block struct {
		key, name string
		lines     []string
		health    bool
	}
	var blocks []*block
	at := func(id, name string) *block {
		key := id
		if key == "" {
			key = name
		}
		for _, b := range blocks {
			if b.key == key {
				return b
			}
		}
		b := &block{key: key, name: name}
		blocks = append(blocks, b)
		return b
	}
	names := map[string]string{}
	for _, c := range all {
		names[c.systemID] = c.system
		if c.paused || rank(c.status) < rank("degraded") {
			continue
		}
		name := c.system
		if name == "" {
			name = c.name
		}
		b := at(c.systemID, name)
		b.health = true
		b.lines = append(b.lines, t.checkLine(c))
	}
	for _, s := range signals {
		name := names[s.systemID]
		if name == "" {
			name = s.system
		}
		b := at(s.systemID, name)
		if b.health && strings.Contains(strings.ToLower(s.source), "health") {
			continue // the check's own line says it better
		}
		b.lines = append(b.lines, t.signalLine(s))
	}
	var out []string
	for _, b := range blocks {
		if len(b.lines) > 0 {
			out = append(out, bold(b.name)+"\n"+bullets(b.lines))
		}
	}
	return out
}

func (t *turn) checkLine(c check) string {
	line := "check " + bold(c.name) + " is " + c.state()
	if c.reason != "" {
		line += ": " + strings.TrimSuffix(plain(c.reason), ".")
	}
	if at := t.since(c.since); at != "" {
		line += ", since " + at
	}
	return line
}

func (t *turn) signalLine(s signal) string {
	line := plain(s.label)
	if line == "" {
		line = plain(s.source)
	}
	if s.detail != "" {
		line += ": " + strings.TrimSuffix(plain(s.detail), ".")
	}
	if at := t.since(s.since); at != "" {
		line += ", since " + at
	}
	return line
}

// rank orders states by badness.
func rank(status string) int {
	switch status {
	case "healthy", "paused", "":
		return 0
	case "unhealthy":
		return 3
	case "degraded":
		return 2
	}
	return 1
}

// gaps says what was not seen, so that no answer is taken for an all-clear.
func (t *turn) gaps(issues, checks result) []string {
	var notes []string
	if no := issues.texts("inaccessibleSources"); len(no) > 0 {
		notes = append(notes, "Not checked because you may not see it: "+plain(strings.Join(no, ", "))+".")
	}
	if no := issues.texts("failedSources"); len(no) > 0 {
		notes = append(notes, "Not checked because it failed: "+plain(strings.Join(no, ", "))+".")
	}
	if issues.err != "" {
		notes = append(notes, "Issues of other kinds were not checked: "+sentence(plain(issues.err)))
	}
	if checks.err != "" {
		notes = append(notes, "Health checks were not listed: "+sentence(plain(checks.err)))
	}
	if issues.cutShort() || checks.cutShort() {
		notes = append(notes, "There was more than I could read, so there may be further problems.")
	}
	return notes
}

// planStatus answers for one system, or for one check when no system has the
// name.
func planStatus(t *turn, m matched) step {
	name := m.get("name")
	var calls []call
	for _, c := range []call{listSystems, listChecks} {
		if t.may(c.tool) {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return answer(notOffered(listSystems.tool))
	}
	found, s := t.gather(listSystems, listChecks)
	if s != nil {
		return *s
	}
	systems, checks := found[0].things("system", "systems"), found[1].things("check", "checks")
	if hit := named(systems, name); len(hit) == 1 {
		return t.statusOf(hit[0])
	} else if len(hit) > 1 {
		return answer(undecided(name, "system", systems, hit, false))
	}
	if hit := named(checks, name); len(hit) > 0 {
		var lines []string
		for _, c := range found[1].checks() {
			if c.id == hit[0].id || (len(hit) > 1 && strip(c.name) == strip(name)) {
				line := t.checkLine(c)
				if c.system != "" {
					line += ", on " + bold(c.system)
				}
				lines = append(lines, line)
			}
		}
		return answer(listing("What I know about "+bold(hit[0].name), lines, found[1].cutShort()))
	}
	if len(systems) == 0 && len(checks) == 0 && (found[0].err != "" || found[1].err != "") {
		return answer("I could not look that up: " + sentence(plain(found[0].err+found[1].err)))
	}
	if n := near(systems, name); len(n) == 1 {
		return t.statusOf(n[0])
	}
	return answer(undecided(name, "system or check", append(systems, checks...), nil, found[0].cutShort() || found[1].cutShort()))
}

func (t *turn) statusOf(x thing) step {
	results, s := t.gather(
		call{tool: "system_issues", args: args{"systemIds": []string{x.id}}},
		call{tool: listChecks.tool, args: args{"systemId": x.id}})
	if s != nil {
		return *s
	}
	issues, status := results[0], results[1]
	var lines []string
	worst, running := "", 0
	for _, c := range status.checks() {
		if c.systemID != "" && c.systemID != x.id {
			continue
		}
		if !c.paused {
			running++
			if worst == "" || rank(c.status) > rank(worst) {
				worst = c.status
			}
		}
		lines = append(lines, t.checkLine(c))
	}
	forced := false // people say so, whatever the checks measure
	for _, f := range status.list("forced") {
		if str(f["systemId"]) != x.id {
			continue
		}
		forced = true
		if s := str(f["status"]); rank(s) > rank(worst) {
			worst = s
		}
		lines = append(lines, t.signalLine(signal{source: "incident", label: str(f["reason"]), since: when(f["since"])}))
	}
	for _, sig := range issues.signals() {
		if sig.systemID != "" && sig.systemID != x.id {
			continue
		}
		if len(lines) > 0 && strings.Contains(strings.ToLower(sig.source), "health") {
			continue
		}
		lines = append(lines, t.signalLine(sig))
	}
	head := bold(x.name)
	switch {
	case status.err != "" || !status.has("checks"):
		head += ": I could not read its health checks."
	case forced:
		head += " is " + plain(worst) + "."
	case running == 0 && len(status.checks()) > 0:
		head += " is not watched at the moment, its checks are paused."
	case running == 0:
		head += " has no health check that you may see, so I cannot tell its state."
	case worst == "":
		head += " has no result yet."
	default:
		head += " is " + plain(worst) + "."
	}
	out := []string{head}
	if len(lines) > 0 {
		out = append(out, bullets(lines))
	}
	return answer(strings.Join(append(out, t.gaps(issues, result{body: status.body})...), "\n\n"))
}
