package builtin

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

func monitorIntents() []intent {
	return []intent{
		define("monitor", planMonitor,
			"(monitor|watch|track|observe|probe|poll|ping|check|test|keep an eye on|start monitoring|start watching|start checking|set up monitoring for|set up monitoring of|set up a check for|set up checks for) {what}",
			"(add|create|make|set up|new) [a|an|the] [new|http|https|health] (check|monitor|health check|healthcheck|monitoring|http check) [for|on|of|to|that monitors|that checks] {what}",
		).when(func(m matched) bool {
			_, found := urlIn(m)
			return found
		}),
		define("monitor without address", planMonitorNoURL,
			"(monitor|watch|track|observe|keep an eye on|start monitoring|start watching|set up monitoring for|set up a check for) {what}",
			"(add|create|make|set up|new) [a|an|the] [new|http|health] (check|monitor|health check|healthcheck|http check) [for|on|of|called|named] {what}",
			"(add|create|make|set up|new) [a|an|the] [new|http|health] (check|monitor|health check|healthcheck|http check)",
		),
	}
}

func planMonitorNoURL(*turn, matched) step {
	return answer("Which address should I watch? Give me a URL, for example `monitor https://example.com/health every minute as \"Payments API\"`.")
}

var urlWord = regexp.MustCompile(`(?i)^(?:[a-z][a-z0-9+.-]*://\S+|localhost(?:[:/]\S*)?|\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\S*)?|(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?(?:/\S*)?)$`)

// urlIn finds the word that is an address: its position among the words.
func urlIn(m matched) (int, bool) {
	for i, w := range strings.Fields(m.slots["what"]) {
		if urlWord.MatchString(trimURL(m.u.value(w))) {
			return i, true
		}
	}
	return 0, false
}

func trimURL(s string) string { return strings.TrimRight(strings.Trim(s, `<>(),;"'`), ".,;!?") }

// wish is what a person wants to have monitored.
type wish struct {
	url      string
	assumed  bool // the scheme is our guess
	interval int
	name     string // of the check; "" when not given
	system   string // "" when not given
}

// planMonitor proposes a check and, when its system does not exist, the system.
func planMonitor(t *turn, m matched) step {
	w, problem := readWish(m)
	if problem != "" {
		return answer(problem)
	}
	if !t.may("healthcheck_propose") {
		return answer(notOffered("healthcheck_propose"))
	}
	system := w.system
	if system == "" {
		system = w.name
	}
	check := w.name
	if check == "" {
		check = system
	}
	results, s := t.need(listSystems)
	if s != nil {
		return *s
	}
	if !results[0].has("systems") {
		return answer("I could not read the list of systems: its answer has an unexpected form. Nothing was changed.")
	}
	systems := results[0].things("system", "systems")
	found := named(systems, system)
	if len(found) > 1 {
		return answer(undecided(system, "system", systems, found, false))
	}
	propose := args{
		"name": check, "strategyId": "healthcheck-http.http", "config": args{}, "intervalSeconds": w.interval,
		"collectors": []any{args{
			"collectorId": "healthcheck-http.request",
			"config":      args{"url": w.url, "method": "GET"},
			"assertions":  []any{args{"field": "statusCode", "operator": "lessThan", "value": 400}},
		}},
	}
	label := fmt.Sprintf("Create HTTP check “%s” for %s, %s", check, w.url, every(w.interval))
	preface := fmt.Sprintf("I will watch %s %s. It counts as healthy when the answer has a status below 400.", code(w.url), every(w.interval))
	if w.assumed {
		scheme, _, _ := strings.Cut(w.url, ":")
		preface += " You gave no scheme, so I assume " + code(scheme) + "."
	}
	if len(found) == 1 {
		propose["assignToSystemId"] = found[0].id
		return t.change(preface+" The system "+bold(found[0].name)+" exists already.\n\n", call{"healthcheck_propose", propose, label})
	}
	if w.system != "" {
		if n := near(systems, system); len(n) > 0 {
			return answer(undecided(system, "system", systems, nil, results[0].cutShort()) +
				"\n\nName one of them, or create the system first.")
		}
	}
	if !t.may("catalog_createSystem") {
		return answer("There is no system called " + quoted(system) + " yet. " + notOffered("catalog_createSystem"))
	}
	propose["assignToSystemName"] = system
	return t.change(preface+" The system "+bold(system)+" does not exist yet, so I propose it too.\n\n",
		call{"catalog_createSystem", args{"name": system}, "Create system “" + system + "”"},
		call{"healthcheck_propose", propose, label})
}

