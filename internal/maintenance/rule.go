package maintenance

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

// frequency is FREQ of a rule, as far as maintenances may repeat.
type frequency string

const (
	daily   frequency = "DAILY"
	weekly  frequency = "WEEKLY"
	monthly frequency = "MONTHLY"
	yearly  frequency = "YEARLY"
)

// rule is a recurrence rule (RRULE) of RFC 5545, 3.3.10, that gives days. The
// time of day is not its business: it comes from the start of the series, so
// there is at most one occurrence a day.
type rule struct {
	freq     frequency
	interval int
	count    int // zero: no end by number
	until    string
	months   []int
	weeks    []int
	yearDays []int
	days     []int // of the month
	weekdays []nthWeekday
	setPos   []int
	weekFrom time.Weekday
}

// nthWeekday is a weekday, or with n its nth in the month or year, from the end
// when negative.
type nthWeekday struct {
	n   int
	day time.Weekday
}

const (
	maxRule     = 500 // bytes
	maxInterval = 1_000
	maxCount    = 1_000
)

var weekdayCodes = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// ruleError is what is wrong with a rule, in words for whoever wrote it.
type ruleError string

func (e ruleError) Error() string { return string(e) }

// parseRule reads the text of a rule, with or without "RRULE:" before it. The
// error is a ruleError that never repeats the text.
func parseRule(text string) (rule, error) {
	r := rule{interval: 1, weekFrom: time.Monday}
	text = strings.ToUpper(strings.TrimSpace(text))
	switch {
	case text == "":
		return r, ruleError("must not be blank; write a rule such as FREQ=WEEKLY;BYDAY=SU")
	case len(text) > maxRule:
		return r, ruleError(fmt.Sprintf("must have at most %d characters", maxRule))
	case strings.ContainsAny(text, "\r\n"):
		return r, ruleError("must be a single rule on one line, without DTSTART or exceptions: the start of the maintenance is the start of the series")
	}
	text = strings.TrimPrefix(text, "RRULE:")
	seen := map[string]bool{}
	for part := range strings.SplitSeq(strings.TrimSuffix(text, ";"), ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			return r, ruleError("must be made of NAME=VALUE parts with a semicolon between them, such as FREQ=MONTHLY;BYDAY=1SU")
		}
		if seen[name] {
			return r, ruleError("has a part twice; each may be there once")
		}
		seen[name] = true
		if err := r.set(name, value); err != nil {
			return r, err
		}
	}
	return r, r.consistent(seen)
}

// set takes one part of the rule.
func (r *rule) set(name, value string) (err error) {
	switch name {
	case "FREQ":
		return r.setFrequency(value)
	case "INTERVAL":
		r.interval, err = number(name, value, 1, maxInterval)
	case "COUNT":
		r.count, err = number(name, value, 1, maxCount)
	case "UNTIL":
		if _, _, err := parseUntil(value); err != nil {
			return err
		}
		r.until = value
	case "BYMONTH":
		r.months, err = numbers(name, value, 1, 12, false)
	case "BYWEEKNO":
		r.weeks, err = numbers(name, value, 1, 53, true)
	case "BYYEARDAY":
		r.yearDays, err = numbers(name, value, 1, 366, true)
	case "BYMONTHDAY":
		r.days, err = numbers(name, value, 1, 31, true)
	case "BYSETPOS":
		r.setPos, err = numbers(name, value, 1, 366, true)
	case "BYDAY":
		r.weekdays, err = parseWeekdays(value)
	case "WKST":
		i := slices.Index(weekdayCodes, value)
		if i < 0 {
			return ruleError("WKST must be one of MO, TU, WE, TH, FR, SA and SU")
		}
		r.weekFrom = time.Weekday(i)
	case "BYHOUR", "BYMINUTE", "BYSECOND":
		return ruleError(name + " is not possible here: a maintenance repeats at most once a day, at the time of day at which it starts")
	default:
		return ruleError("has a part that RFC 5545 does not know; possible are FREQ, INTERVAL, COUNT, UNTIL, BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYSETPOS and WKST")
	}
	return err
}

func (r *rule) setFrequency(value string) error {
	switch f := frequency(value); f {
	case daily, weekly, monthly, yearly:
		r.freq = f
		return nil
	}
	switch value {
	case "HOURLY", "MINUTELY", "SECONDLY":
		return ruleError("FREQ must be DAILY or slower: a maintenance repeats at most once a day. Plan several series for several times of day")
	}
	return ruleError("FREQ must be one of DAILY, WEEKLY, MONTHLY and YEARLY")
}

