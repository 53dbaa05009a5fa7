package builtin

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/zone"
)

// reader reads words, in lower case, that may be about time. Its methods read
// at a position and give how many words they understood, 0 for none.
type reader struct {
	words []string
	now   time.Time // in loc
	loc   *time.Location
}

func (r *reader) word(i int) string {
	if i < 0 || i >= len(r.words) {
		return ""
	}
	return r.words[i]
}

func (r *reader) has(i int, words ...string) bool {
	for k, w := range words {
		if r.word(i+k) != w {
			return false
		}
	}
	return true
}

// moment is a point in time as it was said: a day, a time of day, or both, or a
// complete instant.
type moment struct {
	day   *calendarDay
	clock *clock
	at    time.Time
	ask   string
	// late says that the day came behind the time.
	late bool
}

func (m moment) said() bool { return m.day != nil || m.clock != nil || !m.at.IsZero() || m.ask != "" }

// add takes what n says; false when both say the same kind of thing.
func (m *moment) add(n moment) bool {
	if (m.day != nil && n.day != nil) || (m.clock != nil && n.clock != nil) ||
		(!m.at.IsZero() && n.said()) || (!n.at.IsZero() && m.said()) {
		return false
	}
	if n.day != nil {
		m.day = n.day
	}
	if n.clock != nil {
		m.clock = n.clock
	}
	if !n.at.IsZero() {
		m.at = n.at
	}
	if m.ask == "" {
		m.ask = n.ask
	}
	m.late = m.late || n.late
	return true
}

// calendarDay is a day, in UTC for "no zone".
type calendarDay struct {
	date         time.Time
	today, night bool
}

// clock is a time of day; hour may be 24.
type clock struct {
	hour, minute int
	half         string // am or pm when it was said
	bare         bool   // an hour alone
	midnight     bool
}

func (c clock) minutes() int { return c.hour*60 + c.minute }

func (c clock) text() string { return fmt.Sprintf("%02d:%02d", c.hour, c.minute) }

// atNight reads "tonight at 10".
func (c *clock) atNight(date time.Time) string {
	switch {
	case c.half != "" || c.midnight || c.hour > 12:
		return ""
	case c.hour >= 5 && c.hour < 12 && c.bare:
		c.hour += 12
		return ""
	}
	next := date.AddDate(0, 0, 1)
	return fmt.Sprintf("Tonight at %s is not clear to me. Write `%s %02d:%02d` or `%s %02d:%02d`.", c.text(),
		date.Format("2006-01-02"), c.hour%12+12, c.minute, next.Format("2006-01-02"), c.hour%12, c.minute)
}

var (
	weekdays = map[string]time.Weekday{
		"monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday, "thursday": time.Thursday,
		"friday": time.Friday, "saturday": time.Saturday, "sunday": time.Sunday,
	}
	shortWeekdays = map[string]time.Weekday{
		"mon": time.Monday, "tue": time.Tuesday, "tues": time.Tuesday, "wed": time.Wednesday, "thu": time.Thursday,
		"thur": time.Thursday, "thurs": time.Thursday, "fri": time.Friday, "sat": time.Saturday, "sun": time.Sunday,
	}
	months = map[string]time.Month{
		"january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6, "jun": 6,
		"july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sep": 9, "sept": 9, "october": 10, "oct": 10, "november": 11, "nov": 11, "december": 12, "dec": 12,
	}

	isoDay      = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})$`)
	isoTime     = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})t(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(z|[+-]\d{2}:?\d{2})?$`)
	numericDay  = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.(\d{4})?$`)
	slashDay    = regexp.MustCompile(`^(\d{1,2})/(\d{1,2})/(\d{4})$`)
	ordinalDay  = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)?$`)
	yearWord    = regexp.MustCompile(`^\d{4}$`)
	clockWord   = regexp.MustCompile(`^(\d{1,2})[:.](\d{2})(?::\d{2})?(am|pm|a\.m|p\.m)?$`)
	hourWord    = regexp.MustCompile(`^(\d{1,2})(am|pm|a\.m|p\.m)$`)
	bareHour    = regexp.MustCompile(`^\d{1,2}$`)
	clockRange  = regexp.MustCompile(`^(\d{1,2}(?::\d{2})?(?:am|pm)?)[-–—](\d{1,2}(?::\d{2})?(?:am|pm)?)$`)
	offsetClock = regexp.MustCompile(`^(\d{1,2}:\d{2})(z|utc)$`)
)

