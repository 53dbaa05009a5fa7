package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// record is an incident or a maintenance.
type record struct {
	id, title, description             string
	status, severity, override, series string
	systems                            []thing
	created, ended, start, end         time.Time
	silent                             bool
}

// recordKind is what incidents and maintenances have in common for finding them.
type recordKind struct {
	noun, key string
	// open lists those that are not over, every all.
	open, every call
	// over words what a record that is not open is.
	over string
}

var (
	incidents = recordKind{noun: "incident", key: "incidents", over: "resolved",
		open:  call{tool: "incident_list", args: args{"limit": 100}},
		every: call{tool: "incident_list", args: args{"includeResolved": true, "limit": 100}}}
	maintenances = recordKind{noun: "maintenance", key: "maintenances", over: "over",
		open:  call{tool: "maintenance_list", args: args{"limit": 100, "open": true, "sortOrder": "asc"}},
		every: call{tool: "maintenance_list", args: args{"limit": 100}}}
)

func (k recordKind) read(r result) []record {
	var out []record
	for _, o := range r.list(k.key) {
		if rec := readRecord(o); rec.id != "" {
			out = append(out, rec)
		}
	}
	return out
}

func readRecord(o map[string]json.RawMessage) record {
	r := record{id: str(o["id"]), title: str(o["title"]), description: str(o["description"]), status: strings.ReplaceAll(str(o["status"]), "_", " "),
		severity: str(o["severity"]), override: str(o["override"]), series: str(o["seriesId"]),
		created: when(o["createdAt"]), ended: when(o["resolvedAt"]), start: when(o["startAt"]), end: when(o["endAt"]),
		silent: string(o["suppressNotifications"]) == "true"}
	for _, s := range (result{body: o}).list("systems") {
		if x := (thing{kind: "system", id: str(s["id"]), name: str(s["name"])}); x.id != "" {
			r.systems = append(r.systems, x)
		}
	}
	return r
}

func (r record) isOpen() bool {
	return r.status != "resolved" && r.status != "completed" && r.status != "cancelled"
}

// shortened says whether a list goes on behind what was read.
func shortened(r result) bool { return r.cutShort() || str(r.body["nextCursor"]) != "" }

// pronouns stand for the record that the conversation is about.
var pronouns = map[string]bool{"": true, "the": true, "it": true, "this": true, "that": true, "this one": true, "that one": true, "the incident": true, "the maintenance": true,
	"incident": true, "maintenance": true, "this incident": true, "that incident": true, "this maintenance": true, "that maintenance": true,
	"the current": true, "current": true, "the last": true, "last": true, "the one": true}

// record finds the record meant by a name, an id, the name of its system, or
// "it", or gives the step that looks further or asks. Those that are over are
// found too when any is set; otherwise one is answered with that it is over.
func (t *turn) record(k recordKind, name string, any bool) (record, *step) {
	if allOf(name) {
		s := answer(fmt.Sprintf("I change one %s at a time. `list %ss` shows what there is. Nothing was changed.", k.noun, k.noun))
		return record{}, &s
	}
	results, s := t.need(k.open)
	if s != nil {
		return record{}, s
	}
	if !results[0].has(k.key) {
		st := answer("I could not read the list of " + k.noun + "s: its answer has an unexpected form. Nothing was changed.")
		return record{}, &st
	}
	open := k.read(results[0])
	if pronouns[fold(name)] {
		return t.spokenOf(k, open)
	}
	found := pick(k, open, name)
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		st := answer(ambiguous(t, k, name, found))
		return record{}, &st
	}
	// It may be over, or further down in a long list.
	more, s := t.need(k.search(name))
	if s != nil {
		return record{}, s
	}
	all := k.read(more[0])
	switch found = pick(k, all, name); {
	case len(found) == 1 && (any || found[0].isOpen()):
		return found[0], nil
	case len(found) == 1:
		st := answer(fmt.Sprintf("The %s %s is %s already. Nothing was changed.", k.noun, bold(found[0].title), plain(found[0].status)))
		return record{}, &st
	case len(found) > 1:
		st := answer(ambiguous(t, k, name, found))
		return record{}, &st
	}
	text := fmt.Sprintf("I know no %s called %s.", k.noun, quoted(name))
	if shortened(results[0]) {
		text += " There are more than I can list; its id works too."
	}
	st := answer(text + " " + t.suggest(k, open))
	return record{}, &st
}

// search lists everything whose title holds the name.
func (k recordKind) search(name string) call {
	a := args{"limit": 100, "query": cut(name, 200)}
	if k.noun == "incident" {
		a["includeResolved"] = true
	}
	return call{tool: k.every.tool, args: a}
}

func cut(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:runes])
	}
	return s
}

func allOf(name string) bool {
	switch w := fold(name); w {
	case "all", "everything", "every", "all of them", "them", "them all", "both":
		return true
	default:
		return strings.HasPrefix(w, "all ") && (strings.HasSuffix(w, "incidents") || strings.HasSuffix(w, "maintenances"))
	}
}

func (t *turn) suggest(k recordKind, open []record) string {
	if len(open) == 0 {
		return fmt.Sprintf("There is no %s that is not %s and that you may see.", k.noun, k.over)
	}
	return "These are not " + k.over + ":\n\n" + t.choices(open)
}

// spokenOf gives the record that "it" means: the one last spoken of in the
// conversation, or else the only one there is.
func (t *turn) spokenOf(k recordKind, open []record) (record, *step) {
	if last := t.recent[k.noun]; last != "" {
		for _, r := range open {
			if r.id == last || r.title == last {
				return r, nil
			}
		}
	}
	if len(open) == 1 {
		return open[0], nil
	}
	text := fmt.Sprintf("Which %s do you mean? ", k.noun)
	if len(open) == 0 {
		text = ""
	}
	st := answer(strings.TrimSpace(text + t.suggest(k, open)))
	return record{}, &st
}

