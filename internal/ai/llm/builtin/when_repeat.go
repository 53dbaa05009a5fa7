package builtin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/zone"
)

// repeat is how something repeats, as it was said.
type repeat struct {
	freq     string // of RFC 5545: DAILY, WEEKLY, MONTHLY
	interval int
	days     []time.Weekday
	nth      int // with one day: the nth of the month, -1 for the last
	monthDay int // of the month, -1 for the last
	ask      string
}

var ordinals = map[string]int{"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5, "last": -1}

// repeatAt reads "every Sunday", "daily", "every 2 weeks on Monday and
// Thursday", "every first Sunday of the month", "monthly on the 15th".
func (r *reader) repeatAt(i int) (*repeat, int) {
	p := &repeat{interval: 1}
	w, n := r.word(i), 1
	plural := ""
	switch w {
	case "every", "each":
	case "daily", "nightly":
		if !r.mayFollow(i + 1) {
			return nil, 0
		}
		p.freq = "DAILY"
		return p, 1
	case "weekly", "fortnightly", "monthly":
		if !r.mayFollow(i + 1) {
			return nil, 0
		}
		p.freq = map[string]string{"weekly": "WEEKLY", "fortnightly": "WEEKLY", "monthly": "MONTHLY"}[w]
		if w == "fortnightly" {
			p.interval = 2
		}
		return p, n + r.onDays(i+n, p)
	case "on", "":
		plural = r.word(i + 1)
		n = 2
	default:
		plural = w
	}
	if plural != "" {
		// Sundays, on Sundays, on weekdays
		name, many := strings.CutSuffix(plural, "s")
		if !many {
			return nil, 0
		}
		if d, ok := weekdays[name]; ok {
			p.freq, p.days = "WEEKLY", []time.Weekday{d}
			return p, n + r.moreDays(i+n, p)
		}
		if name == "weekday" && w == "on" {
			p.freq, p.days = "WEEKLY", workdays()
			return p, n
		}
		return nil, 0
	}
	if w != "every" && w != "each" {
		return nil, 0
	}
	switch next := r.word(i + 1); {
	case next == "other" || next == "second" && r.word(i+2) != "of" && !r.isDay(i+2):
		p.interval, n = 2, 2
	case bareHour.MatchString(next):
		p.interval, n = num(next), 2
	case numberWords[next] != "" && ordinals[next] == 0 && next != "a" && next != "an":
		p.interval, n = num(numberWords[next]), 2
	}
	if p.interval < 1 {
		return nil, 0
	}
	next := r.word(i + n)
	switch {
	case next == "day" || next == "days" || next == "night" || next == "nights" || next == "evening" || next == "morning":
		p.freq = "DAILY"
		return p, n + 1
	case (next == "weekday" || next == "weekdays") && p.interval == 1, r.has(i+n, "working", "day"):
		p.freq, p.days = "WEEKLY", workdays()
		if next == "working" {
			n++
		}
		return p, n + 1
	case next == "weekend" && p.interval == 1:
		p.freq, p.days = "WEEKLY", []time.Weekday{time.Saturday, time.Sunday}
		return p, n + 1
	case next == "week" || next == "weeks":
		p.freq = "WEEKLY"
		return p, n + 1 + r.onDays(i+n+1, p)
	case next == "month" || next == "months":
		p.freq = "MONTHLY"
		return p, n + 1 + r.onDays(i+n+1, p)
	case ordinals[next] != 0 && r.isDay(i+n+1):
		d, _ := r.dayName(i + n + 1)
		p.freq, p.nth, p.days = "MONTHLY", ordinals[next], []time.Weekday{d}
		return p, n + 2 + r.ofMonth(i+n+2)
	case r.isDay(i + n):
		d, _ := r.dayName(i + n)
		p.freq, p.days = "WEEKLY", []time.Weekday{d}
		return p, n + 1 + r.moreDays(i+n+1, p)
	}
	return nil, 0
}

// mayFollow tells "daily at 02:00" and "weekly for Search" from the title
// "Weekly reboot".
func (r *reader) mayFollow(i int) bool {
	switch r.word(i) {
	case "", comma, colon, "on", "for", "of", "from", "at", "between", "starting", "beginning", "until", "and":
		return true
	}
	_, n := r.momentAt(i, false)
	return n > 0
}

func workdays() []time.Weekday {
	return []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
}

func (r *reader) isDay(i int) bool { _, ok := r.dayName(i); return ok }

func (r *reader) ofMonth(i int) int {
	switch {
	case r.has(i, "of", "the", "month"), r.has(i, "of", "every", "month"), r.has(i, "of", "each", "month"):
		return 3
	case r.has(i, "in", "the", "month"), r.has(i, "a", "month"):
		return len(strings.Fields("in the month"))
	}
	return 0
}

// onDays reads the days behind "weekly" or "every month".
func (r *reader) onDays(i int, p *repeat) int {
	n := 0
	if r.word(i) == "on" {
		n = 1
	}
	if p.freq == "WEEKLY" {
		if !r.isDay(i + n) {
			return 0
		}
		d, _ := r.dayName(i + n)
		p.days = []time.Weekday{d}
		return n + 1 + r.moreDays(i+n+1, p)
	}
	if r.word(i+n) == "the" {
		n++
	}
	w := r.word(i + n)
	switch {
	case ordinals[w] != 0 && r.isDay(i+n+1):
		d, _ := r.dayName(i + n + 1)
		p.nth, p.days = ordinals[w], []time.Weekday{d}
		return n + 2
	case r.has(i+n, "last", "day"):
		p.monthDay = -1
		return n + 2
	case n > 0 && ordinalDay.MatchString(w) && months[r.word(i+n+1)] == 0:
		if p.monthDay = num(ordinalDay.FindStringSubmatch(w)[1]); p.monthDay < 1 || p.monthDay > 31 {
			p.ask = "There is no such day of the month as " + code(w) + "."
		}
		return n + 1
	}
	return 0
}

// moreDays reads "and Thursday", ", Wednesday and Friday".
func (r *reader) moreDays(i int, p *repeat) int {
	n := 0
	for {
		k := n
		for r.word(i+k) == "and" || r.word(i+k) == comma || r.word(i+k) == "&" {
			k++
		}
		if k == n {
			return n
		}
		name := strings.TrimSuffix(r.word(i+k), "s")
		d, ok := weekdays[name]
		if !ok {
			if d, ok = r.dayName(i + k); !ok {
				return n
			}
		}
		p.days, n = append(p.days, d), k+1
	}
}

// rule writes the repetition as an RRULE of RFC 5545, for a series that begins
// on the day of start.
func (p *repeat) rule(start time.Time) string {
	rule := "FREQ=" + p.freq
	if p.interval > 1 {
		rule += fmt.Sprintf(";INTERVAL=%d", p.interval)
	}
	var days []string
	for _, d := range p.weekdays(start) {
		code := strings.ToUpper(d.String()[:2])
		if p.nth != 0 {
			code = fmt.Sprintf("%d%s", p.nth, code)
		}
		days = append(days, code)
	}
	if len(days) > 0 {
		rule += ";BYDAY=" + strings.Join(days, ",")
	}
	if p.freq == "MONTHLY" && len(days) == 0 {
		d := p.monthDay
		if d == 0 {
			d = start.Day()
		}
		rule += fmt.Sprintf(";BYMONTHDAY=%d", d)
	}
	return rule
}

// weekdays gives the days of the week, in their order from Monday; that of the
// start when none was said.
func (p *repeat) weekdays(start time.Time) []time.Weekday {
	days := slices.Clone(p.days)
	if p.freq == "WEEKLY" && len(days) == 0 {
		days = []time.Weekday{start.Weekday()}
	}
	slices.SortFunc(days, func(a, b time.Weekday) int { return (int(a)+6)%7 - (int(b)+6)%7 })
	return slices.Compact(days)
}

// on says whether a series may begin on the day of date.
func (p *repeat) on(date time.Time) bool {
	last := date.AddDate(0, 0, 1).Month() != date.Month()
	switch {
	case p.monthDay != 0:
		return date.Day() == p.monthDay || (p.monthDay == -1 && last)
	case p.nth == -1:
		return date.Weekday() == p.days[0] && date.AddDate(0, 0, 7).Month() != date.Month()
	case p.nth != 0:
		return date.Weekday() == p.days[0] && (date.Day()-1)/7+1 == p.nth
	case len(p.days) > 0:
		return slices.Contains(p.days, date.Weekday())
	}
	return true
}

// words says how it repeats.
func (p *repeat) words(start time.Time) string {
	unit := map[string]string{"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month"}[p.freq]
	text := "every " + unit
	if p.interval > 1 {
		text = fmt.Sprintf("every %d %ss", p.interval, unit)
	}
	var days []string
	for _, d := range p.weekdays(start) {
		days = append(days, d.String())
	}
	switch {
	case p.nth == -1:
		return text + " on the last " + days[0]
	case p.nth != 0:
		return fmt.Sprintf("%s on the %s %s", text, [...]string{"", "first", "second", "third", "fourth", "fifth"}[p.nth], days[0])
	case len(days) > 0:
		return text + " on " + strings.Join(days, ", ")
	case p.freq == "MONTHLY" && p.monthDay == -1:
		return text + " on the last day"
	case p.freq == "MONTHLY" && p.monthDay > 0:
		return fmt.Sprintf("%s on day %d", text, p.monthDay)
	case p.freq == "MONTHLY":
		return fmt.Sprintf("%s on day %d", text, start.Day())
	}
	return text
}

// series gives the first stretch of something that repeats.
func (t *turn) series(w timing) (span, string) {
	start, end := w.start, w.end
	switch {
	case start.clock == nil && start.at.IsZero():
		return span{}, "At what time does it begin each time, and how long does it take? Say for example `every Sunday 02:00 to 03:00`."
	case !end.said() && w.length == 0:
		return span{}, "How long does it take each time? Say for example `every Sunday 02:00 to 03:00` or `every Sunday 02:00 for 1 hour`."
	case end.said() && w.length > 0:
		return span{}, "You gave both an end and a duration. Say one of them."
	case end.day != nil:
		return span{}, "I can repeat windows that end at a time of day, such as `every Sunday 02:00 to 03:00`. When the series as a whole ends is set on the maintenance's page."
	}
	if _, ok := zone.Canonical(w.loc.String()); !ok {
		return span{}, "I do not know the time zone in which this repeats. Add it behind the time, such as `02:00 Europe/Berlin`."
	}
	if ask := harmonize(&start, &end); ask != "" {
		return span{}, ask
	}
	if !start.at.IsZero() {
		return t.finish(w, start.at, end)
	}
	first := dateOnly(t.now.In(w.loc))
	if start.day != nil {
		first = start.day.date
		if !w.repeat.on(first) {
			return span{}, fmt.Sprintf("%s is no day on which it repeats (%s). Leave the day out, or say one that fits.", first.Format("Monday 2 January 2006"), w.repeat.words(first))
		}
	}
	for d := first; d.Before(first.AddDate(1, 1, 0)); d = d.AddDate(0, 0, 1) {
		if !w.repeat.on(d) {
			continue
		}
		from, ask := wallTime(d, *start.clock, w.loc)
		switch {
		case ask != "":
			return span{}, "The first time is not clear. " + ask
		case from.Before(t.now.Truncate(time.Minute)) && start.day != nil:
			return span{}, passed(from, t.now)
		case from.Before(t.now):
			continue
		}
		return t.finish(w, from, end)
	}
	return span{}, "I find no day within a year on which that would happen."
}

func (t *turn) finish(w timing, from time.Time, end moment) (span, string) {
	s := span{start: from.In(w.loc)}
	if w.length > 0 {
		s.end = s.start.Add(w.length)
	} else {
		var ask string
		if s.end, ask = t.instant(w.loc, end, s.start, true); ask != "" {
			return span{}, ask
		}
	}
	if !s.end.After(s.start) {
		return span{}, fmt.Sprintf("That would end (%s) before it begins (%s).", day(s.end), day(s.start))
	}
	s.rule = w.repeat.rule(s.start)
	return s, ""
}
