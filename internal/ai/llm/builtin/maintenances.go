package builtin

import (
	"fmt"
	"strings"
	"time"
)

const (
	windowWords  = "maintenance window|maintenance|downtime window|downtime"
	windowsWords = "maintenances|maintenance|maintenance windows|downtimes|planned work"
	comingWords  = "upcoming|planned|scheduled|future|coming|next"
	runningWords = "active|current|running|ongoing|open"
	doneWords    = "completed|finished|past|old|former|cancelled|canceled|closed"
)

func maintenanceIntents() []intent {
	return []intent{
		define("list maintenances", planMaintenances,
			"("+listVerbs+") [me|us] [all] [of] [the|my|our|any] {=state "+comingWords+"|"+runningWords+"|"+doneWords+"} ("+windowsWords+") [there|do we have]",
			"("+listVerbs+") [me|us] {=all all} [of] [the|my|our] ("+windowsWords+")",
			"("+listVerbs+") [me|us] [of] [the|my|our|any] ("+windowsWords+") [there|are there|do we have|is planned|are planned|is scheduled|are scheduled|planned|scheduled|coming up]",
			"[all|any|my|our|the] {=state "+comingWords+"|"+runningWords+"|"+doneWords+"} ("+windowsWords+")",
			"[the|any|my|our] (maintenances|maintenance windows|downtimes|planned work|maintenance)", "{=all all} [the|my|our] ("+windowsWords+")",
			"("+listVerbs+") [me|us] [all] [the|any] ["+comingWords+"|"+runningWords+"] ("+windowsWords+") (of|for|on|with|in|at|affecting) [the] [system] {system}",
			"[all|any|the] ["+comingWords+"|"+runningWords+"] ("+windowsWords+") (of|for|on|with|at|affecting) [the] [system] {system}",
			"(when is|what is|what's) [the] next (maintenance|maintenance window)", "(when is|what is|what's) [the] next (maintenance|maintenance window) (of|for|on) [the] [system] {system}"),
		define("show maintenance", planShow(maintenances, "maintenance_get"),
			"(show|display|get|describe|view|see|give me|show me|read|details of|details for|details on|status of|what is|what's|what about|tell me about|when is) [the] [details of|status of] [the] maintenance [window] [called|with id] {name}",
			"(show|display|describe|view|show me|details of|status of|what about|tell me about|when is) [the] {name} maintenance"),
		define("rename maintenance", planRetitle(maintenances, "maintenance_update"),
			"rename [the] maintenance {name} (to|as|into) {new}",
			"(change|set|update) [the] title of [the] maintenance {name} to {new}",
			"(change|set|update) [the] maintenance {name} title to {new}").prose(),
		define("describe maintenance", planRedescribe(maintenances, "maintenance_update"),
			"(change|set|update) [the] description (of|for) [the] maintenance {name} to {new}",
			"describe [the] maintenance {name} as {new}").prose(),
		define("extend maintenance", planExtend(1),
			"(extend|prolong|lengthen) [the] maintenance {name} {=by by|for|until|till|to|through} {time}",
			"(extend|prolong|lengthen) [the] {name} maintenance {=by by|for|until|till|to|through} {time}",
			"(extend|prolong|lengthen) {=name it|this|that|the maintenance|this maintenance|that maintenance} {=by by|for|until|till|to|through} {time}",
			"(change|set|move|update) [the] end of [the] maintenance {name} {=by to} {time}").prose(),
		define("shorten maintenance", planExtend(-1),
			"shorten [the] maintenance {name} {=by by|to|until} {time}", "shorten [the] {name} maintenance {=by by|to|until} {time}",
			"shorten {=name it|this|that|the maintenance} {=by by|to|until} {time}").prose(),
		define("extend without time", func(*turn, matched) step {
			return answer("By how much, or until when? For example `extend maintenance DB upgrade by 30 minutes` or `extend maintenance DB upgrade until 01:00`.")
		}, "(extend|prolong|lengthen|shorten) [the] maintenance", "(extend|prolong|lengthen|shorten) [the] maintenance {name}"),
		define("move maintenance", planMove,
			"(move|reschedule|shift|postpone|delay|put off) [the] maintenance {name} {=by to|by|until|from} {time}",
			"(move|reschedule|shift|postpone|delay|put off) [the] {name} maintenance {=by to|by|until} {time}",
			"(move|reschedule|shift|postpone|delay|put off) {=name it|this|that|the maintenance|this maintenance|that maintenance} {=by to|by|until} {time}",
			"(change|set|update) [the] start of [the] maintenance {name} {=by to} {time}",
			"{=earlier bring forward} [the] maintenance {name} {=by by} {time}").prose(),
		define("move without time", func(*turn, matched) step {
			return answer("To when? For example `move maintenance DB upgrade to tomorrow 23:00` or `postpone maintenance DB upgrade by 1 hour`.")
		}, "(move|reschedule|shift|postpone|delay) [the] maintenance {name}"),
		define("start maintenance", planMaintenanceStatus("in_progress", "Start %s now"),
			"(start|begin) [the] maintenance {name} [early]", "(start|begin) [the] {name} maintenance [early]").when(startsExisting),
		define("cancel maintenance", planMaintenanceStatus("cancelled", "Cancel %s"),
			"(cancel|call off|abort|scrap) [the] maintenance {name}", "(cancel|call off|abort|scrap) [the] {name} maintenance", "(cancel|call off|abort|scrap) [the|this|that] maintenance"),
		define("close maintenance", planClose,
			"(close|end|finish|complete|stop) [the] maintenance {name} (with|and) [a|the] (note|message|comment|update) [:] {message}",
			"(close|end|finish|complete|stop) [the] maintenance {name} : {message}",
			`(close|end|finish|complete|stop) [the] maintenance {name} [with] {"message}`,
			"(close|end|finish|complete|stop) [the] maintenance {name} [early|now]",
			"(close|end|finish|complete|stop) [the] {name} maintenance [early|now]",
			"(close|end|finish|complete|stop) [the|this|that] maintenance [early|now]",
			"[the] maintenance {name} is (done|over|finished|complete|completed)").prose(),
		define("update maintenance", planMaintenanceUpdate,
			"(update|comment|comment on|note on) [the] maintenance {name} : {message}",
			"(update|comment|comment on|note on) [the] maintenance {name} (with|and) [a|an|the] [internal|private|public] (note|message|comment|update|say|saying) [:] {message}",
			`(update|comment|comment on|note on) [the] maintenance {name} [with] {"message}`,
			"(update|comment on) [the] {name} maintenance : {message}",
			"(update|comment on) [the|this|that] maintenance : {message}",
			"(add|post|write|send|publish) [a|an|the] [new] {=audience internal|private|public|logged-in} (update|comment|note|message) (to|on|for|in) [the] maintenance {name} : {message}",
			"(add|post|write|send|publish) [a|an|the] [new] (update|comment|note|message) (to|on|for|in) [the] maintenance {name} : {message}",
			`(add|post|write|send|publish) [a|an|the] [new] [internal|public] (update|comment|note|message) {"message} (to|on|for|in) [the] maintenance {name}`,
			`(add|post|write|send|publish) [a|an|the] [new] [internal|public] (update|comment|note|message) (to|on|for|in) [the] maintenance {name} {"message}`).prose(),
		define("maintenance update without text", func(*turn, matched) step {
			return answer("What should the update say? Write it behind a colon, for example `update maintenance DB upgrade: half of it is done`.")
		},
			"(update|comment on) [the|this] maintenance {name}", "(add|post|write) [a|an] (update|comment|note) (to|on|for) [the] maintenance {name}"),
		define("maintenance notifications", planMaintenanceSilence,
			"{=verb suppress|hold back|stop|disable|turn off|send|resume|enable|turn on} [the] notifications (for|of|about|on|during) [the] maintenance {name}",
			"{=verb mute|silence|unmute} [the] maintenance {name}"),
		define("maintenance link", planAddLink(maintenances, "maintenance_addLink", "maintenanceId"),
			"(add|attach|put) [a|the] link {url} (as|called|named|labelled|labeled|with the label|with label) {label} (to|on) [the] maintenance {name}",
			"(add|attach|put) [a|the] link {url} (to|on) [the] maintenance {name} (as|called|named|labelled|labeled|with the label|with label) {label}",
			"(add|attach|put) [a|the] link {url} (to|on) [the] maintenance {name}"),
		define("maintenance unlink", planRemoveLink(maintenances, "maintenance_get", "maintenance_removeLink", "maintenanceId"),
			"("+deleteWords+") [the] link {label} (from|of|on) [the] maintenance {name}"),
		define("maintenance systems", planRecordSystem(maintenances, "maintenance_update", true),
			"(add|put) [the] [system] {system} (to|on|into) [the] maintenance {name}").when(startsExisting),
		define("maintenance without system", planRecordSystem(maintenances, "maintenance_update", false),
			"(remove|take|drop) [the] [system] {system} (from|out of|off) [the] maintenance {name}"),
		define("delete maintenance", planRecordDelete(maintenances, "maintenance_delete"),
			"("+deleteWords+") [the] maintenance [window] [called|named|with id] {name}",
			"("+deleteWords+") [the] {name} maintenance", "("+deleteWords+") [the|this|that] maintenance"),
		define("schedule maintenance", planSchedule,
			"(schedule|plan|create|add|set up|book|arrange|new|start|make|begin|announce) [a|an|another|the|new] [new|planned|recurring|weekly|daily|regular] ("+windowWords+") {what}",
			"(take|put) {into} (into|in) maintenance {what}", "(take|put) {into} (into|in) maintenance").prose(),
		define("schedule maintenance without words", func(*turn, matched) step {
			return answer("On which system, and when? For example `schedule maintenance \"DB upgrade\" for Payments API tomorrow 22:00 to 23:30`.")
		}, "(schedule|plan|create|add|set up|book|arrange|new|start|make) [a|an|another|the|new] [new|planned] ("+windowWords+")"),
	}
}

