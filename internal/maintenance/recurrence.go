package maintenance

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/zone"
)

// Recurrence says how a maintenance repeats.
type Recurrence struct {
	// Rule is an RRULE of RFC 5545 that gives days.
	Rule string
	// TimeZone is the IANA name of the zone whose clocks the series follows.
	TimeZone string
}

// schedule is a recurrence that has been read, with its start: it knows every
// occurrence.
type schedule struct {
	rule rule
	loc  *time.Location
	// local is the wall clock time of the start, in UTC for "no zone". startAt is
	// the instant that was meant, which matters where local comes twice.
	local   time.Time
	startAt time.Time
	length  time.Duration
}

// keyLayout writes the local date that names an occurrence within its series.
const keyLayout = "2006-01-02"

// localLayout writes a wall clock time as it is stored.
const localLayout = "2006-01-02T15:04:05.999"

// lookAhead is how far after its start a rule has to make an occurrence, and how
// far ahead the next one is looked for.
const lookAhead = 10

// newSchedule reads a recurrence. The issues stand at base + "rule" and base +
// "timeZone".
func newSchedule(r Recurrence, start, end time.Time, base string) (schedule, []problem.Issue) {
	var issues []problem.Issue
	s := schedule{startAt: start, length: end.Sub(start)}
	var err error
	if s.rule, err = parseRule(r.Rule); err != nil {
		issues = append(issues, ruleIssue(base+"rule", err))
	}
	if s.loc, err = zone.Load(r.TimeZone); err != nil {
		issues = append(issues, zoneIssue(base+"timeZone", err))
	} else {
		s.local = wallOf(start, s.loc)
	}
	return s, issues
}

func zoneIssue(path string, err error) problem.Issue {
	var unknown *zone.UnknownError
	if errors.As(err, &unknown) {
		return problem.Issue{Path: path, Message: unknown.Error()}
	}
	return problem.Issue{Path: path, Message: "this time zone cannot be used"}
}

// wallOf gives what clocks in loc show at t, in UTC for "no zone".
func wallOf(t time.Time, loc *time.Location) time.Time {
	l := t.In(loc)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
}

func dateOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// occurrence is one window of a series.
type occurrence struct {
	Key            string
	StartAt, EndAt time.Time
	// Note tells what a change of the clocks did to it, for people; empty on
	// nearly every day.
	Note string
}

// occurrences gives the windows that begin at or before last, in order.
//
// Every window begins when the clocks of the zone show the time of day of the
// start. Where that time is left out it begins as much later as the clocks go
// forward (the offset before the change is used, RFC 5545 3.3.5); where it comes
// twice, at the first. Unlike RFC 5545 3.3.10 has it, no day is passed over
// because of its missing hour: a maintenance that is planned daily happens daily.
// Every window lasts equally long in elapsed time (RFC 5545 3.8.5.3 for an event
// with an end).
func (s schedule) occurrences(last time.Time) iter.Seq[occurrence] {
	return func(yield func(occurrence) bool) {
		untilAt, kind, _ := parseUntil(s.rule.until)
		ends := s.rule.until != ""
		day, timeOfDay := dateOf(s.local), s.local.Sub(dateOf(s.local))
		var before time.Time
		for d := range s.rule.dates(day, dateOf(wallOf(last, s.loc))) {
			wall := d.Add(timeOfDay)
			ends, at := ends, s.resolve(wall)
			if wall.Equal(s.local) {
				at.used = s.startAt
			}
			switch {
			case at.used.After(last),
				ends && kind == untilDate && d.After(untilAt),
				ends && kind == untilLocal && wall.After(untilAt),
				ends && kind == untilInstant && at.used.After(untilAt):
				return
			case !at.used.After(before): // a zone that left out a whole day
				continue
			}
			before = at.used
			o := occurrence{Key: d.Format(keyLayout), StartAt: at.used, EndAt: at.used.Add(s.length)}
			o.Note = s.note(wall, at, o)
			if !yield(o) {
				return
			}
		}
	}
}

// clock is what a wall clock time means in a zone.
type clock struct {
	kind clockKind
	// used is the instant that a series uses.
	used time.Time
	// instants are all that can be meant, the one used first.
	instants []time.Time
}

type clockKind string

const (
	unique  clockKind = "unique"
	missing clockKind = "missing"
	doubled clockKind = "doubled"
)

func (s schedule) resolve(wall time.Time) clock { return readClock(wall, s.loc) }

// readClock finds the instants of a wall clock time.
func readClock(wall time.Time, loc *time.Location) clock {
	switch found := zone.Instants(wall, loc); len(found) {
	case 0:
		later, earlier := aroundGap(wall, loc)
		return clock{missing, later, []time.Time{later, earlier}}
	case 1:
		return clock{unique, found[0], found}
	default:
		return clock{doubled, found[0], found}
	}
}

// aroundGap reads a wall clock time that clocks leave out with the offset before
// the change, which gives a later time on the clock, and with the one after it.
func aroundGap(wall time.Time, loc *time.Location) (later, earlier time.Time) {
	// time.Date gives one of the two, and does not promise which.
	one := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), loc)
	change, end := one.ZoneBounds()
	if wallOf(one, loc).Before(wall) {
		change = end
	}
	_, before := change.Add(-time.Nanosecond).Zone()
	_, after := change.Zone()
	at := func(offset int) time.Time { return wall.Add(-time.Duration(offset) * time.Second).In(loc) }
	return at(before), at(after)
}

