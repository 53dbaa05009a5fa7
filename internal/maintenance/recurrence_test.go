package maintenance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

func at(t *testing.T, rfc3339 string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func readSchedule(t *testing.T, zone, rule, start string, length time.Duration) schedule {
	t.Helper()
	s, issues := newSchedule(Recurrence{rule, zone}, at(t, start), at(t, start).Add(length), "")
	if len(issues) > 0 {
		t.Fatalf("%s in %s: %v", rule, zone, issues)
	}
	return s
}

// TestFC005_SeriesAcrossClockChanges: a daily window in the hour that is left
// out happens once on that day, and in the hour that comes twice once as well;
// its wall clock time and its elapsed length stay the same.
func TestFC005_SeriesAcrossClockChanges(t *testing.T) {
	t.Parallel()
	const layout = "01-02T15:04-07:00"
	rows := []struct {
		name, zone, start string
		want              []string // starts on the clock of the zone
		note              string   // on the middle day
	}{
		{"Berlin, hour left out", "Europe/Berlin", "2026-03-28T02:30:00+01:00",
			[]string{"03-28T02:30+01:00", "03-29T03:30+02:00", "03-30T02:30+02:00"}, "Clocks go forward and leave out 02:30: starts at 03:30."},
		{"Berlin, hour twice", "Europe/Berlin", "2026-10-24T02:30:00+02:00",
			[]string{"10-24T02:30+02:00", "10-25T02:30+02:00", "10-26T02:30+01:00"}, "Clocks go back and show 02:30 twice: starts at the first (+02:00)."},
		{"New York, hour left out", "America/New_York", "2026-03-07T02:30:00-05:00",
			[]string{"03-07T02:30-05:00", "03-08T03:30-04:00", "03-09T02:30-04:00"}, "Clocks go forward and leave out 02:30: starts at 03:30."},
		{"New York, hour twice", "America/New_York", "2026-10-31T01:30:00-04:00",
			[]string{"10-31T01:30-04:00", "11-01T01:30-04:00", "11-02T01:30-05:00"}, "Clocks go back and show 01:30 twice: starts at the first (-04:00)."},
		{"Lord Howe, half an hour left out", "Australia/Lord_Howe", "2026-10-03T02:15:00+10:30",
			[]string{"10-03T02:15+10:30", "10-04T02:45+11:00", "10-05T02:15+11:00"}, "Clocks go forward and leave out 02:15: starts at 02:45."},
		{"Lord Howe, half an hour twice", "Australia/Lord_Howe", "2026-04-04T01:45:00+11:00",
			[]string{"04-04T01:45+11:00", "04-05T01:45+11:00", "04-06T01:45+10:30"}, "Clocks go back and show 01:45 twice: starts at the first (+11:00)."},
		{"Kathmandu has no clock changes", "Asia/Kathmandu", "2026-03-28T02:30:00+05:45",
			[]string{"03-28T02:30+05:45", "03-29T02:30+05:45", "03-30T02:30+05:45"}, ""},
		{"a window over the change ends earlier on the clock", "Europe/Berlin", "2026-10-24T01:30:00+02:00",
			[]string{"10-24T01:30+02:00", "10-25T01:30+02:00", "10-26T01:30+01:00"}, "Clocks change in this window: it ends at 02:30 on the clock and lasts as long as ever."},
	}
	for _, r := range rows {
		length := 45 * time.Minute
		if strings.HasPrefix(r.name, "a window over") {
			length = 2 * time.Hour
		}
		s := readSchedule(t, r.zone, "FREQ=DAILY;COUNT=3", r.start, length)
		var starts []string
		var notes []string
		for o := range s.occurrences(s.startAt.AddDate(1, 0, 0)) {
			starts = append(starts, o.StartAt.In(s.loc).Format(layout))
			notes = append(notes, o.Note)
			if got := o.EndAt.Sub(o.StartAt); got != length {
				t.Errorf("%s: the window of %s lasts %s, want %s", r.name, o.Key, got, length)
			}
		}
		if fmt.Sprint(starts) != fmt.Sprint(r.want) {
			t.Errorf("%s: got %v, want %v", r.name, starts, r.want)
		}
		if len(notes) == 3 && (notes[0] != "" || notes[1] != r.note || notes[2] != "") {
			t.Errorf("%s: notes %q, want %q in the middle", r.name, notes, r.note)
		}
	}
}

// TestFC005_OncePerDay drives six days around both changes: a daily window
// begins exactly once on each, whatever the time of day.
func TestFC005_OncePerDay(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia", "UTC"} {
		for minute := 0; minute < 24*60; minute += 15 {
			start := fmt.Sprintf("2026-01-01T%02d:%02d:00Z", minute/60, minute%60)
			s := readSchedule(t, zone, "FREQ=DAILY", start, 10*time.Minute)
			seen := map[string]int{}
			var before time.Time
			for o := range s.occurrences(s.startAt.AddDate(1, 0, -1)) {
				seen[o.StartAt.In(s.loc).Format(keyLayout)]++
				if gap := o.StartAt.Sub(before); !before.IsZero() && (gap < 22*time.Hour || gap > 26*time.Hour) {
					t.Fatalf("%s at %s: %s after the one before", zone, start, gap)
				}
				before = o.StartAt
			}
			if len(seen) < 364 {
				t.Fatalf("%s at %s: %d days, want a year of them", zone, start, len(seen))
			}
			for day, n := range seen {
				if n != 1 {
					t.Fatalf("%s at %s: %d windows on %s", zone, start, n, day)
				}
			}
		}
	}
}

