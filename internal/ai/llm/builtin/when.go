package builtin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/zone"
)

// Times as people write them: "tomorrow 22:00 to 23:30", "on Saturday from 10pm
// to 11:30pm", "2026-12-05 22:00 for 90 minutes", "every Sunday 02:00 to
// 03:00". They are read in the turn's zone unless they name another one.
//
// Nothing is guessed that changes when something happens: an hour that the
// clocks leave out or show twice, a time that has passed, "next Saturday", a
// date that can be read two ways. Those are asked back, with the choices
// written so that they can be sent back.

// timing is what a text says about time, with the words that say nothing about
// it.
type timing struct {
	start, end moment
	length     time.Duration
	repeat     *repeat
	loc        *time.Location
	// rest are the other words; breakMark stands where words about time were.
	rest []string
	// ask says what cannot be understood or is not clear; empty when all is.
	ask string
}

// breakMark stands for words that were taken out.
const breakMark = "\uE1FF"

// says reports whether there is anything about time.
func (w *timing) says() bool {
	return w.start.said() || w.end.said() || w.length > 0 || w.repeat != nil
}

// readTiming finds what words say about time.
func (t *turn) readTiming(words []string) timing {
	r := &reader{words: make([]string, len(words)), loc: t.zone}
	for i, w := range words {
		r.words[i] = strings.ToLower(strings.TrimRight(w, "."))
		if w == "." || strings.HasSuffix(w, ".") && numericDay.MatchString(w) {
			r.words[i] = w
		}
	}
	r.words, words = splitRanges(r.words, words)
	if name, ok := r.zoneName(); ok {
		r.loc = name
	}
	r.now = t.now.In(r.loc)
	return r.read(words)
}

// The words that begin a moment and those that stand before an end; bare says
// that an hour may follow without anything, as in "from 10 to 11".
var (
	startWords = map[string]bool{"from": true, "between": true, "at": true, "on": false, "starting": true, "beginning": true, "starts": true, "begins": true, "start": true, "commencing": true, "around": true, "this": false}
	endWords   = map[string]bool{"to": true, "until": true, "till": true, "til": true, "through": true, "-": true, "–": true, "—": true, "ending": true, "ends": true, "end": true}
)

// read goes through the words once.
func (r *reader) read(original []string) timing {
	w := timing{loc: r.loc}
	inEnd, between := false, false
	skip := func(i, n int) int {
		if len(w.rest) == 0 || w.rest[len(w.rest)-1] != breakMark {
			w.rest = append(w.rest, breakMark)
		}
		return i + n
	}
	for i := 0; i < len(r.words) && w.ask == ""; {
		word := r.words[i]
		if rep, n := r.repeatAt(i); n > 0 {
			if w.repeat != nil {
				w.ask = "You gave two ways to repeat it. Put a title in quotes if one of them is part of it."
			}
			w.repeat, i = rep, skip(i, n)
			continue
		}
		if length, n := r.lengthAt(i); n > 0 {
			if w.length > 0 {
				w.ask = "You gave two durations. Put a title in quotes if one of them is part of it."
			}
			w.length, i = length, skip(i, n)
			continue
		}
		_, ends := endWords[word]
		if ends || (between && word == "and") {
			n := 1
			for i+n < len(r.words) && (r.words[i+n] == "at" || r.words[i+n] == "on") {
				n++
			}
			if m, k := r.momentAt(i+n, true); k > 0 {
				if w.end.said() {
					w.ask = twoTimes
				}
				w.end, inEnd, i = m, true, skip(i, n+k)
				continue
			}
		}
		n := 0
		bare := false
		for i+n < len(r.words) {
			b, ok := startWords[r.words[i+n]]
			if !ok {
				break
			}
			bare, between, n = bare || b, between || r.words[i+n] == "between", n+1
		}
		if m, k := r.momentAt(i+n, bare); k > 0 {
			to := &w.start
			if inEnd && (n == 0 || !bare) {
				to = &w.end // "from 10pm to 11pm on Saturday": sorted out by settle
				m.late = m.day != nil && w.end.day == nil && w.end.clock != nil
			}
			if !to.add(m) {
				w.ask = twoTimes
			}
			i = skip(i, n+k)
			continue
		}
		w.rest = append(w.rest, original[i])
		i++
	}
	for _, m := range []*moment{&w.start, &w.end} {
		if w.ask == "" && m.ask != "" {
			w.ask = m.ask
		}
	}
	if w.ask == "" && w.repeat != nil {
		w.ask = w.repeat.ask
	}
	w.settle()
	return w
}

