package builtin

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// How many characters of one foreign value, and of a reason, are shown.
const (
	maxValue  = 300
	maxReason = 2000
)

// plain makes a foreign value safe in a line of Markdown: it renders as the
// text it is. Line breaks become spaces, control and direction characters go.
func plain(s string) string { return escape(s, maxValue) }

// because is plain for the reason of a failure, which may list many issues.
func because(s string) string { return escape(s, maxReason) }

func escape(s string, limit int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range strings.TrimSpace(s) {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			continue
		}
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if strings.ContainsRune("\\`*_[]<>|~&#!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// bold shows the name of a thing.
func bold(name string) string {
	if p := plain(name); p != "" {
		return "**" + p + "**"
	}
	return "(no name)"
}

func bullets(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "- " + strings.Join(lines, "\n- ")
}

// sentence ends a text with a full stop unless it has an end.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

func count(n int) string { return strconv.Itoa(n) }

// plural gives "1 system" or "3 systems".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// since words an instant as wall time in the turn's zone and as a distance.
func (t *turn) since(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	local := at.In(t.zone)
	format := "15:04 MST"
	if t.now.IsZero() {
		return local.Format("2 Jan 2006 15:04 MST")
	}
	now := t.now.In(t.zone)
	switch {
	case local.Year() != now.Year():
		format = "2 Jan 2006 15:04 MST"
	case local.YearDay() != now.YearDay():
		format = "Mon 2 Jan 15:04 MST"
	}
	return local.Format(format) + " (" + ago(now.Sub(at)) + ")"
}

func ago(d time.Duration) string {
	switch {
	case d < 0:
		return "in the future"
	case d < time.Minute:
		return "less than a minute ago"
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute") + " ago"
	case d < 48*time.Hour:
		return plural(int(d/time.Hour), "hour") + " ago"
	}
	return plural(int(d/(24*time.Hour)), "day") + " ago"
}

// every words an interval.
func every(seconds int) string {
	var parts []string
	for _, u := range []struct {
		size int
		name string
	}{{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}} {
		if n := seconds / u.size; n > 0 {
			parts = append(parts, plural(n, u.name))
			seconds -= n * u.size
		}
	}
	if len(parts) == 1 && strings.HasPrefix(parts[0], "1 ") {
		return "every " + parts[0][2:]
	}
	return "every " + strings.Join(parts, " ")
}

func quoted(s string) string { return fmt.Sprintf("“%s”", plain(s)) }
