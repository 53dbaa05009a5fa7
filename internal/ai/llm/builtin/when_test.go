package builtin

import (
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/zone"
)

func at(t testing.TB, name, wall string) *turn {
	t.Helper()
	loc, err := zone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	now, err := time.ParseInLocation("2006-01-02 15:04:05", wall, loc)
	if err != nil {
		t.Fatal(err)
	}
	return &turn{now: now.UTC(), zone: loc}
}

// window reads a phrase: "start end rule", or what is asked.
func (t *turn) phrase(text string) (got string, rest []string) {
	w := t.readTiming(strings.Fields(normalize("x " + text).verbatim)[1:])
	s, ask := t.window(w)
	for _, r := range w.rest {
		if r != breakMark {
			rest = append(rest, r)
		}
	}
	if ask != "" {
		return "? " + ask, rest
	}
	return strings.TrimSpace(s.start.Format("2006-01-02T15:04-07:00") + " " + s.end.Format("2006-01-02T15:04-07:00") + " " + s.rule), rest
}

func TestWindows(t *testing.T) {
	t.Parallel()
	const (
		tomorrow = "2026-12-02T22:00+01:00 2026-12-02T23:30+01:00"
		saturday = "2026-12-05T22:00+01:00 2026-12-05T23:30+01:00"
	)
	for _, group := range []struct {
		zone, now string // of a Tuesday, unless said
		phrases   map[string]string
	}{
		{"Europe/Berlin", "2026-12-01 10:05:20", map[string]string{
			"tomorrow 22:00 to 23:30":                           tomorrow,
			"tomorrow, 22:00 - 23:30":                           tomorrow,
			"tomorrow 22:00-23:30":                              tomorrow,
			"tomorrow 22:00–23:30":                              tomorrow,
			"tomorrow from 22:00 until 23:30":                   tomorrow,
			"tomorrow between 22:00 and 23:30":                  tomorrow,
			"from 22:00 to 23:30 tomorrow":                      tomorrow,
			"from tomorrow 22:00 to tomorrow 23:30":             tomorrow,
			"tomorrow at 10pm for 90 minutes":                   tomorrow,
			"at 10 pm tomorrow for 1h30m":                       tomorrow,
			"tomorrow at 22 for 1.5 hours":                      tomorrow,
			"tomorrow 10 p.m. to 11.30 p.m.":                    tomorrow,
			"tomorrow 10 to 11:30pm":                            tomorrow,
			"tomorrow from 10pm to 11:30":                       tomorrow,
			"tomorrow 22:00 for one and a half hours":           tomorrow,
			"for 90 minutes tomorrow at 22:00":                  tomorrow,
			"starting tomorrow at 22:00 ending at 23:30":        tomorrow,
			"2026-12-02 22:00 to 2026-12-02 23:30":              tomorrow,
			"2026-12-02T22:00 to 2026-12-02T23:30":              tomorrow,
			"2026-12-02T22:00:00+01:00 to 2026-12-02T22:30:00Z": tomorrow,
			"2 Dec 22:00 to 23:30":                              tomorrow,
			"Dec 2nd, 2026 at 22:00 to 23:30":                   tomorrow,
			"on the 2nd of December 2026 from 22:00 to 23:30":   tomorrow,
			"on the 2nd from 22:00 to 23:30":                    tomorrow,
			"02.12.2026 22:00 to 23:30":                         tomorrow,
			"2.12. 22:00 to 23:30":                              tomorrow,
			"tomorrow 21:00 UTC to 22:30 UTC":                   "2026-12-02T21:00+00:00 2026-12-02T22:30+00:00",
			"tomorrow 21:00z to 22:30z":                         "2026-12-02T21:00+00:00 2026-12-02T22:30+00:00",
			"tomorrow 16:00 to 17:30 America/New_York":          "2026-12-02T16:00-05:00 2026-12-02T17:30-05:00",
			"on Saturday from 10pm to 11:30pm":                  saturday,
			"from 10pm to 11:30pm on Saturday":                  saturday,
			"Saturday 10pm to 11:30pm":                          saturday,
			"sat 10pm to 11:30pm":                               saturday,
			"this Saturday 22:00 to 23:30":                      saturday,
			"Saturday this week 22:00 to 23:30":                 saturday,
			"5 december 22:00 to 23:30":                         saturday,
			"5th Dec 22:00 to 23:30":                            saturday,
			"in 4 days at 22:00 for 90 min":                     saturday,
			"2026-12-05 22:00 for 90 minutes":                   saturday,
			"next week Saturday 22:00 to 23:30":                 "2026-12-12T22:00+01:00 2026-12-12T23:30+01:00",
			"Saturday next week 22:00 to 23:30":                 "2026-12-12T22:00+01:00 2026-12-12T23:30+01:00",
			"next Monday 9:00 to 17:00":                         "2026-12-07T09:00+01:00 2026-12-07T17:00+01:00",
			"today at 18:00 for 2 hours":                        "2026-12-01T18:00+01:00 2026-12-01T20:00+01:00",
			"18:00 for 2 hours":                                 "2026-12-01T18:00+01:00 2026-12-01T20:00+01:00",
			"today 10:05 to 11:00":                              "2026-12-01T10:05+01:00 2026-12-01T11:00+01:00",
			"tonight at 10 for an hour":                         "2026-12-01T22:00+01:00 2026-12-01T23:00+01:00",
			"tonight 22:00 to 2:00":                             "2026-12-01T22:00+01:00 2026-12-02T02:00+01:00",
			"10pm to 2":                                         "2026-12-01T22:00+01:00 2026-12-02T02:00+01:00",
			"tomorrow 9am to 5":                                 "2026-12-02T09:00+01:00 2026-12-02T17:00+01:00",
			"tomorrow from 10 to 1pm":                           "2026-12-02T10:00+01:00 2026-12-02T13:00+01:00",
			"tomorrow from 9 to 17":                             "2026-12-02T09:00+01:00 2026-12-02T17:00+01:00",
			"tomorrow 23:30 to 01:00":                           "2026-12-02T23:30+01:00 2026-12-03T01:00+01:00",
			"tomorrow 23:30 to midnight":                        "2026-12-02T23:30+01:00 2026-12-03T00:00+01:00",
			"tomorrow 23:30 to 24:00":                           "2026-12-02T23:30+01:00 2026-12-03T00:00+01:00",
			"tomorrow 12:00 to 12:00":                           "2026-12-02T12:00+01:00 2026-12-03T12:00+01:00",
			"midnight for 2 hours":                              "2026-12-02T00:00+01:00 2026-12-02T02:00+01:00",
			"tonight at midnight for 2 hours":                   "2026-12-02T00:00+01:00 2026-12-02T02:00+01:00",
			"tomorrow noon to 2pm":                              "2026-12-02T12:00+01:00 2026-12-02T14:00+01:00",
			"tomorrow 12am to 12pm":                             "2026-12-02T00:00+01:00 2026-12-02T12:00+01:00",
			"Saturday 22:00 to Sunday 02:00":                    "2026-12-05T22:00+01:00 2026-12-06T02:00+01:00",
			"22:00 to Thursday 02:00":                           "2026-12-01T22:00+01:00 2026-12-03T02:00+01:00",
			"from the day after tomorrow 8:00 to 9:00":          "2026-12-03T08:00+01:00 2026-12-03T09:00+01:00",
			"5 Jan 8:00 to 9:00":                                "2027-01-05T08:00+01:00 2027-01-05T09:00+01:00",
			"24 Dec 18:00 for 2 days":                           "2026-12-24T18:00+01:00 2026-12-26T18:00+01:00",
			"now for 1 hour":                                    "2026-12-01T10:05+01:00 2026-12-01T11:05+01:00",
			"for 1 hour from now":                               "2026-12-01T10:05+01:00 2026-12-01T11:05+01:00",
			"for the next 2 hours starting now":                 "2026-12-01T10:05+01:00 2026-12-01T12:05+01:00",
			"from now until 11:00":                              "2026-12-01T10:05+01:00 2026-12-01T11:00+01:00",
			"in 30 minutes for 1 hour":                          "2026-12-01T10:35+01:00 2026-12-01T11:35+01:00",
			"2 hours from now for 30 minutes":                   "2026-12-01T12:05+01:00 2026-12-01T12:35+01:00",
			// The clocks change within: the length stays.
			"2027-03-27 22:00 for 8 hours":             "2027-03-27T22:00+01:00 2027-03-28T07:00+02:00",
			"2027-03-27 22:00 to 06:00":                "2027-03-27T22:00+01:00 2027-03-28T06:00+02:00",
			"2027-10-30 22:00 for 8 hours":             "2027-10-30T22:00+02:00 2027-10-31T05:00+01:00",
			"2027-10-31T02:30:00+02:00 for 30 minutes": "2027-10-31T02:30+02:00 2027-10-31T02:00+01:00",
			"2027-10-31T02:30:00+01:00 to 04:00":       "2027-10-31T02:30+01:00 2027-10-31T04:00+01:00",
			"2027-10-31 22:00 to 02:30":                "2027-10-31T22:00+01:00 2027-11-01T02:30+01:00",
			"2027-03-28 22:00 to 02:30":                "2027-03-28T22:00+02:00 2027-03-29T02:30+02:00",
			// Series.
			"every Sunday 02:00 to 03:00":                       "2026-12-06T02:00+01:00 2026-12-06T03:00+01:00 FREQ=WEEKLY;BYDAY=SU",
			"Sundays 02:00-03:00":                               "2026-12-06T02:00+01:00 2026-12-06T03:00+01:00 FREQ=WEEKLY;BYDAY=SU",
			"weekly on Sunday at 2am for an hour":               "2026-12-06T02:00+01:00 2026-12-06T03:00+01:00 FREQ=WEEKLY;BYDAY=SU",
			"every week on Sunday 02:00 to 03:00":               "2026-12-06T02:00+01:00 2026-12-06T03:00+01:00 FREQ=WEEKLY;BYDAY=SU",
			"every Tuesday 09:00 to 10:00":                      "2026-12-08T09:00+01:00 2026-12-08T10:00+01:00 FREQ=WEEKLY;BYDAY=TU",
			"every Tuesday 11:00 to 12:00":                      "2026-12-01T11:00+01:00 2026-12-01T12:00+01:00 FREQ=WEEKLY;BYDAY=TU",
			"every Monday, Wednesday and Friday 22:00 to 01:00": "2026-12-02T22:00+01:00 2026-12-03T01:00+01:00 FREQ=WEEKLY;BYDAY=MO,WE,FR",
			"every day 03:00 for 20 minutes":                    "2026-12-02T03:00+01:00 2026-12-02T03:20+01:00 FREQ=DAILY",
			"daily at 23:45 for 30 minutes":                     "2026-12-01T23:45+01:00 2026-12-02T00:15+01:00 FREQ=DAILY",
			"every weekday 6am to 7am":                          "2026-12-02T06:00+01:00 2026-12-02T07:00+01:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
			"every other Sunday 02:00 to 03:00":                 "2026-12-06T02:00+01:00 2026-12-06T03:00+01:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=SU",
			"every 2 weeks on Sunday 02:00 to 03:00":            "2026-12-06T02:00+01:00 2026-12-06T03:00+01:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=SU",
			"every two weeks on Sunday 02:00 to 03:00":          "2026-12-06T02:00+01:00 2026-12-06T03:00+01:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=SU",
			"every first Sunday of the month 02:00 to 03:00":    "2026-12-06T02:00+01:00 2026-12-06T03:00+01:00 FREQ=MONTHLY;BYDAY=1SU",
			"every month on the last Friday 18:00 for 2 hours":  "2026-12-25T18:00+01:00 2026-12-25T20:00+01:00 FREQ=MONTHLY;BYDAY=-1FR",
			"monthly on the 15th at 02:00 for 1 hour":           "2026-12-15T02:00+01:00 2026-12-15T03:00+01:00 FREQ=MONTHLY;BYMONTHDAY=15",
			"every month on the last day 22:00 for 1 hour":      "2026-12-31T22:00+01:00 2026-12-31T23:00+01:00 FREQ=MONTHLY;BYMONTHDAY=-1",
			"weekly tomorrow 22:00 to 23:00":                    "2026-12-02T22:00+01:00 2026-12-02T23:00+01:00 FREQ=WEEKLY;BYDAY=WE",
			"every Sunday 02:00 to 03:00 starting 2027-01-10":   "2027-01-10T02:00+01:00 2027-01-10T03:00+01:00 FREQ=WEEKLY;BYDAY=SU",
			"every Sunday 02:00 to 03:00 UTC":                   "2026-12-06T02:00+00:00 2026-12-06T03:00+00:00 FREQ=WEEKLY;BYDAY=SU",
		}},
		{"America/New_York", "2026-12-01 10:05:20", map[string]string{
			"tomorrow 22:00 to 23:30":       "2026-12-02T22:00-05:00 2026-12-02T23:30-05:00",
			"every Sunday 02:00 to 03:00":   "2026-12-06T02:00-05:00 2026-12-06T03:00-05:00 FREQ=WEEKLY;BYDAY=SU",
			"tomorrow 22:00 UTC for 1 hour": "2026-12-02T22:00+00:00 2026-12-02T23:00+00:00",
		}},
		// Tomorrow there is the day after tomorrow in New York.
		{"Asia/Kathmandu", "2026-12-02 00:30:00", map[string]string{
			"tomorrow 22:00 to 23:30":    "2026-12-03T22:00+05:45 2026-12-03T23:30+05:45",
			"today 00:45 to 01:00":       "2026-12-02T00:45+05:45 2026-12-02T01:00+05:45",
			"today 20:00 UTC for 1 hour": "2026-12-01T20:00+00:00 2026-12-01T21:00+00:00",
		}},
	} {
		turn := at(t, group.zone, group.now)
		for text, want := range group.phrases {
			if got, rest := turn.phrase(text); got != want || len(rest) > 0 {
				t.Errorf("%s in %s: %s %q, want %s", text, group.zone, got, rest, want)
			}
		}
	}
}