// startsExisting tells "start maintenance DB upgrade" from one that is planned
// anew, which says when or where.
func startsExisting(m matched) bool {
	t := &turn{zone: time.UTC, now: time.Unix(0, 0)}
	w := t.readTiming(m.words("name"))
	return !w.says() && startsWith(m.words("name"), []string{"for", "on", "of"}) == 0
}

func planMaintenances(t *turn, m matched) step {
	a := args{"limit": 100, "open": true, "sortOrder": "asc"}
	heading := "planned or running maintenance"
	has := func(words string) bool {
		return m.get("state") != "" && startsWith([]string{m.get("state")}, strings.Split(words, "|")) > 0
	}
	switch {
	case has(comingWords):
		a["status"], heading = "scheduled", "scheduled maintenance"
		delete(a, "open")
	case has("open"):
	case has(runningWords):
		a["status"], heading = "in_progress", "running maintenance"
		delete(a, "open")
	case has(doneWords):
		a = args{"limit": 100, "open": false}
		heading = "past maintenance"
	case m.get("all") != "":
		a, heading = args{"limit": 100}, "maintenance"
	}
	on := ""
	if name := m.get("system"); name != "" {
		x, s := t.find(name, "system")
		if s != nil {
			return *s
		}
		a["systemId"], on = x.id, " on "+bold(x.name)
	}
	results, s := t.need(call{tool: "maintenance_list", args: a})
	if s != nil {
		return *s
	}
	if !results[0].has(maintenances.key) {
		return answer("I could not read the list of maintenances: its answer has an unexpected form.")
	}
	list := maintenances.read(results[0])
	if len(list) == 0 {
		return answer("There is no " + heading + on + " that you may see.")
	}
	var lines []string
	for _, r := range list {
		lines = append(lines, t.recordLine(r))
	}
	return answer(listing(plural(len(list), heading)+on, lines, shortened(results[0])))
}

