package builtin

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
)

// result is one tool's answer. Everything in it is foreign text.
type result struct {
	err     string // the readable reason, when the call failed
	confirm bool   // a card waits for the person
	summary string // of a change
	body    map[string]json.RawMessage
}

// readResult reads a tool message of any shape.
func readResult(m llm.Message) result {
	if m.IsError {
		text := strings.TrimSpace(m.Text)
		if text == "" {
			text = "no reason was given"
		}
		if o := object(text); o != nil {
			if s := firstText(o, "error", "message"); s != "" {
				text = s
			}
		}
		return result{err: reason(text)}
	}
	r := result{body: object(m.Text)}
	r.summary = str(r.body["summary"])
	r.confirm = string(r.body["__confirm"]) == "true"
	if len(r.body) <= 3 {
		// A failure that came as a value.
		r.err = firstText(r.body, "error", "errorText")
	}
	return r
}

var (
	reasonCode = regexp.MustCompile(`^[a-z]+(?:_[a-z]+)+: `)
	// advice are the lines of a refusal that speak to a model.
	advice = []string{"Fix every issue", "Nothing was proposed", "Do not "}
)

// reason gives the part of a refusal that a person can use.
func reason(text string) string {
	var kept []string
	for line := range strings.SplitSeq(reasonCode.ReplaceAllString(strings.TrimSpace(text), ""), "\n") {
		if !slices.ContainsFunc(advice, func(a string) bool { return strings.HasPrefix(line, a) }) {
			kept = append(kept, strings.TrimPrefix(line, "- "))
		}
	}
	if s := strings.TrimSpace(strings.Join(kept, " ")); s != "" {
		return s
	}
	return text
}

func firstText(o map[string]json.RawMessage, keys ...string) string {
	for _, k := range keys {
		if s := str(o[k]); s != "" {
			return s
		}
	}
	return ""
}

// object finds the JSON object in a text that may have a fence around it.
func object(text string) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &o) == nil {
		return o
	}
	if i := strings.IndexByte(text, '{'); i >= 0 {
		if json.NewDecoder(strings.NewReader(text[i:])).Decode(&o) == nil {
			return o
		}
	}
	return nil
}

func str(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

// list reads a list of objects under a key; entries of another shape are left
// out.
func (r result) list(key string) []map[string]json.RawMessage {
	var raw []json.RawMessage
	if json.Unmarshal(r.body[key], &raw) != nil {
		return nil
	}
	var out []map[string]json.RawMessage
	for _, e := range raw {
		var o map[string]json.RawMessage
		if json.Unmarshal(e, &o) == nil && o != nil {
			out = append(out, o)
		}
	}
	return out
}

// has reports whether the result has the list at all; one without is not
// "nothing there".
func (r result) has(key string) bool {
	var raw []json.RawMessage
	return json.Unmarshal(r.body[key], &raw) == nil && raw != nil
}

// cutShort reports whether the platform clamped the result.
func (r result) cutShort() bool { _, ok := r.body["_truncated"]; return ok }

func (r result) texts(key string) []string {
	var raw []json.RawMessage
	if json.Unmarshal(r.body[key], &raw) != nil {
		return nil
	}
	var out []string
	for _, e := range raw {
		if s := str(e); s != "" {
			out = append(out, s)
		} else if o := object(string(e)); o != nil {
			if s := firstText(o, "name", "label", "sourceId", "source", "id"); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// thing is a named record: a system, group or check.
type thing struct {
	kind, id, name, description string
	owner                       string // the system of a check
	members                     []string
}

func (r result) things(kind, key string) []thing {
	var out []thing
	for _, o := range r.list(key) {
		t := thing{kind: kind, id: firstText(o, "id", "configurationId"), name: str(o["name"]), description: str(o["description"]), owner: str(o["systemName"])}
		t.members = result{body: o}.texts("systemIds")
		if t.id == "" || t.name == "" || slices.ContainsFunc(out, func(x thing) bool { return x.id == t.id }) {
			continue // a check appears once per system
		}
		out = append(out, t)
	}
	return out
}

// check is one check on one system.
type check struct {
	id, name, systemID, system, status, reason string
	since, lastRun                             time.Time
	interval                                   int
	paused                                     bool
}

func (r result) checks() []check {
	var out []check
	for _, o := range r.list("checks") {
		c := check{id: firstText(o, "configurationId", "id"), name: str(o["name"]), systemID: str(o["systemId"]),
			system: str(o["systemName"]), status: strings.ToLower(str(o["status"])), reason: str(o["reason"]),
			since: when(o["since"]), lastRun: when(o["lastRunAt"])}
		var n float64
		if json.Unmarshal(o["intervalSeconds"], &n) == nil && n >= 1 && n < 1e9 {
			c.interval = int(n)
		}
		c.paused = string(o["paused"]) == "true"
		if c.id != "" || c.name != "" {
			out = append(out, c)
		}
	}
	return out
}

func when(raw json.RawMessage) time.Time {
	t, err := time.Parse(time.RFC3339, str(raw))
	if err != nil {
		return time.Time{}
	}
	return t
}

// signal is one thing that is wrong with a system.
type signal struct {
	systemID, system, source, tone, label, detail string
	since                                         time.Time
}

func (r result) signals() []signal {
	var out []signal
	for _, o := range r.list("systems") {
		for _, s := range (result{body: o}).list("signals") {
			out = append(out, signal{systemID: str(o["systemId"]), system: firstText(o, "systemName", "name", "systemId"),
				source: str(s["source"]), tone: str(s["tone"]), label: str(s["label"]), detail: str(s["detail"]), since: when(s["since"])})
		}
	}
	return out
}
