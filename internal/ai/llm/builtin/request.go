package builtin

import (
	"fmt"
	"slices"
	"strings"
)

// request is what a person wrote about something to create: its title, the
// systems concerned, and what else was said. The words come in any order:
// "on Payments API: card payments fail", "card payments fail on Payments API,
// severity critical", "“DB upgrade” for Search and Billing".
type request struct {
	m                           matched
	title, description, message string
	severity, override          string
	silent                      bool
	systems                     []thing
	segments                    []segment
	mentioned                   bool // the system was found in the title
}

// segment is a run of words without a pause in it.
type segment struct {
	words []string
	colon bool // it stands behind a colon
}

// clauseOf is one way to say something besides the title: its words, and what
// it does. A clause with text takes what follows: a quoted part, else all.
type clauseOf struct {
	words string
	set   func(*request)
	text  func(*request, string)
}

var requestClauses = func() []clauseOf {
	silent := func(q *request) { q.silent = true }
	list := []clauseOf{
		{"without notifications", silent, nil}, {"with notifications suppressed", silent, nil}, {"with notifications off", silent, nil},
		{"suppressing notifications", silent, nil}, {"suppress notifications", silent, nil}, {"and suppress notifications", silent, nil},
		{"silently", silent, nil}, {"quietly", silent, nil}, {"silent", silent, nil},
		{"with the description", nil, (*request).describe}, {"with description", nil, (*request).describe}, {"description", nil, (*request).describe}, {"described as", nil, (*request).describe},
		{"with the message", nil, (*request).say}, {"with message", nil, (*request).say}, {"with the note", nil, (*request).say}, {"with a note", nil, (*request).say}, {"with note", nil, (*request).say},
		{"with the update", nil, (*request).say}, {"and say", nil, (*request).say}, {"saying", nil, (*request).say},
	}
	for _, severity := range []string{"critical", "major", "minor"} {
		set := func(q *request) { q.severity = severity }
		for _, words := range []string{"with severity " + severity, "severity " + severity, "with " + severity + " severity", severity + " severity", "of severity " + severity, "as " + severity} {
			list = append(list, clauseOf{words, set, nil})
		}
	}
	for _, health := range []string{"degraded", "unhealthy"} {
		set := func(q *request) { q.override = health }
		for _, words := range []string{"with override " + health, "override " + health, "overriding health as " + health, "override health as " + health, "and show it as " + health, "shown as " + health} {
			list = append(list, clauseOf{words, set, nil})
		}
	}
	return list
}()

func (q *request) describe(text string) { q.description = text }
func (q *request) say(text string)      { q.message = text }

// titleWords begin a title.
var titleWords = []string{"with the title", "with title", "titled", "entitled", "called", "named", "title"}

// readRequest takes the clauses out and cuts the rest into segments.
func readRequest(m matched, words []string) *request {
	q := &request{m: m}
	var cur segment
	flush := func(colon bool) {
		if cur.words = trimPauses(cur.words); len(cur.words) > 0 {
			q.segments = append(q.segments, cur)
		}
		cur = segment{colon: colon}
	}
	for i := 0; i < len(words); {
		if c, n := clauseIn(words[i:]); n > 0 {
			flush(false)
			i += n
			for i < len(words) && (words[i] == colon || words[i] == comma) {
				i++
			}
			if c.text == nil {
				c.set(q)
				continue
			}
			text := words[i:]
			if len(text) > 0 && isQuote(text[0]) {
				text = text[:1]
			}
			c.text(q, m.u.prose(strings.Join(text, " ")))
			i += len(text)
			continue
		}
		if n := startsWith(words[i:], titleWords); n > 0 && i+n < len(words) {
			flush(false)
			i += n
			if isQuote(words[i]) && q.title == "" {
				q.title = m.u.value(words[i])
				i++
			}
			continue
		}
		switch words[i] {
		case breakMark:
			flush(false)
		case colon, "-", "–", "—":
			flush(words[i] == colon || len(cur.words) > 0)
		default:
			cur.words = append(cur.words, words[i])
		}
		i++
	}
	flush(false)
	return q
}

func isQuote(word string) bool {
	r := []rune(word)
	return len(r) == 1 && r[0] >= firstQuote && r[0] < firstQuote+maxQuotes
}

func clauseIn(words []string) (clauseOf, int) {
	best, size := clauseOf{}, 0
	for _, c := range requestClauses {
		if n := startsWith(words, []string{c.words}); n > size {
			best, size = c, n
		}
	}
	return best, size
}

// startsWith gives how many words the longest of the phrases takes at the
// beginning of words.
func startsWith(words []string, phrases []string) int {
	best := 0
	for _, p := range phrases {
		f := strings.Fields(p)
		if len(f) > best && len(words) >= len(f) && strings.EqualFold(strings.Join(words[:len(f)], " "), p) {
			best = len(f)
		}
	}
	return best
}