func TestFirstOccurrenceIsTheInstantThatWasMeant(t *testing.T) {
	t.Parallel()
	// The second of the two half past two.
	s := readSchedule(t, "Europe/Berlin", "FREQ=DAILY;COUNT=2", "2026-10-25T02:30:00+01:00", time.Hour)
	var got []string
	for o := range s.occurrences(s.startAt.AddDate(1, 0, 0)) {
		got = append(got, o.StartAt.In(s.loc).Format(time.RFC3339)+" "+o.Note)
	}
	want := "[2026-10-25T02:30:00+01:00 Clocks go back and show 02:30 twice: starts at the second (+01:00). 2026-10-26T02:30:00+01:00 ]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	rows := []struct {
		until string
		want  int
	}{
		{"20260330", 3},         // the last local date, included
		{"20260330T220000", 3},  // local, included
		{"20260330T215959", 2},  // local, a second early
		{"20260330T200000Z", 3}, // 22:00 in Berlin after the change
		{"20260330T195959Z", 2},
		{"20260327", 0},
	}
	for _, r := range rows {
		s := readSchedule(t, "Europe/Berlin", "FREQ=DAILY;UNTIL="+r.until, "2026-03-28T22:00:00+01:00", time.Hour)
		n := 0
		for range s.occurrences(s.startAt.AddDate(1, 0, 0)) {
			n++
		}
		if n != r.want {
			t.Errorf("UNTIL=%s: %d occurrences, want %d", r.until, n, r.want)
		}
	}
}

func TestScheduleRefusals(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-03-01T12:00:00Z")
	rows := []struct {
		name, zone, rule, start string
		length                  time.Duration
		want                    string
	}{
		{"overlap", "UTC", "FREQ=DAILY", "2026-03-02T00:00:00Z", 25 * time.Hour, "makes windows that overlap: the one of 2026-03-02 ends after that of 2026-03-03 begins"},
		{"a whole day overlaps when the clocks go forward", "Europe/Berlin", "FREQ=DAILY", "2026-03-02T00:00:00+01:00", 24 * time.Hour, "overlap: the one of 2026-03-29"},
		{"a whole day is fine without clock changes", "Asia/Kathmandu", "FREQ=DAILY", "2026-03-02T00:00:00Z", 24 * time.Hour, ""},
		{"touching is fine", "UTC", "FREQ=WEEKLY;BYDAY=SA,SU", "2026-03-07T00:00:00Z", 24 * time.Hour, ""},
		{"last and first day of the month", "UTC", "FREQ=MONTHLY;BYMONTHDAY=-1,1", "2026-03-01T20:00:00Z", 30 * time.Hour, "overlap"},
		{"never", "UTC", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "2026-03-02T00:00:00Z", time.Hour, "no occurrence within 10 years"},
		{"all past", "UTC", "FREQ=DAILY;COUNT=3", "2026-02-02T00:00:00Z", time.Hour, "no occurrence that is still to come"},
		{"past and to come", "UTC", "FREQ=DAILY", "2026-02-02T00:00:00Z", time.Hour, ""},
		{"ended before it began", "UTC", "FREQ=DAILY;UNTIL=20260101", "2026-03-02T00:00:00Z", time.Hour, "no occurrence within 10 years"},
	}
	for _, r := range rows {
		issues := readSchedule(t, r.zone, r.rule, r.start, r.length).check(now, "recurrence.")
		got := ""
		if len(issues) > 0 {
			got = issues[0].Message
		}
		if (r.want == "") != (got == "") || !strings.Contains(got, r.want) {
			t.Errorf("%s: got %q, want %q", r.name, got, r.want)
		}
	}
}