// splitRanges makes three words of "22:00-23:30", in both lists alike.
func splitRanges(lower, words []string) (outLower, outWords []string) {
	for i, w := range lower {
		m := clockRange.FindStringSubmatch(w)
		if m == nil || !strings.ContainsAny(w, ":m") {
			if m := offsetClock.FindStringSubmatch(w); m != nil {
				outLower, outWords = append(outLower, m[1], "utc"), append(outWords, m[1], "UTC")
				continue
			}
			outLower, outWords = append(outLower, w), append(outWords, words[i])
			continue
		}
		outLower, outWords = append(outLower, m[1], "-", m[2]), append(outWords, m[1], "-", m[2])
	}
	return outLower, outWords
}

// zoneAt reads the name of a zone that stands behind a time.
func (r *reader) zoneAt(i int) (*time.Location, int) {
	n := 0
	if r.word(i) == "in" {
		n = 1
	}
	name := r.word(i + n)
	if name != "utc" && name != "gmt" && !strings.Contains(name, "/") {
		return nil, 0
	}
	loc, err := zone.Load(name)
	if err != nil {
		return nil, 0
	}
	n++
	if r.word(i+n) == "time" {
		n++
	}
	return loc, n
}

// zoneName finds the zone that the words name behind a time.
func (r *reader) zoneName() (*time.Location, bool) {
	for i := range r.words {
		if _, n := r.clockAt(i, false); n > 0 {
			if loc, k := r.zoneAt(i + n); k > 0 {
				return loc, true
			}
		}
	}
	return nil, false
}

// momentAt reads days and times of day that stand together.
func (r *reader) momentAt(i int, bare bool) (m moment, n int) {
	if at, k := r.instantAt(i); k > 0 {
		return moment{at: at}, k
	}
	for {
		at := i + n
		if n > 0 {
			for r.word(at) == "at" || r.word(at) == "on" || r.word(at) == "," || r.word(at) == comma {
				at++
			}
		}
		var next moment
		var k int
		if text := isoTime.FindStringSubmatch(r.word(at)); text != nil {
			next, k = r.isoMoment(text), 1
		} else if next.day, next.ask, k = r.dayAt(at); k == 0 {
			next.clock, next.ask, k = r.clockOrAsk(at, bare || (n > 0 && (r.word(at-1) == "at" || r.beforeEnd(at))))
			if k > 0 {
				if _, z := r.zoneAt(at + k); z > 0 {
					k += z
				}
			}
		}
		late := m.clock != nil && next.day != nil
		if k == 0 || !m.add(next) {
			return m, n
		}
		m.late = m.late || late
		n = at + k - i
	}
}

// beforeEnd says whether an end follows the word, as in "tomorrow 10 to 11pm".
func (r *reader) beforeEnd(i int) bool {
	next := r.word(i + 2)
	return endWords[r.word(i+1)] && next != "" && next[0] >= '0' && next[0] <= '9'
}

func (r *reader) isoMoment(text []string) moment {
	if text[3] == "" {
		d, ask := r.iso(text[1])
		c, _, _ := r.clockOf(text[2])
		return moment{day: d, clock: c, ask: ask}
	}
	offset := strings.ToUpper(text[3])
	layout := "2006-01-02T15:04Z07:00"
	if len(offset) == 5 {
		layout = "2006-01-02T15:04-0700"
	}
	at, err := time.Parse(layout, text[1]+"T"+text[2]+offset)
	if err != nil {
		return moment{ask: "There is no such date and time as " + code(strings.ToUpper(text[0])) + "."}
	}
	return moment{at: at.In(r.loc)}
}