func ambiguous(t *turn, k recordKind, name string, found []record) string {
	return fmt.Sprintf("%s can mean %s. Tell me which one, by its id if the titles are the same:\n\n%s", quoted(name), plural(len(found), k.noun), t.choices(found))
}

func (t *turn) choices(list []record) string {
	var lines []string
	for i, r := range list {
		if i == 10 {
			lines = append(lines, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		lines = append(lines, t.recordLine(r)+" (id "+plain(r.id)+")")
	}
	return bullets(lines)
}

// pick gives the records that a name may mean: by id or title, as a whole
// before in part, then by the systems concerned. Of a series only the first is
// meant.
func pick(k recordKind, all []record, name string) []record {
	want := bare(k, name)
	ways := []func(record) bool{
		func(r record) bool { return r.id == name || r.title == name },
		func(r record) bool { return fold(r.title) == fold(name) },
		func(r record) bool { return bare(k, r.title) == want },
		func(r record) bool { return within(bare(k, r.title), want) },
		func(r record) bool { return r.on(func(s string) bool { return strip(s) == strip(want) }) },
		func(r record) bool { return r.on(func(s string) bool { return within(strip(s), strip(want)) }) },
	}
	for _, same := range ways {
		var found []record
		for _, r := range all {
			twin := func(x record) bool { return x.series != "" && x.series == r.series }
			if same(r) && want != "" && !slices.ContainsFunc(found, twin) {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func (r record) on(match func(string) bool) bool {
	return slices.ContainsFunc(r.systems, func(s thing) bool { return match(s.name) })
}

// bare folds a title and drops the words people put around it.
func bare(k recordKind, s string) string {
	s = fold(s)
	for _, p := range []string{"the ", "our ", "my ", k.noun + " "} {
		s = strings.TrimPrefix(s, p)
	}
	for _, p := range []string{" " + k.noun, " window"} {
		s = strings.TrimSuffix(s, p)
	}
	return strings.TrimSpace(s)
}

// within says whether whole holds part as whole words.
func within(whole, part string) bool {
	return part != "" && strings.Contains(" "+whole+" ", " "+part+" ")
}

// recordLine tells a record in a line.
func (t *turn) recordLine(r record) string {
	var facts []string
	if r.severity != "" {
		facts = append(facts, plain(r.severity))
	}
	if r.status != "" {
		facts = append(facts, plain(r.status))
	}
	if !r.start.IsZero() && !r.end.IsZero() {
		facts = append(facts, span{start: r.start.In(t.zone), end: r.end.In(t.zone)}.words())
	}
	if len(r.systems) > 0 {
		facts = append(facts, "on "+names(r.systems, 3))
	}
	switch {
	case !r.ended.IsZero():
		facts = append(facts, "resolved "+t.since(r.ended))
	case r.start.IsZero() && !r.created.IsZero():
		facts = append(facts, "since "+t.since(r.created))
	}
	return bold(r.title) + ": " + strings.Join(facts, ", ")
}

func names(things []thing, most int) string {
	var out []string
	for i, x := range things {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(things)-i))
			break
		}
		name := plain(x.name)
		if name == "" {
			name = plain(x.id)
		}
		out = append(out, name)
	}
	if n := len(out); n > 1 {
		return strings.Join(out[:n-1], ", ") + " and " + out[n-1]
	}
	return strings.Join(out, "")
}

func ids(things []thing) []string {
	out := make([]string, len(things))
	for i, x := range things {
		out[i] = x.id
	}
	return out
}

// detail shows one record with its timeline and links.
func (t *turn) detail(k recordKind, r result) step {
	rec := readRecord(r.body)
	if rec.id == "" {
		return answer("I could not read that " + k.noun + ": the answer has an unexpected form.")
	}
	out := []string{t.recordLine(rec) + " (id " + plain(rec.id) + ")"}
	if rec.description != "" {
		out = append(out, plain(rec.description))
	}
	var notes []string
	if rec.override != "" {
		notes = append(notes, "The health of its systems is shown as at best "+plain(rec.override)+" meanwhile.")
	}
	if rec.silent {
		notes = append(notes, "Health notifications about its systems are held back meanwhile.")
	}
	if rec.series != "" {
		notes = append(notes, "It is one of a series that repeats.")
	}
	if len(notes) > 0 {
		out = append(out, strings.Join(notes, " "))
	}
	var updates []string
	for _, u := range r.list("updates") {
		at := when(u["at"])
		if at.IsZero() {
			at = when(u["createdAt"])
		}
		line := t.since(at) + ": " + plain(str(u["message"]))
		if s := str(u["statusChange"]); s != "" {
			line = t.since(at) + ", " + plain(strings.ReplaceAll(s, "_", " ")) + ": " + plain(str(u["message"]))
		}
		if a := str(u["audience"]); a != "" && a != "public" {
			line += " (" + plain(a) + ")"
		}
		updates = append(updates, strings.TrimPrefix(line, ": "))
	}
	if len(updates) > 0 {
		out = append(out, plural(len(updates), "update")+":\n\n"+bullets(updates[max(0, len(updates)-maxListed):]))
	}
	var links []string
	for _, l := range r.list("links") {
		links = append(links, bold(str(l["label"]))+": "+plain(str(l["url"])))
	}
	if len(links) > 0 {
		out = append(out, plural(len(links), "link")+":\n\n"+bullets(links))
	}
	return answer(strings.Join(out, "\n\n"))
}