func trimPauses(words []string) []string {
	pause := func(w string) bool { return w == comma || w == semicolon || w == colon || strings.EqualFold(w, "and") }
	for len(words) > 0 && pause(words[0]) {
		words = words[1:]
	}
	for len(words) > 0 && pause(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return words
}

// about are the words that stand before systems.
var about = []string{"on", "for", "of", "affecting", "impacting", "concerning", "in", "at", "with", "about"}

// settle finds the systems and the title in the segments, with the systems that
// exist. It gives what to ask.
func (q *request) settle(systems []thing, short bool) string {
	if len(systems) == 0 {
		return "There is no system yet that you may see. Create one first, for example `create system Billing`."
	}
	known := indexed(systems)
	var unknown string
	for _, s := range q.segments {
		title, found, rest, bad := q.split(s.words, known)
		if bad != "" {
			unknown = bad
		}
		if len(found) > 0 && len(q.systems) > 0 {
			found = slices.DeleteFunc(found, func(x thing) bool { return slices.ContainsFunc(q.systems, func(y thing) bool { return x.id == y.id }) })
		}
		q.systems = append(q.systems, found...)
		for _, words := range [][]string{title, rest} {
			if words = trimPauses(words); len(words) == 0 {
				continue
			}
			text := q.m.u.prose(strings.Join(words, " "))
			switch {
			case q.title == "":
				q.title = text
			case s.colon && q.description == "":
				q.description = text
			default:
				return fmt.Sprintf("I did not understand the part %s. Put a title in quotes, for example `\"%s\"`.", quoted(text), "DB upgrade")
			}
		}
	}
	if len(q.systems) == 0 {
		if found := mentioned(systems, q.title); len(found) == 1 {
			q.systems, q.mentioned = found, true
		} else if unknown != "" {
			return undecided(unknown, "system", systems, known.named(unknown), short)
		}
	}
	if len(q.systems) == 0 {
		text := "Which systems are concerned? Say it behind `on`, for example `… on Payments API and Billing`."
		if short {
			text += " The list of systems was too long to see all of it."
		}
		return text + "\n\n" + choices(systems)
	}
	return ""
}

// split parts a segment into title, systems and what follows them. A word such
// as "on" begins systems only if what follows names some. unknown is a name
// that is none, or that of several.
func (q *request) split(words []string, systems index) (title []string, found []thing, rest []string, unknown string) {
	type cut struct {
		at, end int
		found   []thing
	}
	var partial *cut
	for i, w := range words {
		if !slices.ContainsFunc(about, func(a string) bool { return strings.EqualFold(a, w) }) {
			continue
		}
		list, n, twins := q.systemsIn(words[i+1:], systems)
		if twins != "" {
			return words[:i], nil, nil, twins
		}
		if n == 0 {
			if !strings.EqualFold(w, "in") && !strings.EqualFold(w, "with") && !strings.EqualFold(w, "at") && !strings.EqualFold(w, "about") {
				unknown = q.m.u.value(strings.Join(words[i+1:], " "))
			}
			continue
		}
		if i+1+n == len(words) {
			return words[:i], list, nil, ""
		}
		if partial == nil || i == 0 {
			partial = &cut{i, i + 1 + n, list}
		}
	}
	switch {
	case partial != nil && partial.at == 0:
		return nil, partial.found, words[partial.end:], ""
	case partial != nil && isQuote(words[0]):
		return words[:partial.at], partial.found, words[partial.end:], ""
	}
	return words, nil, nil, unknown
}

// systemsIn reads names of systems: "A", "A and B", "A, B and C", "all
// systems". It gives how many words they take. twins is a name that several
// have.
func (q *request) systemsIn(words []string, systems index) (found []thing, n int, twins string) {
	if k := startsWith(words, []string{"all systems", "all the systems", "all my systems", "all our systems", "every system", "all of the systems"}); k > 0 {
		return slices.Clone(systems.all), k, ""
	}
	for at := 0; at < len(words); {
		hit, size := thing{}, 0
		for end := min(len(words), at+systems.longest); end > at && size == 0; end-- {
			if w := strings.ToLower(words[end-1]); w == "and" || w == comma || w == "&" {
				continue
			}
			name := q.m.u.value(strings.Join(words[at:end], " "))
			switch same := systems.named(name); len(same) {
			case 0:
			case 1:
				hit, size = same[0], end-at
			default:
				return nil, 0, name
			}
		}
		if size == 0 {
			return found, n, ""
		}
		if !slices.ContainsFunc(found, func(x thing) bool { return x.id == hit.id }) {
			found = append(found, hit)
		}
		at += size
		n = at
		for at < len(words) && (words[at] == comma || words[at] == "&" || words[at] == "+" || strings.EqualFold(words[at], "and") || strings.EqualFold(words[at], "plus")) {
			at++
		}
		if at == n {
			return found, n, ""
		}
	}
	return found, n, ""
}

// index finds things by name as named does, many times over: a long text is
// looked up word by word.
type index struct {
	all                     []thing
	exact, folded, stripped map[string][]thing
	// longest is of how many words a name has at most, with what stands around it.
	longest int
}

func indexed(all []thing) index {
	x := index{all, map[string][]thing{}, map[string][]thing{}, map[string][]thing{}, 1}
	for _, t := range all {
		for _, key := range slices.Compact([]string{t.name, t.id}) {
			x.exact[key] = append(x.exact[key], t)
		}
		x.folded[fold(t.name)] = append(x.folded[fold(t.name)], t)
		x.stripped[strip(t.name)] = append(x.stripped[strip(t.name)], t)
		x.longest = max(x.longest, len(strings.Fields(t.name))+4)
	}
	return x
}

func (x index) named(name string) []thing {
	if found := x.exact[name]; len(found) > 0 {
		return found
	}
	if found := x.folded[fold(name)]; len(found) > 0 {
		return found
	}
	return x.stripped[strip(name)]
}

// mentioned gives the systems whose names stand in a text, the longest where
// one name holds another.
func mentioned(systems []thing, text string) []thing {
	var out []thing
	text = fold(strings.NewReplacer(",", " ", ":", " ", ";", " ", "(", " ", ")", " ").Replace(text))
	for _, x := range systems {
		if len(strip(x.name)) < 2 || !within(text, strip(x.name)) {
			continue
		}
		longer := func(y thing) bool {
			return len(y.name) > len(x.name) && within(strip(y.name), strip(x.name)) && within(text, strip(y.name))
		}
		if !slices.ContainsFunc(systems, longer) {
			out = append(out, x)
		}
	}
	return out
}
