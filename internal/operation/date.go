package operation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/checkstack/checkstack/internal/problem"
)

// A date-time comes in as RFC 3339 text with an explicit offset and nothing
// else, spec/ai-platform.md 8: text without one would be read in the zone of
// whichever host happens to read it. This holds for every position whose
// schema says so, whatever the entry point, and before anything else looks at
// the value, so that a handler compares instants.

// The years that are accepted, in UTC. Before 1970 stand only mistakes, such as
// a zero time. JSON has no form for a year after 9999 (time.Time refuses it),
// and an answer may be one year off what was accepted: in another zone, or the
// end of what begins then.
const (
	minYear = 1970
	maxYear = 9998
)

// instantLayout is the form every accepted date-time is brought to.
const instantLayout = "2006-01-02T15:04:05.000Z"

const dateRule = "must be an RFC 3339 date-time with an explicit timezone offset, such as 2026-07-01T22:00:00Z or 2026-07-01T22:00:00+02:00"

// datePattern is RFC 3339 with what models and people write besides: seconds
// may be left out, and the colon of the offset.
var datePattern = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(?:[Zz]|([+-])(\d{2}):?(\d{2}))$`)

// parseInstant reads an accepted text. shaped says that only its numbers are
// at fault: it looks like a date-time and denotes no instant.
func parseInstant(text string) (at time.Time, shaped, ok bool) {
	m := datePattern.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false, false
	}
	n := func(i int) int {
		v, _ := strconv.Atoi(m[i]) // two or four digits, or nothing
		return v
	}
	year, month, day, hour, minute, second := n(1), n(2), n(3), n(4), n(5), n(6)
	offset := time.Duration(n(9))*time.Hour + time.Duration(n(10))*time.Minute
	if hour > 23 || minute > 59 || second > 59 || n(10) > 59 || offset > 14*time.Hour {
		return time.Time{}, true, false
	}
	millis, _ := strconv.Atoi((m[7] + "000")[:3])
	at = time.Date(year, time.Month(month), day, hour, minute, second, millis*int(time.Millisecond), time.UTC)
	if y, mo, d := at.Date(); y != year || int(mo) != month || d != day {
		return time.Time{}, true, false
	}
	if m[8] == "-" {
		offset = -offset
	}
	return at.Add(-offset), true, true
}

// checkDate gives the form in which a value at a date's position goes on, or
// what is wrong with it. at is its path.
func checkDate(value any, at string) (string, *problem.Issue) {
	name := ""
	if at == "" {
		name = "the date value "
	}
	text, isText := value.(string)
	if !isText {
		return "", &problem.Issue{Path: at, Message: name + dateRule + "; received " + typeName(value)}
	}
	instant, shaped, ok := parseInstant(text)
	switch {
	case !shaped:
		hint := ""
		if _, _, plus := parseInstant(strings.Replace(text, " ", "+", 1)); plus {
			hint = " (in an address, write + as %2B)"
		}
		return "", &problem.Issue{Path: at, Message: name + dateRule + "; received " + quoteDate(text) + hint}
	case !ok:
		return "", &problem.Issue{Path: at, Message: name + "is not a valid calendar date-time; received " + quoteDate(text)}
	case instant.Year() < minYear:
		return "", &problem.Issue{Path: at, Message: name + fmt.Sprintf("must not be before %d", minYear)}
	case instant.Year() > maxYear:
		return "", &problem.Issue{Path: at, Message: name + fmt.Sprintf("must not be after %d", maxYear)}
	}
	return instant.Format(instantLayout), nil
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64, int64, int:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

// dateWords are what a text may have besides numbers and still be repeated.
var dateWords = regexp.MustCompile(`(?i)^(?:[^a-z]|\b(?:[tz]|utc|gmt|[ap]m|st|nd|rd|th|not|an?|date|the|on|of|at|in|next|last|days?|hours?|minutes?|weeks?|months?|ago|from|` +
	`now|today|tomorrow|yesterday|noon|midnight|tonight|` +
	`mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|` +
	`jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b|` +
	`\d(?:[tz]|[ap]m|st|nd|rd|th)(?:\b|\d))*$`)

// quoteDate repeats what was received, so that a model can see its own slip.
// Only a text made of numbers and words about dates is repeated: anything else
// was not meant as a date and may be a secret in the wrong field.
func quoteDate(text string) string {
	const most = 40
	runes := 0
	for _, r := range text {
		if runes++; runes > most || r < ' ' || r > '~' {
			return "another text"
		}
	}
	if !dateWords.MatchString(text) {
		return "another text"
	}
	return `"` + text + `"`
}

// dates checks every date position of value, and brings what is accepted to
// one form in place. It gives the value, whether anything changed, and every
// fault.
func (s *Schema) dates(sc *huma.Schema, value any, at string) (next any, changed bool, issues []problem.Issue) {
	sc = s.dateSchema(sc)
	if sc == nil || value == nil {
		return value, false, nil // null is for the ordinary check to judge
	}
	if isDate(sc) {
		text, issue := checkDate(value, at)
		if issue != nil {
			return value, false, []problem.Issue{*issue}
		}
		return text, text != value, nil
	}
	set := func(sc *huma.Schema, item any, at string, put func(any)) {
		next, ch, found := s.dates(sc, item, at)
		if ch {
			put(next)
			changed = true
		}
		issues = append(issues, found...)
	}
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			set(sc.Items, item, at+"["+strconv.Itoa(i)+"]", func(next any) { v[i] = next })
		}
	case map[string]any:
		for k, item := range v {
			set(s.property(sc, k), item, join(at, k), func(next any) { v[k] = next })
		}
	}
	return value, changed, issues
}

func isDate(sc *huma.Schema) bool { return sc.Type == huma.TypeString && sc.Format == "date-time" }

// dateSchema resolves references, and takes of a union its first member that
// holds a date; nil when there is none.
func (s *Schema) dateSchema(sc *huma.Schema) *huma.Schema {
	sc = s.resolve(sc)
	if sc == nil {
		return nil
	}
	for _, members := range [][]*huma.Schema{sc.OneOf, sc.AnyOf} {
		for _, m := range members {
			if s.holdsDate(m, map[*huma.Schema]bool{}) {
				return s.dateSchema(m)
			}
		}
	}
	return sc
}

func (s *Schema) holdsDate(sc *huma.Schema, seen map[*huma.Schema]bool) bool {
	sc = s.resolve(sc)
	if sc == nil || seen[sc] {
		return false
	}
	seen[sc] = true
	if isDate(sc) || s.holdsDate(sc.Items, seen) {
		return true
	}
	for _, p := range sc.Properties {
		if s.holdsDate(p, seen) {
			return true
		}
	}
	if p, ok := sc.AdditionalProperties.(*huma.Schema); ok && s.holdsDate(p, seen) {
		return true
	}
	for _, m := range append(append([]*huma.Schema{}, sc.OneOf...), sc.AnyOf...) {
		if s.holdsDate(m, seen) {
			return true
		}
	}
	return false
}