func planSchedule(t *turn, m matched) step {
	if !t.may("maintenance_create") {
		return answer(notOffered("maintenance_create"))
	}
	words := m.words("what")
	if into := m.words("into"); len(into) > 0 {
		words = append(append([]string{"for"}, into...), words...)
	}
	w := t.readTiming(words)
	results, s := t.need(listSystems)
	if s != nil {
		return *s
	}
	if !results[0].has("systems") {
		return answer("I could not read the list of systems: its answer has an unexpected form. Nothing was changed.")
	}
	q := readRequest(m, w.rest)
	if ask := q.settle(results[0].things("system", "systems"), results[0].cutShort()); ask != "" {
		return answer(ask)
	}
	stretch, ask := t.window(w)
	if ask != "" {
		return answer(ask)
	}
	if q.title == "" {
		q.title = "Maintenance of " + strings.Join(nameList(q.systems), ", ")
		if len(q.systems) > 3 {
			q.title = fmt.Sprintf("Maintenance of %d systems", len(q.systems))
		}
		q.title = cut(q.title, 200)
	}
	a := args{"title": q.title, "startAt": stretch.start.Format(time.RFC3339), "endAt": stretch.end.Format(time.RFC3339), "systemIds": ids(q.systems)}
	q.fill(a)
	preface := "That is " + stretch.words() + ". "
	if stretch.rule != "" {
		a["recurrence"] = args{"rule": stretch.rule, "timeZone": stretch.start.Location().String()}
		preface = "First " + stretch.words() + ", then " + w.repeat.words(stretch.start) + ". "
	}
	if q.mentioned {
		preface += "I take the system from the title: " + bold(q.systems[0].name) + ". "
	}
	return t.change(strings.TrimSpace(preface)+"\n\n", call{"maintenance_create", a,
		fmt.Sprintf("Schedule maintenance “%s” on %s, %s", q.title, names(q.systems, 3), stretch.words())})
}