// consistent checks what RFC 5545 says about parts that stand together.
func (r *rule) consistent(seen map[string]bool) error {
	ordinal := slices.ContainsFunc(r.weekdays, func(w nthWeekday) bool { return w.n != 0 })
	switch {
	case !seen["FREQ"]:
		return ruleError("needs FREQ, such as FREQ=WEEKLY")
	case seen["COUNT"] && seen["UNTIL"]:
		return ruleError("must not have both COUNT and UNTIL")
	case seen["BYWEEKNO"] && r.freq != yearly:
		return ruleError("BYWEEKNO goes with FREQ=YEARLY only")
	case seen["BYWEEKNO"] && !seen["BYDAY"]:
		return ruleError("BYWEEKNO needs BYDAY, which says on which day of the week")
	case seen["BYYEARDAY"] && r.freq != yearly:
		return ruleError("BYYEARDAY goes with FREQ=YEARLY only")
	case seen["BYMONTHDAY"] && r.freq == weekly:
		return ruleError("BYMONTHDAY does not go with FREQ=WEEKLY")
	case ordinal && r.freq != monthly && r.freq != yearly:
		return ruleError("BYDAY with a number, such as 1MO, goes with FREQ=MONTHLY and FREQ=YEARLY only")
	case ordinal && seen["BYWEEKNO"]:
		return ruleError("BYDAY with a number does not go with BYWEEKNO")
	case seen["BYSETPOS"] && len(r.months)+len(r.weeks)+len(r.yearDays)+len(r.days)+len(r.weekdays) == 0:
		return ruleError("BYSETPOS picks among the days of another part, such as BYDAY; there is none")
	}
	return nil
}

func number(name, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high || value[0] == '+' {
		return 0, ruleError(fmt.Sprintf("%s must be a whole number from %d to %d", name, low, high))
	}
	return n, nil
}

// numbers reads a list; signed ones may also count from the end.
func numbers(name, value string, low, high int, signed bool) ([]int, error) {
	var list []int
	for item := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(item)
		size := n
		if signed && n < 0 {
			size = -n
		}
		if err != nil || size < low || size > high {
			also := ""
			if signed {
				also = ", or negative ones to count from the end"
			}
			return nil, ruleError(fmt.Sprintf("%s must be whole numbers from %d to %d%s, with commas between them", name, low, high, also))
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list, nil
}

func parseWeekdays(value string) ([]nthWeekday, error) {
	var list []nthWeekday
	for item := range strings.SplitSeq(value, ",") {
		bad := ruleError("BYDAY must be days such as MO,TH, or with a number in front such as 1MO for the first and -1FR for the last")
		if len(item) < 2 {
			return nil, bad
		}
		w := nthWeekday{}
		i := slices.Index(weekdayCodes, item[len(item)-2:])
		if i < 0 {
			return nil, bad
		}
		w.day = time.Weekday(i)
		if n := item[:len(item)-2]; n != "" {
			var err error
			if w.n, err = strconv.Atoi(n); err != nil || w.n == 0 || w.n < -53 || w.n > 53 {
				return nil, bad
			}
		}
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list, nil
}

// untilKind says how UNTIL is meant.
type untilKind int

const (
	untilDate    untilKind = iota // the last local date
	untilLocal                    // the last local date and time
	untilInstant                  // the last instant
)

func parseUntil(value string) (time.Time, untilKind, error) {
	for kind, layout := range map[untilKind]string{untilDate: "20060102", untilLocal: "20060102T150405", untilInstant: "20060102T150405Z"} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, kind, nil
		}
	}
	return time.Time{}, 0, ruleError("UNTIL must be a date such as 20261231, or a date and time such as 20261231T220000Z")
}

// String gives the rule in one plain form.
func (r rule) String() string {
	var b strings.Builder
	b.WriteString("FREQ=" + string(r.freq))
	if r.interval != 1 {
		fmt.Fprintf(&b, ";INTERVAL=%d", r.interval)
	}
	for _, list := range []struct {
		name   string
		values []int
	}{{"BYMONTH", r.months}, {"BYWEEKNO", r.weeks}, {"BYYEARDAY", r.yearDays}, {"BYMONTHDAY", r.days}} {
		if len(list.values) > 0 {
			b.WriteString(";" + list.name + "=" + joinNumbers(list.values))
		}
	}
	if len(r.weekdays) > 0 {
		codes := make([]string, len(r.weekdays))
		for i, w := range r.weekdays {
			codes[i] = weekdayCodes[w.day]
			if w.n != 0 {
				codes[i] = strconv.Itoa(w.n) + codes[i]
			}
		}
		b.WriteString(";BYDAY=" + strings.Join(codes, ","))
	}
	if len(r.setPos) > 0 {
		b.WriteString(";BYSETPOS=" + joinNumbers(r.setPos))
	}
	if r.weekFrom != time.Monday {
		b.WriteString(";WKST=" + weekdayCodes[r.weekFrom])
	}
	if r.count > 0 {
		fmt.Fprintf(&b, ";COUNT=%d", r.count)
	}
	if r.until != "" {
		b.WriteString(";UNTIL=" + r.until)
	}
	return b.String()
}