const twoTimes = "I found more than one time for the same thing. Put a title in quotes if it holds a day or a time, and say for example `tomorrow 22:00 to 23:30`."

// settle moves a day that was said behind the end to the start, where it
// belongs when the start has none.
func (w *timing) settle() {
	if w.end.late && w.start.day == nil && w.start.at.IsZero() && w.start.clock != nil {
		w.start.day, w.end.day = w.end.day, nil
	}
}

// span is a stretch of time, with the rule by which it repeats.
type span struct {
	start, end time.Time
	rule       string
}

const whenHint = "Say for example `tomorrow 22:00 to 23:30`, `Saturday 10pm for 90 minutes` or `2026-12-05 22:00 for 2 hours`."

// window gives the stretch of time that was said, which must lie ahead; or what
// to ask.
func (t *turn) window(w timing) (span, string) {
	if w.ask != "" {
		return span{}, w.ask
	}
	if w.repeat != nil {
		return t.series(w)
	}
	switch {
	case !w.says():
		return span{}, "When, and for how long? " + whenHint
	case !w.start.said() && w.length > 0 && !w.end.said():
		return span{}, "When does it begin? " + whenHint
	case !w.start.said():
		return span{}, "When does it begin? " + whenHint
	case !w.end.said() && w.length == 0:
		return span{}, "Until when, or for how long? " + whenHint
	case w.end.said() && w.length > 0:
		return span{}, "You gave both an end and a duration. Say one of them."
	}
	start, end := w.start, w.end
	if ask := harmonize(&start, &end); ask != "" {
		return span{}, ask
	}
	from, ask := t.instant(w.loc, start, time.Time{}, false)
	if ask != "" {
		return span{}, ask
	}
	if from.Before(t.now.Truncate(time.Minute)) {
		return span{}, passed(from, t.now)
	}
	s := span{start: from}
	if w.length > 0 {
		s.end = from.Add(w.length)
	} else if s.end, ask = t.instant(w.loc, end, from, true); ask != "" {
		return span{}, ask
	}
	if !s.end.After(s.start) {
		return span{}, fmt.Sprintf("That would end (%s) before it begins (%s).", day(s.end), day(s.start))
	}
	return s, ""
}

func passed(at, now time.Time) string {
	text := fmt.Sprintf("%s has passed: it is %s now.", day(at), now.In(at.Location()).Format("15:04"))
	if tomorrow := now.In(at.Location()).AddDate(0, 0, 1); at.After(now.Add(-24 * time.Hour)) {
		text += fmt.Sprintf(" Did you mean `%s %s`, or `now`?", tomorrow.Format("2006-01-02"), at.Format("15:04"))
	}
	return text
}

// harmonize reads "10 to 11pm" and "10pm to 11" as meant: the half of the day
// that was said once holds for both.
func harmonize(start, end *moment) string {
	s, e := start.clock, end.clock
	if s == nil || e == nil || s.half == e.half {
		return ""
	}
	switch {
	case s.half == "" && s.hour >= 1 && s.hour <= 12 && e.half == "pm" && end.day == nil && !s.midnight:
		later := *s
		later.half = "pm"
		later.hour = s.hour%12 + 12
		if later.minutes() >= e.minutes() {
			return "" // 10 to 1pm
		}
		if !s.bare {
			return fmt.Sprintf("Do you mean %s or %s? Write both times alike, for example `%s to %s`.", s.text(), later.text(), later.text(), e.text())
		}
		start.clock = &later
	case e.half == "" && e.hour >= 1 && e.hour <= 12 && !e.midnight && end.day == nil:
		// The first time after the start that a clock face shows it.
		first := *e
		first.hour = e.hour % 12
		second := first
		second.hour += 12
		if first.minutes() <= s.minutes() && second.minutes() > s.minutes() {
			first = second
		}
		end.clock = &first
	}
	return ""
}