func TestTimesThatAreAskedBack(t *testing.T) {
	t.Parallel()
	turn := at(t, "Europe/Berlin", "2026-12-01 10:05:20")
	for text, want := range map[string][]string{
		"":                                        {"When, and for how long?"},
		"tomorrow":                                {"Until when, or for how long?"},
		"tomorrow for 2 hours":                    {"At what time on Wednesday 2 December?"},
		"tomorrow 22:00":                          {"Until when"},
		"for 2 hours":                             {"When does it begin?"},
		"until 23:00":                             {"When does it begin?"},
		"today 09:00 to 10:00":                    {"Tue 1 Dec 2026 09:00 has passed", "10:05 now", "`2026-12-02 09:00`", "`now`"},
		"08:00 for 1 hour":                        {"has passed", "`2026-12-02 08:00`"},
		"yesterday 22:00 to 23:00":                {"has passed"},
		"2025-12-05 22:00 to 23:00":               {"Fri 5 Dec 2025 22:00 has passed", "!Did you mean"},
		"5 Nov 22:00 to 23:00":                    {"5 November 2026 has passed", "`2027-11-05`"},
		"next Saturday 22:00 to 23:00":            {"Next Saturday can mean Sat 5 Dec or Sat 12 Dec", "`2026-12-05`", "`2026-12-12`"},
		"on Tuesday 22:00 to 23:00":               {"can mean Tue 1 Dec or Tue 8 Dec"},
		"Saturday midnight for 1 hour":            {"beginning or the end of Saturday 5 December", "`2026-12-05 00:00`", "`2026-12-06 00:00`"},
		"05/12/2026 22:00 to 23:00":               {"two ways", "`2026-05-12`", "`2026-12-05`"},
		"2026-02-30 22:00 to 23:00":               {"no such day as `2026-02-30`"},
		"31 Nov 22:00 to 23:00":                   {"no such day as `31 November`"},
		"tomorrow 25:00 to 26:00":                 {"no time of day `25:00`"},
		"tomorrow 22:75 for 1 hour":               {"no time of day `22:75`"},
		"tomorrow 13pm for 1 hour":                {"no time of day `13pm`"},
		"tomorrow 22:00 to 23:00 for 1 hour":      {"both an end and a duration"},
		"tomorrow 22:00 to 23:00 on Friday 10:00": {"more than one time"},
		"Saturday 22:00 to Friday 23:00":          {"before it begins"},
		"tomorrow 10:00 to 11:30pm":               {"10:00 or 22:00"},
		"tonight at 2 for 1 hour":                 {"not clear", "`2026-12-01 14:00`", "`2026-12-02 02:00`"},
		// FC-005 and the like: what the clocks do is never decided in silence.
		"2027-03-28 02:30 for 1 hour":                     {"Sunday 28 March 2027", "Europe/Berlin go forward and leave out 02:30", "`2027-03-28 01:30`", "`2027-03-28 03:30`"},
		"2027-03-27 22:00 to 02:30":                       {"leave out 02:30"},
		"2027-10-31 02:30 for 1 hour":                     {"go back and show 02:30 twice", "`2027-10-31T02:30:00+02:00`", "`2027-10-31T02:30:00+01:00`"},
		"2027-10-30 22:00 to 02:30":                       {"twice", "`2027-10-31T02:30:00+02:00`"},
		"2027-10-31T02:45:00+02:00 to 02:30":              {"twice"},
		"2026-12-05T22:00:00+25:00 for 1 hour":            {"no such date and time"},
		"every Sunday":                                    {"At what time does it begin each time"},
		"every Sunday 02:00":                              {"How long does it take each time"},
		"every Sunday 02:00 to 03:00 starting tomorrow":   {"Wednesday 2 December 2026 is no day on which it repeats (every week on Sunday)"},
		"every Sunday and every Monday 02:00 to 03:00":    {"two ways to repeat"},
		"every Sunday 02:30 to 03:30 starting 2027-03-28": {"first time is not clear", "leave out 02:30"},
		"every month on the 32nd 02:00 to 03:00":          {"no such day of the month"},
	} {
		got, _ := turn.phrase(text)
		if !strings.HasPrefix(got, "? ") {
			t.Errorf("%s: was read as %s", text, got)
		}
		says(t, text, got, want...)
	}
}