func joinNumbers(list []int) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// dates gives the days of the rule from start to last, in order. Days are
// midnights in UTC, which here stands for "no zone". The work is bounded by the
// distance of the two, whatever the rule.
func (r rule) dates(start, last time.Time) iter.Seq[time.Time] {
	r.complete(start)
	return func(yield func(time.Time) bool) {
		n := 0
		for i := 0; ; i++ {
			first, end := r.period(start, i)
			if first.After(last) {
				return
			}
			for _, d := range r.within(first, end) {
				if d.Before(start) {
					continue
				}
				if d.After(last) || !yield(d) {
					return
				}
				if n++; n == r.count {
					return
				}
			}
		}
	}
}

// complete takes from the start what the rule does not say itself.
func (r *rule) complete(start time.Time) {
	if len(r.weeks)+len(r.yearDays)+len(r.days)+len(r.weekdays) > 0 {
		return
	}
	switch r.freq {
	case yearly:
		if len(r.months) == 0 {
			r.months = []int{int(start.Month())}
		}
		r.days = []int{start.Day()}
	case monthly:
		r.days = []int{start.Day()}
	case weekly:
		r.weekdays = []nthWeekday{{day: start.Weekday()}}
	}
}

// period gives the i-th day, week, month or year the rule looks at: its first
// day and the day after its last.
func (r *rule) period(start time.Time, i int) (first, end time.Time) {
	i *= r.interval
	switch r.freq {
	case yearly:
		first = time.Date(start.Year()+i, 1, 1, 0, 0, 0, 0, time.UTC)
		return first, first.AddDate(1, 0, 0)
	case monthly:
		first = time.Date(start.Year(), start.Month()+time.Month(i), 1, 0, 0, 0, 0, time.UTC)
		return first, first.AddDate(0, 1, 0)
	case weekly:
		back := int(start.Weekday()-r.weekFrom+7) % 7
		first = start.AddDate(0, 0, 7*i-back)
		return first, first.AddDate(0, 0, 7)
	}
	first = start.AddDate(0, 0, i)
	return first, first.AddDate(0, 0, 1)
}

// within gives the days of one period that the rule names.
func (r *rule) within(first, end time.Time) []time.Time {
	var days []time.Time
	for d := first; d.Before(end); d = d.AddDate(0, 0, 1) {
		if r.names(d) {
			days = append(days, d)
		}
	}
	if len(r.setPos) == 0 {
		return days
	}
	var picked []time.Time
	for i, d := range days {
		if slices.Contains(r.setPos, i+1) || slices.Contains(r.setPos, i-len(days)) {
			picked = append(picked, d)
		}
	}
	return picked
}

// names says whether every part of the rule agrees with the day.
func (r *rule) names(d time.Time) bool {
	if len(r.months) > 0 && !slices.Contains(r.months, int(d.Month())) {
		return false
	}
	daysInYear := time.Date(d.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
	if len(r.yearDays) > 0 && !fromEitherEnd(r.yearDays, d.YearDay(), daysInYear) {
		return false
	}
	daysInMonth := time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if len(r.days) > 0 && !fromEitherEnd(r.days, d.Day(), daysInMonth) {
		return false
	}
	if len(r.weeks) > 0 {
		week, weeks := r.week(d)
		if !fromEitherEnd(r.weeks, week, weeks) {
			return false
		}
	}
	if len(r.weekdays) == 0 {
		return true
	}
	day, of := d.Day(), daysInMonth
	if r.freq == yearly && len(r.months) == 0 {
		day, of = d.YearDay(), daysInYear
	}
	return slices.ContainsFunc(r.weekdays, func(w nthWeekday) bool {
		switch {
		case w.day != d.Weekday():
			return false
		case w.n > 0:
			return (day-1)/7+1 == w.n
		case w.n < 0:
			return (of-day)/7+1 == -w.n
		}
		return true
	})
}

// fromEitherEnd says whether the list has n, or its place counted back from the
// end of the given total.
func fromEitherEnd(list []int, n, total int) bool {
	return slices.Contains(list, n) || slices.Contains(list, n-total-1)
}

// week gives the number of the day's week, and how many weeks the year has to
// which that week belongs: the first week of a year is the first with at least
// four days in it.
func (r *rule) week(d time.Time) (week, weeks int) {
	// The day in the middle of a week says to which year the week belongs.
	middle := func(d time.Time) time.Time {
		return d.AddDate(0, 0, 3-int(d.Weekday()-r.weekFrom+7)%7)
	}
	m := middle(d)
	last := middle(time.Date(m.Year(), 12, 28, 0, 0, 0, 0, time.UTC)) // always in the year's last week
	return (m.YearDay()-1)/7 + 1, (last.YearDay()-1)/7 + 1
}

// ruleIssue gives a fault of a rule as an issue at path.
func ruleIssue(path string, err error) problem.Issue {
	return problem.Issue{Path: path, Message: err.Error()}
}