// instantAt reads what counts from now: "now", "in 2 hours", "2 hours from now".
func (r *reader) instantAt(i int) (time.Time, int) {
	switch {
	case r.has(i, "right", "now"), r.has(i, "from", "now"):
		return r.now.Truncate(time.Second), 2
	case r.has(i, "as", "of", "now"), r.has(i, "right", "from", "now"):
		return r.now.Truncate(time.Second), 3
	case r.word(i) == "now", r.word(i) == "immediately":
		return r.now.Truncate(time.Second), 1
	case r.word(i) == "in":
		if d, n := r.amountAt(i + 1); n > 0 && !r.wholeDays(i+1, n) {
			return r.now.Truncate(time.Minute).Add(d), 1 + n
		}
	}
	if d, n := r.amountAt(i); n > 0 && r.has(i+n, "from", "now") {
		return r.now.Truncate(time.Minute).Add(d), n + 2
	}
	return time.Time{}, 0
}

func (r *reader) wholeDays(i, n int) bool {
	last := strings.TrimSuffix(r.word(i+n-1), "s")
	return last == "day" || last == "week"
}

// dayAt reads a day.
func (r *reader) dayAt(i int) (d *calendarDay, ask string, n int) {
	if r.word(i) == "on" || r.word(i) == "the" && r.word(i+1) != "day" {
		if d, ask, n = r.dayAt(i + 1); n > 0 {
			return d, ask, n + 1
		}
		return nil, "", 0
	}
	w := r.word(i)
	today := dateOnly(r.now)
	on := func(days, n int) (*calendarDay, string, int) {
		return &calendarDay{date: today.AddDate(0, 0, days), today: days == 0}, "", n
	}
	switch {
	case w == "today":
		return on(0, 1)
	case w == "tonight":
		return &calendarDay{date: today, today: true, night: true}, "", 1
	case w == "tomorrow":
		return on(1, 1)
	case w == "yesterday":
		return on(-1, 1)
	case r.has(i, "the", "day", "after", "tomorrow"):
		return on(2, 4)
	case r.has(i, "day", "after", "tomorrow"):
		return on(2, 3)
	case w == "in":
		if d, n := r.amountAt(i + 1); n > 0 && r.wholeDays(i+1, n) {
			return on(int(d/(24*time.Hour)), 1+n)
		}
	}
	if d, ask, n := r.weekdayAt(i); n > 0 {
		return d, ask, n
	}
	return r.dateAt(i)
}