// TestWordsThatAreNoTimes stay what they are.
func TestWordsThatAreNoTimes(t *testing.T) {
	t.Parallel()
	turn := at(t, "Europe/Berlin", "2026-12-01 10:05:20")
	for text, want := range map[string]string{
		`"Sunday at 22:00" for Payments API`:                         "\uE000 for Payments API",
		"upgrade to version 5 of 3 disks for Search 2":               "upgrade to version 5 of 3 disks for Search 2",
		"the sun may mar the march on Payments":                      "the sun may mar the march on Payments",
		"move 24/7 support to Postgres 17.2":                         "move 24/7 support to Postgres 17.2",
		"Weekly reboot and daily report, monthly check-up":           "Weekly reboot and daily report \uE100 monthly check-up",
		"second try for all":                                         "second try for all",
		"DB upgrade for Payments API tomorrow 22:00 to 23:30 please": "DB upgrade for Payments API",
		"on Payments API on Saturday from 10pm to 11:30pm":           "on Payments API",
	} {
		w := turn.readTiming(strings.Fields(normalize("x " + text).verbatim)[1:])
		var rest []string
		for _, r := range w.rest {
			if r != breakMark {
				rest = append(rest, r)
			}
		}
		if got := strings.Join(rest, " "); got != want || w.ask != "" {
			t.Errorf("%s: %q, %q, want %q", text, got, w.ask, want)
		}
	}
}