func nameList(things []thing) []string {
	out := make([]string, len(things))
	for i, x := range things {
		out[i] = x.name
	}
	return out
}

// timed finds a maintenance that is not over, with its window.
func (t *turn) timed(m matched) (record, *step) {
	r, s := t.record(maintenances, m.get("name"), false)
	if s == nil && (r.start.IsZero() || r.end.IsZero()) {
		st := answer("I could not read when that maintenance is. Nothing was changed.")
		s = &st
	}
	return r, s
}

// amount reads "30 minutes", said behind by or for.
func (t *turn) amount(m matched) (time.Duration, bool) {
	r := &reader{loc: t.zone, now: t.now.In(t.zone)}
	for _, w := range m.words("time") {
		r.words = append(r.words, strings.ToLower(w))
	}
	d, n := r.amountAt(0)
	switch word := r.word(n); {
	case n == 0:
		return 0, false
	case word == "earlier" && n+1 == len(r.words):
		return -d, true
	case word == "later" || word == "more" || word == "longer":
		n++
	}
	return d, n == len(r.words)
}

// planExtend moves the end of a maintenance: later with sign 1, earlier with -1.
func planExtend(sign time.Duration) func(*turn, matched) step {
	verb := map[time.Duration]string{1: "Extend", -1: "Shorten"}[sign]
	return func(t *turn, m matched) step {
		r, s := t.timed(m)
		if s != nil {
			return *s
		}
		by := strings.ToLower(m.get("by"))
		end, ask := r.end.In(t.zone), ""
		if d, ok := t.amount(m); ok && by != "until" && by != "till" && by != "through" {
			if by == "to" {
				end = r.start.In(t.zone).Add(d)
			} else {
				end = end.Add(sign * d)
			}
		} else {
			w := t.readTiming(append([]string{"until"}, m.words("time")...))
			switch {
			case w.ask != "":
				ask = w.ask
			case !w.end.said() || w.start.said() || w.repeat != nil || w.length > 0 || t.left(w) != "":
				ask = "I do not understand that time. Say for example `until 01:00`, `until tomorrow 6:00` or `by 30 minutes`."
			default:
				end, ask = t.instant(w.loc, w.end, r.start, true)
			}
		}
		switch {
		case ask != "":
			return answer(ask)
		case !end.After(r.start):
			return answer(fmt.Sprintf("It begins %s, so it cannot end %s. Nothing was changed.", day(r.start.In(end.Location())), day(end)))
		case end.Before(t.now) && r.status != "scheduled":
			return answer(fmt.Sprintf("%s has passed. To end it now, say `close maintenance %s`.", day(end), plain(r.title)))
		case sign > 0 && !end.After(r.end):
			return answer(fmt.Sprintf("It lasts until %s already. To end it earlier, say `shorten maintenance %s to %s`. Nothing was changed.", day(r.end.In(end.Location())), plain(r.title), end.Format("15:04")))
		case sign < 0 && !end.Before(r.end):
			return answer(fmt.Sprintf("It ends %s already, which is not later than that. Nothing was changed.", day(r.end.In(end.Location()))))
		}
		stretch := span{start: r.start.In(end.Location()), end: end}
		return t.change(t.moved(r, stretch), call{"maintenance_update", args{"id": r.id, "endAt": end.Format(time.RFC3339)},
			fmt.Sprintf("%s maintenance “%s” to %s", verb, r.title, day(end))})
	}
}