func dateOnly(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// dayName reads the name of a weekday. A short form such as "sat" may be a word
// of a title, and counts only where a day is expected.
func (r *reader) dayName(i int) (time.Weekday, bool) {
	if d, ok := weekdays[r.word(i)]; ok {
		return d, true
	}
	d, ok := shortWeekdays[r.word(i)]
	if !ok {
		return 0, false
	}
	switch r.word(i - 1) {
	case "on", "next", "this", "coming", "every", "each", "from", "to", "until", "till", "and", comma, "-", "first", "last":
		return d, true
	}
	next := i + 1
	for r.word(next) == "at" || r.word(next) == "from" || r.word(next) == comma {
		next++
	}
	_, n := r.clockAt(next, next > i+1)
	return d, n > 0
}

func (r *reader) weekdayAt(i int) (*calendarDay, string, int) {
	n, which := 0, r.word(i)
	switch {
	case r.has(i, "next", "week"):
		n, which = 2, "next week"
		if r.word(i+n) == "on" {
			n++
		}
	case which == "next" || which == "this" || which == "coming":
		n = 1
	default:
		which = ""
	}
	name, ok := r.dayName(i + n)
	if !ok {
		return nil, "", 0
	}
	n++
	if which == "" && (r.has(i+n, "next", "week") || r.has(i+n, "this", "week")) {
		which = r.word(i+n) + " week"
		n += 2
	}
	today := dateOnly(r.now)
	coming := today.AddDate(0, 0, (int(name)-int(today.Weekday())+7)%7)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	ofNextWeek := monday.AddDate(0, 0, 7+(int(name)+6)%7)
	d := &calendarDay{date: coming}
	choice := func(a, b time.Time) (*calendarDay, string, int) {
		return d, fmt.Sprintf("%s can mean %s or %s. Write `%s` or `%s`.", strings.ToUpper(which[:1])+which[1:]+" "+name.String(),
			a.Format("Mon 2 Jan"), b.Format("Mon 2 Jan"), a.Format("2006-01-02"), b.Format("2006-01-02")), n
	}
	switch which {
	case "next week":
		d.date = ofNextWeek
	case "this week":
		d.date = ofNextWeek.AddDate(0, 0, -7)
	case "next":
		if coming.Equal(today) {
			coming = coming.AddDate(0, 0, 7)
		}
		if d.date = coming; !coming.Equal(ofNextWeek) {
			return choice(coming, ofNextWeek)
		}
	default:
		if coming.Equal(today) {
			which = "on"
			return choice(today, today.AddDate(0, 0, 7))
		}
	}
	return d, "", n
}

// dateAt reads a date of the calendar.
func (r *reader) dateAt(i int) (*calendarDay, string, int) {
	w := r.word(i)
	if isoDay.MatchString(w) {
		d, ask := r.iso(w)
		return d, ask, 1
	}
	if m := numericDay.FindStringSubmatch(w); m != nil {
		d, ask := r.date(m[3], num(m[2]), num(m[1]), w)
		return d, ask, 1
	}
	if m := slashDay.FindStringSubmatch(w); m != nil {
		a, b := num(m[1]), num(m[2])
		switch {
		case a > 12:
			a, b = b, a
		case b <= 12 && a != b:
			return &calendarDay{date: dateOnly(r.now)}, fmt.Sprintf("%s can be read two ways. Write `%s-%02d-%02d` or `%s-%02d-%02d`.", code(w), m[3], a, b, m[3], b, a), 1
		}
		d, ask := r.date(m[3], a, b, w)
		return d, ask, 1
	}
	// 5 Dec, 5th of December 2026
	if m := ordinalDay.FindStringSubmatch(w); m != nil {
		n := 1
		if r.word(i+n) == "of" {
			n++
		}
		if month, ok := months[r.word(i+n)]; ok {
			return r.named(num(m[1]), month, i, n+1)
		}
		if len(w) > len(m[1]) && r.word(i-1) == "the" && n == 1 {
			return r.monthDay(num(m[1]), w), "", 1
		}
		return nil, "", 0
	}
	// Dec 5, December 5th 2026
	if month, ok := months[w]; ok {
		if m := ordinalDay.FindStringSubmatch(r.word(i + 1)); m != nil {
			return r.named(num(m[1]), month, i, 2)
		}
	}
	return nil, "", 0
}

func (r *reader) named(dayOfMonth int, month time.Month, i, n int) (*calendarDay, string, int) {
	year := ""
	at := i + n
	if r.word(at) == comma {
		at++
	}
	if yearWord.MatchString(r.word(at)) {
		year, n = r.word(at), at+1-i
	}
	d, ask := r.date(year, int(month), dayOfMonth, fmt.Sprintf("%d %s %s", dayOfMonth, month, year))
	return d, ask, n
}

// monthDay reads "the 5th": the next such day.
func (r *reader) monthDay(dayOfMonth int, _ string) *calendarDay {
	for d := dateOnly(r.now); ; d = d.AddDate(0, 0, 1) {
		if d.Day() == dayOfMonth || d.Sub(r.now) > 62*24*time.Hour {
			return &calendarDay{date: d}
		}
	}
}

func (r *reader) iso(w string) (*calendarDay, string) {
	m := isoDay.FindStringSubmatch(w)
	return r.date(m[1], num(m[2]), num(m[3]), w)
}

// date makes a day. Without a year the next such day is meant; one that has
// just passed is asked back.
func (r *reader) date(year string, month, dayOfMonth int, said string) (*calendarDay, string) {
	today := dateOnly(r.now)
	y := num(year)
	if year == "" {
		y = today.Year()
	}
	d := time.Date(y, time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC)
	if d.Day() != dayOfMonth || int(d.Month()) != month {
		return &calendarDay{date: today}, "There is no such day as " + code(strings.TrimSpace(said)) + "."
	}
	if year == "" && d.Before(today) {
		next := time.Date(y+1, time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC)
		if next.Sub(today) > 183*24*time.Hour {
			return &calendarDay{date: d}, fmt.Sprintf("%s has passed. Write `%s` if you mean next year.", d.Format("2 January 2006"), next.Format("2006-01-02"))
		}
		d = next
	}
	return &calendarDay{date: d, today: d.Equal(today)}, ""
}

func num(s string) int {
	n, _ := strconv.Atoi(s) // a few digits, or nothing
	return n
}

// clockAt reads a time of day, leaving out what is none.
func (r *reader) clockAt(i int, bare bool) (*clock, int) {
	c, _, n := r.clockOrAsk(i, bare)
	return c, n
}

// clockOrAsk reads a time of day. bare says that an hour may stand alone.
func (r *reader) clockOrAsk(i int, bare bool) (c *clock, ask string, n int) {
	w := r.word(i)
	switch w {
	case "noon", "midday":
		return &clock{hour: 12, half: "pm"}, "", 1
	case "midnight":
		return &clock{hour: 24, midnight: true}, "", 1
	}
	next := strings.ReplaceAll(r.word(i+1), ".", "")
	half := ""
	if next == "am" || next == "pm" {
		half = next
	}
	switch {
	case half != "" && (bareHour.MatchString(w) || clockWord.MatchString(w)):
		c, ask, n = r.clockOf(w + half)
		return c, ask, n + 1
	case bareHour.MatchString(w) && (next == "o'clock" || next == "oclock"):
		c, ask, n = r.clockOf(w + ":00")
		if c != nil {
			c.bare = true
		}
		return c, ask, n + 1
	case bareHour.MatchString(w) && bare:
		// "at 5 Dec" is a day, "from 2 hours" an amount.
		if _, k := r.amountAt(i); k > 0 || months[r.word(i+1)] != 0 {
			return nil, "", 0
		}
		if c, ask, n = r.clockOf(w + ":00"); c != nil {
			c.bare = true
		}
		return c, ask, n
	}
	return r.clockOf(w)
}

// clockOf reads a word as a time of day.
func (r *reader) clockOf(w string) (*clock, string, int) {
	m := clockWord.FindStringSubmatch(w)
	if m == nil {
		h := hourWord.FindStringSubmatch(w)
		if h == nil {
			return nil, "", 0
		}
		m = []string{w, h[1], "00", h[2]}
	} else if strings.Contains(w, ".") && !strings.HasSuffix(w, "m") {
		return nil, "", 0 // a number or a version; only 10.30pm is a time
	}
	c := &clock{hour: num(m[1]), minute: num(m[2]), half: strings.ReplaceAll(m[3], ".", "")}
	bad := c.minute > 59 || c.hour > 24 || (c.hour == 24 && c.minute > 0)
	if c.half != "" {
		bad = bad || c.hour < 1 || c.hour > 12
		c.hour %= 12
		if c.half == "pm" {
			c.hour += 12
		}
	}
	if bad {
		return &clock{}, "There is no time of day " + code(w) + ".", 1
	}
	return c, "", 1
}

// lengthAt reads a duration: "for 90 minutes", "lasting an hour", "for the next
// 2 hours".
func (r *reader) lengthAt(i int) (time.Duration, int) {
	n := 0
	switch {
	case r.has(i, "for", "the", "next"), r.has(i, "with", "a", "duration", "of"), r.has(i, "a", "duration", "of"):
		n = 3
		if r.word(i) == "with" {
			n = 4
		}
	case r.has(i, "for", "about"), r.has(i, "duration", "of"), r.has(i, "for", "around"):
		n = 2
	case r.word(i) == "for", r.word(i) == "lasting", r.word(i) == "lasts", r.word(i) == "takes", r.word(i) == "taking", r.word(i) == "duration":
		n = 1
	default:
		return 0, 0
	}
	d, k := r.amountAt(i + n)
	if k == 0 {
		return 0, 0
	}
	return d, n + k
}

// amountAt reads the longest amount of time with a unit.
func (r *reader) amountAt(i int) (time.Duration, int) {
	const most = 7
	for n := min(most, len(r.words)-i); n > 0; n-- {
		last := r.word(i + n - 1)
		if last == "and" || bareHour.MatchString(last) || last == "a" || last == "an" {
			continue
		}
		text := strings.Join(r.words[i:i+n], " ")
		if n == 1 && !strings.ContainsAny(text, "0123456789") {
			continue // "hour", "weekly"
		}
		seconds, ok := sumSeconds(text)
		if ok && seconds >= 1 && seconds <= 366*24*3600 {
			return time.Duration(seconds * float64(time.Second)).Round(time.Second), n
		}
	}
	return 0, 0
}