// note tells what is unusual about an occurrence.
func (s schedule) note(wall time.Time, c clock, o occurrence) string {
	start, end := o.StartAt.In(s.loc), o.EndAt.In(s.loc)
	switch c.kind {
	case missing:
		return fmt.Sprintf("Clocks go forward and leave out %s: starts at %s.", wall.Format("15:04"), start.Format("15:04"))
	case doubled:
		which := "first"
		if !c.used.Equal(c.instants[0]) {
			which = "second"
		}
		return fmt.Sprintf("Clocks go back and show %s twice: starts at the %s (%s).", wall.Format("15:04"), which, offsetOf(start))
	}
	_, from := start.Zone()
	_, to := end.Zone()
	if from != to {
		return fmt.Sprintf("Clocks change in this window: it ends at %s on the clock and lasts as long as ever.", end.Format("15:04"))
	}
	return ""
}

func offsetOf(t time.Time) string { return t.Format("-07:00") }

// maxChecked is how many occurrences are looked at for overlaps.
const maxChecked = 1_000

// check finds what is wrong with the schedule as a whole; base is where the
// rule stands in the input.
func (s schedule) check(now time.Time, base string) []problem.Issue {
	var last *occurrence
	n, future := 0, false
	for o := range s.occurrences(s.startAt.AddDate(lookAhead, 0, 0)) {
		if last != nil && o.StartAt.Before(last.EndAt) {
			return []problem.Issue{{Path: base + "rule", Message: fmt.Sprintf(
				"makes windows that overlap: the one of %s ends after that of %s begins. Shorten the window or repeat it less often", last.Key, o.Key)}}
		}
		last = &o
		future = future || o.EndAt.After(now)
		if n++; n >= maxChecked {
			break
		}
	}
	switch {
	case n == 0:
		return []problem.Issue{{Path: base + "rule", Message: fmt.Sprintf("makes no occurrence within %d years of the start", lookAhead)}}
	case !future && n < maxChecked:
		return []problem.Issue{{Path: base + "rule", Message: "makes no occurrence that is still to come"}}
	}
	return nil
}

// Planned is an occurrence as a preview shows it.
type Planned struct {
	StartAt, EndAt time.Time
	// Zone is where LocalStart and LocalEnd are read.
	LocalStart, LocalEnd time.Time
	Note                 string
}

// previewed is how many occurrences a preview shows.
const previewed = 10

// Preview gives the next ten occurrences of a recurrence that is not saved yet,
// its rule in one plain form, and whether these are all.
func (s *Service) Preview(start, end time.Time, r Recurrence) (list []Planned, plain string, complete bool, err error) {
	now := s.clock()
	sch, err := s.checkedSchedule(r, start, end, now, "recurrence.")
	if err != nil {
		return nil, "", false, err
	}
	complete = true
	for o := range sch.occurrences(sch.horizon(now)) {
		if !o.EndAt.After(now) {
			continue
		}
		if len(list) == previewed {
			complete = false
			break
		}
		list = append(list, Planned{StartAt: o.StartAt.UTC(), EndAt: o.EndAt.UTC(), LocalStart: o.StartAt.In(sch.loc), LocalEnd: o.EndAt.In(sch.loc), Note: o.Note})
	}
	return list, sch.rule.String(), complete, nil
}

// horizon is how far the next occurrence is looked for.
func (s schedule) horizon(now time.Time) time.Time {
	from := now
	if s.startAt.After(now) {
		from = s.startAt
	}
	return from.AddDate(lookAhead, 0, 0)
}

// checkedSchedule reads and judges a recurrence together with its window.
func (s *Service) checkedSchedule(r Recurrence, start, end, now time.Time, base string) (schedule, error) {
	issues := checkTimes(start, end, now)
	sch, more := newSchedule(r, start, end, base)
	issues = append(issues, more...)
	if len(issues) == 0 {
		issues = sch.check(now, base)
	}
	return sch, problem.InputIssues(issues)
}

// LocalTime is what a wall clock time means in a zone; see CheckLocalTime.
type LocalTime struct {
	Kind     string
	Instants []time.Time
}

// CheckLocalTime says which instants clocks in the zone show as local, a text
// such as 2026-03-29T02:30. A time that is left out gives the two that can be
// meant; of those and of one that comes twice, the first is what a series uses.
func CheckLocalTime(timeZone, local string) (LocalTime, error) {
	var issues []problem.Issue
	loc, err := zone.Load(timeZone)
	if err != nil {
		issues = append(issues, zoneIssue("timeZone", err))
	}
	var wall time.Time
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if wall, err = time.Parse(layout, local); err == nil {
			break
		}
	}
	if err != nil || wall.Year() < 1970 || wall.Year() > 2200 {
		issues = append(issues, problem.Issue{Path: "local", Message: "must be a date and time of day without an offset, such as 2026-03-29T02:30"})
	}
	if err := problem.InputIssues(issues); err != nil {
		return LocalTime{}, err
	}
	c := readClock(wall, loc)
	out := LocalTime{Kind: string(c.kind)}
	for _, at := range c.instants {
		out.Instants = append(out.Instants, at.In(loc))
	}
	return out, nil
}