// left gives the words of a time that say nothing about time.
func (t *turn) left(w timing) string {
	var out []string
	for _, word := range w.rest {
		if word != breakMark && word != comma {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

// moved is what is said before a window changes.
func (t *turn) moved(r record, s span) string {
	text := "Then it is " + s.words() + "."
	if r.series != "" {
		text += " It is one of a series; only this one changes."
	}
	return text + "\n\n"
}

func planMove(t *turn, m matched) step {
	r, s := t.timed(m)
	if s != nil {
		return *s
	}
	stretch, ask := t.moveTo(m, r)
	if ask != "" {
		return answer(ask)
	}
	a := args{"id": r.id, "startAt": stretch.start.Format(time.RFC3339), "endAt": stretch.end.Format(time.RFC3339)}
	return t.change(t.moved(r, stretch), call{"maintenance_update", a, fmt.Sprintf("Move maintenance “%s” to %s", r.title, stretch.words())})
}

// moveTo gives the new window. What is not said stays: the day, the time of
// day, the length.
func (t *turn) moveTo(m matched, r record) (span, string) {
	length := r.end.Sub(r.start)
	if d, ok := t.amount(m); ok && strings.EqualFold(m.get("by"), "by") {
		if m.get("earlier") != "" {
			d = -d
		}
		s := span{start: r.start.In(t.zone).Add(d), end: r.end.In(t.zone).Add(d)}
		if s.start.Before(t.now.Truncate(time.Minute)) {
			return s, passed(s.start, t.now)
		}
		return s, ""
	}
	w := t.readTiming(append([]string{"from"}, m.words("time")...))
	if rest := t.left(w); w.ask == "" && (rest != "" && rest != "from" || !w.start.said() || w.repeat != nil) {
		return span{}, "I do not understand that time. Say for example `to tomorrow 23:00`, `to Saturday` or `by 1 hour`."
	}
	old := r.start.In(w.loc)
	if w.start.at.IsZero() && w.ask == "" {
		if w.start.clock == nil {
			w.start.clock = &clock{hour: old.Hour(), minute: old.Minute()}
		} else if w.start.day == nil {
			w.start.day = &calendarDay{date: dateOnly(old)}
			if w.start.clock.midnight {
				return span{}, fmt.Sprintf("Midnight can be the beginning or the end of a day. Write `%s 00:00` or `%s 00:00`.", old.Format(time.DateOnly), old.AddDate(0, 0, 1).Format(time.DateOnly))
			}
		}
	}
	if !w.end.said() && w.length == 0 {
		w.length = length
	}
	return t.window(w)
}

func planMaintenanceStatus(status, label string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		return t.edit(maintenances, m.get("name"), "maintenance_update", false, args{"status": status}, label)
	}
}

func planClose(t *turn, m matched) step {
	a := args{}
	if text := m.prose("message"); text != "" {
		a["message"] = text
	}
	return t.edit(maintenances, m.get("name"), "maintenance_close", false, a, "Complete %s early")
}

func planMaintenanceUpdate(t *turn, m matched) step {
	return t.post(maintenances, m.get("name"), "maintenance_addUpdate", "maintenanceId", updateArgs(m), "Add an update to %s")
}

func planMaintenanceSilence(t *turn, m matched) step {
	silent, label := true, "Hold back health notifications during %s"
	switch strings.ToLower(m.get("verb")) {
	case "unmute", "send", "resume", "enable", "turn on":
		silent, label = false, "Send health notifications during %s"
	}
	return t.edit(maintenances, m.get("name"), "maintenance_update", true, args{"suppressNotifications": silent}, label)
}