// readWish splits the clauses, which may come in any order. The second value
// says what is wrong, for the person.
func readWish(m matched) (wish, string) {
	w := wish{interval: defaultInterval}
	at, _ := urlIn(m)
	words := strings.Fields(m.slots["what"])
	var problem string
	if w.url, w.assumed, problem = readURL(trimURL(m.u.value(words[at]))); problem != "" {
		return w, problem
	}
	for _, c := range clauses(slices.Delete(words, at, at+1)) {
		value := m.u.value(c.value)
		switch c.kind {
		case clauseName:
			w.name = value
		case clauseSystem:
			w.system = value
		case clauseEvery:
			n, err := parseInterval(value)
			if err != nil {
				return w, "I cannot use that interval. " + err.Error() + "."
			}
			w.interval = n
		}
	}
	if w.name == "" && w.system == "" {
		u, err := url.Parse(w.url)
		if err != nil {
			return w, badURL
		}
		w.name = u.Hostname()
	}
	if utf8.RuneCountInString(w.name) > 200 || utf8.RuneCountInString(w.system) > 200 {
		return w, "That name is too long. Please give one of at most 200 characters."
	}
	return w, ""
}

// The kinds of clauses in a wish.
type clauseKind int

const (
	clauseEvery clauseKind = iota
	clauseName
	clauseSystem
)

// clauseKeys are the words that begin a clause, longer ones first; own says
// that the key itself is the value.
var clauseKeys = []struct {
	words string
	kind  clauseKind
	own   string
}{
	{"with an interval of", clauseEvery, ""}, {"at an interval of", clauseEvery, ""}, {"with interval", clauseEvery, ""}, {"interval", clauseEvery, ""},
	{"every", clauseEvery, ""}, {"each", clauseEvery, ""}, {"once per", clauseEvery, "1"}, {"once every", clauseEvery, ""}, {"once a", clauseEvery, "1"}, {"once an", clauseEvery, "1"},
	{"hourly", clauseEvery, "hourly"}, {"daily", clauseEvery, "daily"}, {"minutely", clauseEvery, "minutely"},
	{"with the name", clauseName, ""}, {"with name", clauseName, ""}, {"and call it", clauseName, ""}, {"call it", clauseName, ""}, {"as", clauseName, ""}, {"called", clauseName, ""}, {"named", clauseName, ""},
	{"for the system", clauseSystem, ""}, {"for system", clauseSystem, ""}, {"on the system", clauseSystem, ""}, {"on system", clauseSystem, ""},
	{"in the system", clauseSystem, ""}, {"in system", clauseSystem, ""}, {"under the system", clauseSystem, ""}, {"under system", clauseSystem, ""}, {"for", clauseSystem, ""}, {"under", clauseSystem, ""},
}

type clause struct {
	kind  clauseKind
	value string
}

// clauses splits words at the clause keys; words before the first, such as
// "the URL", belong to none.
func clauses(words []string) []clause {
	var out []clause
	for len(words) > 0 {
		if c, n := clauseAt(words); n > 0 {
			out = append(out, c)
			words = words[n:]
			continue
		}
		if n := len(out); n > 0 {
			out[n-1].value = strings.TrimSpace(out[n-1].value + " " + words[0])
		}
		words = words[1:]
	}
	return out
}

func clauseAt(words []string) (clause, int) {
	for _, k := range clauseKeys {
		key := strings.Fields(k.words)
		if len(words) >= len(key) && strings.EqualFold(strings.Join(words[:len(key)], " "), k.words) {
			return clause{k.kind, k.own}, len(key)
		}
	}
	return clause{}, 0
}

const badURL = "I cannot use that address. Give me a full URL such as `https://example.com/health`."

func readURL(raw string) (full string, assumed bool, problem string) {
	if !strings.Contains(raw, "://") {
		assumed = true
		host, _, _ := strings.Cut(raw, "/")
		name, _, port := strings.Cut(host, ":")
		_, err := netip.ParseAddr(name)
		if port || err == nil || strings.EqualFold(name, "localhost") {
			raw = "http://" + raw
		} else {
			raw = "https://" + raw
		}
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || len(raw) > 2048 {
		return "", false, badURL
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", false, "I can set up HTTP and HTTPS checks only. For other kinds use the health-check form."
	}
	if u.User != nil {
		return "", false, "Please do not put a user name or password into the address; they would be stored and shown in plain text. Set up the check in the health-check form, which keeps credentials secret."
	}
	return u.String(), assumed, ""
}

// code shows a foreign value as code, with a fence that it cannot close.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if fence != "`" || strings.HasPrefix(s, "`") {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