// instant gives the point in time of a moment. An end that has no day is the
// first such time after the start.
func (t *turn) instant(loc *time.Location, m moment, after time.Time, end bool) (time.Time, string) {
	if !m.at.IsZero() {
		return m.at.In(loc), ""
	}
	now := t.now.In(loc)
	date, c := now, m.clock
	switch {
	case c == nil && end && m.day != nil && !after.IsZero():
		return time.Time{}, fmt.Sprintf("At what time on %s does it end?", m.day.date.Format("Monday 2 January"))
	case c == nil:
		return time.Time{}, fmt.Sprintf("At what time on %s? %s", m.day.date.Format("Monday 2 January"), whenHint)
	case m.day != nil:
		date = m.day.date
		if c.midnight && !m.day.today {
			next := date.AddDate(0, 0, 1)
			return time.Time{}, fmt.Sprintf("Midnight can be the beginning or the end of %s. Write `%s 00:00` or `%s 00:00`.",
				date.Format("Monday 2 January"), date.Format("2006-01-02"), next.Format("2006-01-02"))
		}
		if m.day.night {
			if ask := c.atNight(date); ask != "" {
				return time.Time{}, ask
			}
		}
	case end:
		if date = after.In(loc); c.minutes() <= date.Hour()*60+date.Minute() &&
			!slices.ContainsFunc(zone.Instants(c.on(date), loc), after.Before) {
			date = date.AddDate(0, 0, 1)
		}
	}
	return wallTime(date, *c, loc)
}

// on gives the clock time on the day of date, in UTC for "no zone".
func (c clock) on(date time.Time) time.Time {
	return time.Date(date.Year(), date.Month(), date.Day(), c.hour, c.minute, 0, 0, time.UTC)
}

// wallTime gives the one instant at which the clocks of loc show c on the day
// of date, or asks.
func wallTime(date time.Time, c clock, loc *time.Location) (time.Time, string) {
	wall := c.on(date)
	found := zone.Instants(wall, loc)
	switch len(found) {
	case 1:
		return found[0], ""
	case 0:
		before, after := aroundGap(wall, loc)
		return time.Time{}, fmt.Sprintf("On %s the clocks in %s go forward and leave out %s. Write `%s` or `%s` instead.",
			wall.Format("Monday 2 January 2006"), loc, wall.Format("15:04"), before.Format("2006-01-02 15:04"), after.Format("2006-01-02 15:04"))
	}
	return time.Time{}, fmt.Sprintf("On %s the clocks in %s go back and show %s twice. Write `%s` for the first time or `%s` for the second.",
		wall.Format("Monday 2 January 2006"), loc, wall.Format("15:04"), found[0].Format(time.RFC3339), found[1].Format(time.RFC3339))
}

// aroundGap gives the two readings of a time that the clocks leave out: as long
// before the change as it is behind, and the same the other way.
func aroundGap(wall time.Time, loc *time.Location) (before, after time.Time) {
	// A gap is never longer than a day: the offsets around it are those in use a
	// day away.
	_, old := wall.Add(-36 * time.Hour).In(loc).Zone()
	_, fresh := wall.Add(36 * time.Hour).In(loc).Zone()
	return wall.Add(-time.Duration(fresh) * time.Second).In(loc), wall.Add(-time.Duration(old) * time.Second).In(loc)
}

// day words an instant for an answer.
func day(at time.Time) string { return at.Format("Mon 2 Jan 2006 15:04") }

// words gives the stretch for an answer, with its zone.
func (s span) words() string {
	end := day(s.end)
	if s.start.Format(time.DateOnly) == s.end.Format(time.DateOnly) {
		end = s.end.Format("15:04")
	}
	from, to := s.start.Format("GMT-07:00"), s.end.Format("GMT-07:00")
	if from != to {
		return fmt.Sprintf("%s %s to %s %s (%s)", day(s.start), from, end, to, s.start.Location())
	}
	return fmt.Sprintf("%s to %s (%s, %s)", day(s.start), end, s.start.Location(), from)
}