func TestWindowsInWords(t *testing.T) {
	t.Parallel()
	turn := at(t, "Europe/Berlin", "2026-12-01 10:05:20")
	for text, want := range map[string]string{
		"tomorrow 22:00 to 23:30":      "Wed 2 Dec 2026 22:00 to 23:30 (Europe/Berlin, GMT+01:00)",
		"tomorrow 22:00 to 02:00":      "Wed 2 Dec 2026 22:00 to Thu 3 Dec 2026 02:00 (Europe/Berlin, GMT+01:00)",
		"2027-03-27 22:00 for 8 hours": "Sat 27 Mar 2027 22:00 GMT+01:00 to Sun 28 Mar 2027 07:00 GMT+02:00 (Europe/Berlin)",
	} {
		s, ask := turn.window(turn.readTiming(strings.Fields(text)))
		if got := s.words(); got != want || ask != "" {
			t.Errorf("%s: %s, %s, want %s", text, got, ask, want)
		}
	}
}

// FuzzWindows: whatever is read ends after it begins, begins now or later, and
// names an offset; everything else is asked.
func FuzzWindows(f *testing.F) {
	for _, s := range []string{"tomorrow 22:00 to 23:30", "every first Sunday of the month 02:00 for 1 hour", "2027-03-28 02:30 for 1 hour", "5 Dec 10 to 11pm",
		"in 30 minutes for 1 hour", "next Saturday", "2026-12-05T22:00:00+0200 until midnight", "tonight at 10 for an hour", "every 2 weeks on mon, tue 1am lasting 2h"} {
		f.Add(s, int64(1_796_115_920), uint16(300))
	}
	f.Fuzz(func(t *testing.T, text string, now int64, which uint16) {
		loc, err := zone.Load(zone.Names()[int(which)%len(zone.Names())])
		if err != nil {
			t.Fatal(err)
		}
		turn := &turn{now: time.Unix(1_000_000_000+now%2_000_000_000, 0).UTC(), zone: loc}
		words := strings.Fields(normalize(text).verbatim)
		w := turn.readTiming(words)
		if len(w.rest) > len(words)*3+1 {
			t.Errorf("%q: %d words became %d", text, len(words), len(w.rest))
		}
		s, ask := turn.window(w)
		if ask != "" {
			return
		}
		if !s.end.After(s.start) || s.start.Before(turn.now.Add(-time.Minute)) {
			t.Errorf("%q at %v: %v to %v", text, turn.now.In(loc), s.start, s.end)
		}
		if again, err := time.Parse(time.RFC3339, s.start.Format(time.RFC3339)); err != nil || again.Sub(s.start).Abs() >= time.Second {
			t.Errorf("%q: %v is written as %s", text, s.start, s.start.Format(time.RFC3339))
		}
	})
}