// TestFC004_MisspelledZone is refused, and named, wherever a zone can be said.
func TestFC004_MisspelledZone(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlni", "+02:00", "Local", "CEST", "europe"} {
		_, issues := newSchedule(Recurrence{"FREQ=DAILY", zone}, at(t, "2026-03-02T00:00:00Z"), at(t, "2026-03-02T01:00:00Z"), "recurrence.")
		if len(issues) != 1 || issues[0].Path != "recurrence.timeZone" || !strings.Contains(issues[0].Message, zone) {
			t.Errorf("%s: %v, want it refused by its name", zone, issues)
		}
		if _, err := CheckLocalTime(zone, "2026-03-29T02:30"); !strings.Contains(issue(err, "timeZone"), zone) {
			t.Errorf("check of a local time in %s: %v", zone, err)
		}
	}
	for _, zone := range []string{"Europe/Berlin", "Asia/Kathmandu", "America/Sao_Paulo", "america/new_york"} {
		if _, issues := newSchedule(Recurrence{"FREQ=DAILY", zone}, at(t, "2026-03-02T00:00:00Z"), at(t, "2026-03-02T01:00:00Z"), ""); len(issues) > 0 {
			t.Errorf("%s: %v", zone, issues)
		}
	}
}

// TestFC003_LocalTime is what the form and the server both go by.
func TestFC003_LocalTime(t *testing.T) {
	t.Parallel()
	rows := []struct{ zone, local, kind, want string }{
		{"Europe/Berlin", "2026-03-29T02:30", "missing", "2026-03-29T03:30:00+02:00 2026-03-29T01:30:00+01:00"},
		{"Europe/Berlin", "2026-03-29T02:00", "missing", "2026-03-29T03:00:00+02:00 2026-03-29T01:00:00+01:00"},
		{"Europe/Berlin", "2026-03-29T03:00", "unique", "2026-03-29T03:00:00+02:00"},
		{"Europe/Berlin", "2026-10-25T02:30", "doubled", "2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00"},
		{"Europe/Berlin", "2026-06-01T10:00:30", "unique", "2026-06-01T10:00:30+02:00"},
		{"America/New_York", "2026-03-08T02:59", "missing", "2026-03-08T03:59:00-04:00 2026-03-08T01:59:00-05:00"},
		{"Australia/Lord_Howe", "2026-10-04T02:15", "missing", "2026-10-04T02:45:00+11:00 2026-10-04T01:45:00+10:30"},
		{"Australia/Lord_Howe", "2026-04-05T01:45", "doubled", "2026-04-05T01:45:00+11:00 2026-04-05T01:45:00+10:30"},
		{"Asia/Kathmandu", "2026-03-29T02:30", "unique", "2026-03-29T02:30:00+05:45"},
		{"Pacific/Apia", "2011-12-30T12:00", "missing", "2011-12-31T12:00:00+14:00 2011-12-29T12:00:00-10:00"}, // a whole day
	}
	for _, r := range rows {
		got, err := CheckLocalTime(r.zone, r.local)
		if err != nil {
			t.Errorf("%s in %s: %v", r.local, r.zone, err)
			continue
		}
		var instants []string
		for _, i := range got.Instants {
			instants = append(instants, i.Format(time.RFC3339))
		}
		if got.Kind != r.kind || strings.Join(instants, " ") != r.want {
			t.Errorf("%s in %s: %s %v, want %s %s", r.local, r.zone, got.Kind, instants, r.kind, r.want)
		}
	}
	for _, local := range []string{"", "2026-03-29", "2026-03-29 02:30", "2026-03-29T02:30Z", "2026-03-29T02:30+02:00", "2026-02-30T02:30", "2026-03-29T24:00", "0001-01-01T00:00", "now"} {
		if _, err := CheckLocalTime("Europe/Berlin", local); !problem.Is(err, problem.KindInvalid) || issue(err, "local") == "" {
			t.Errorf("%q: %v, want the field local named", local, err)
		}
	}
}
