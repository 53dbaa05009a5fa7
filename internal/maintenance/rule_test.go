package maintenance

import (
	"strings"
	"testing"
	"time"
)

func day(t *testing.T, s string) time.Time {
	t.Helper()
	d, err := time.Parse(keyLayout, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRuleDates holds the days of rules; those with a section are examples of
// RFC 5545 3.8.5.3, the others were compared with another implementation.
func TestRuleDates(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, start, rule, want string }{
		{"daily", "2026-03-28", "FREQ=DAILY;COUNT=3", "03-28 03-29 03-30"},
		{"every other day", "2026-03-28", "FREQ=DAILY;INTERVAL=2;COUNT=3", "03-28 03-30 04-01"},
		{"weekly takes the day of the start", "2026-03-02", "FREQ=WEEKLY;COUNT=3", "03-02 03-09 03-16"},
		{"a start the rule does not name begins later", "2026-03-04", "FREQ=WEEKLY;BYDAY=MO;COUNT=2", "03-09 03-16"},
		{"weeks start on Monday", "1997-08-05", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "08-05 08-10 08-19 08-24"},
		{"weeks start on Sunday", "1997-08-05", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "08-05 08-17 08-19 08-31"},
		{"month without the day is passed over", "2026-01-31", "FREQ=MONTHLY;COUNT=4", "01-31 03-31 05-31 07-31"},
		{"last day of the month", "2026-01-31", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "01-31 02-28 03-31"},
		{"first Friday", "1997-09-05", "FREQ=MONTHLY;COUNT=3;BYDAY=1FR", "09-05 10-03 11-07"},
		{"second last Monday", "1997-09-22", "FREQ=MONTHLY;COUNT=3;BYDAY=-2MO", "09-22 10-20 11-17"},
		{"Friday the 13th", "1997-09-02", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3", "02-13 03-13 11-13"},
		{"last weekday", "1997-09-29", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3", "09-30 10-31 11-28"},
		{"any Monday and the first Tuesday", "2026-03-01", "FREQ=MONTHLY;BYDAY=MO,1TU;COUNT=4", "03-02 03-03 03-09 03-16"},
		{"yearly", "2026-06-10", "FREQ=YEARLY;COUNT=2", "06-10 06-10"},
		{"leap day", "2024-02-29", "FREQ=YEARLY;COUNT=3", "02-29 02-29 02-29"},
		{"yearly in months", "1997-06-10", "FREQ=YEARLY;COUNT=4;BYMONTH=6,7", "06-10 07-10 06-10 07-10"},
		{"20th Monday of the year", "1997-05-19", "FREQ=YEARLY;BYDAY=20MO;COUNT=3", "05-19 05-18 05-17"},
		{"Monday of week 20", "1997-05-12", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3", "05-12 05-11 05-17"},
		{"days of the year", "1997-01-01", "FREQ=YEARLY;INTERVAL=3;COUNT=4;BYYEARDAY=1,100,200", "01-01 04-10 07-19 01-01"},
		{"set position counts from the start of the week", "2026-11-25", "FREQ=WEEKLY;BYDAY=TU,TH,WE;BYSETPOS=1,-1;COUNT=3", "11-26 12-01 12-03"},
		{"a day that never comes", "2026-01-01", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", ""},
		{"a day that never comes, every day asked", "2026-01-01", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", ""},
		{"lower case, prefix and a last semicolon", "2026-03-28", "rrule:freq=daily;count=2;", "03-28 03-29"},
	}
	for _, r := range rows {
		rule, err := parseRule(r.rule)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		start := day(t, r.start)
		var got []string
		for d := range rule.dates(start, start.AddDate(30, 0, 0)) {
			got = append(got, d.Format("01-02"))
		}
		if strings.Join(got, " ") != r.want {
			t.Errorf("%s: %s from %s gives %v, want %s", r.name, r.rule, r.start, got, r.want)
		}
		again, err := parseRule(rule.String())
		if err != nil || again.String() != rule.String() {
			t.Errorf("%s: the plain form %s reads back as %s, %v", r.name, rule, again, err)
		}
	}
}

func TestRuleRefusals(t *testing.T) {
	t.Parallel()
	rows := []struct{ rule, want string }{
		{"", "must not be blank"},
		{"   ", "must not be blank"},
		{strings.Repeat("X", 501), "at most 500"},
		{"DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY", "on one line"},
		{"every monday", "NAME=VALUE"},
		{"FREQ", "NAME=VALUE"},
		{"FREQ=", "NAME=VALUE"},
		{";;", "NAME=VALUE"},
		{"INTERVAL=2", "needs FREQ"},
		{"FREQ=DAILY;FREQ=WEEKLY", "twice"},
		{"FREQ=FORTNIGHTLY", "one of DAILY"},
		{"FREQ=SECONDLY", "at most once a day"},
		{"FREQ=MINUTELY", "at most once a day"},
		{"FREQ=HOURLY;INTERVAL=6", "at most once a day"},
		{"FREQ=DAILY;BYHOUR=2,14", "at most once a day"},
		{"FREQ=DAILY;BYEASTER=1", "does not know"},
		{"FREQ=DAILY;INTERVAL=0", "INTERVAL must be a whole number from 1 to 1000"},
		{"FREQ=DAILY;INTERVAL=-1", "INTERVAL must be"},
		{"FREQ=DAILY;INTERVAL=1.5", "INTERVAL must be"},
		{"FREQ=DAILY;INTERVAL=9223372036854775808", "INTERVAL must be"},
		{"FREQ=DAILY;COUNT=0", "COUNT must be"},
		{"FREQ=DAILY;COUNT=1000000", "COUNT must be"},
		{"FREQ=DAILY;COUNT=2;UNTIL=20261231", "both COUNT and UNTIL"},
		{"FREQ=DAILY;UNTIL=tomorrow", "UNTIL must be a date"},
		{"FREQ=DAILY;UNTIL=20260230", "UNTIL must be a date"},
		{"FREQ=WEEKLY;BYDAY=XX", "BYDAY must be days"},
		{"FREQ=WEEKLY;BYDAY=", "NAME=VALUE"},
		{"FREQ=MONTHLY;BYDAY=0MO", "BYDAY must be days"},
		{"FREQ=MONTHLY;BYDAY=99MO", "BYDAY must be days"},
		{"FREQ=WEEKLY;BYDAY=1MO", "FREQ=MONTHLY and FREQ=YEARLY only"},
		{"FREQ=WEEKLY;BYMONTHDAY=1", "does not go with FREQ=WEEKLY"},
		{"FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY must be whole numbers from 1 to 31"},
		{"FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY must be"},
		{"FREQ=MONTHLY;BYMONTHDAY=1,,2", "BYMONTHDAY must be"},
		{"FREQ=MONTHLY;BYWEEKNO=1;BYDAY=MO", "FREQ=YEARLY only"},
		{"FREQ=YEARLY;BYWEEKNO=1", "needs BYDAY"},
		{"FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", "does not go with BYWEEKNO"},
		{"FREQ=MONTHLY;BYYEARDAY=1", "FREQ=YEARLY only"},
		{"FREQ=MONTHLY;BYSETPOS=1", "there is none"},
		{"FREQ=WEEKLY;WKST=1", "WKST must be"},
	}
	for _, r := range rows {
		if _, err := parseRule(r.rule); err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%q: got %v, want a text with %q", r.rule, err, r.want)
		}
	}
}

func TestRuleInWords(t *testing.T) {
	t.Parallel()
	rows := []struct{ rule, want string }{
		{"FREQ=DAILY", "every day"},
		{"FREQ=WEEKLY", "every week on Monday"},
		{"FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH,SU", "every 2 weeks on Monday, Thursday and Sunday"},
		{"FREQ=MONTHLY", "every month on day 2"},
		{"FREQ=MONTHLY;BYDAY=-1FR;COUNT=12", "every month on the last Friday, 12 times"},
		{"FREQ=MONTHLY;BYMONTHDAY=-1", "every month on the last day"},
		{"FREQ=MONTHLY;BYDAY=-2MO", "every month on the second last Monday"},
		{"FREQ=YEARLY;UNTIL=20301231", "every year on day 2 in March, until 31 December 2030"},
		{"FREQ=YEARLY;BYDAY=22TU", "every year on the 22nd Tuesday"},
		{"FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1"},
		{"nonsense", "nonsense"},
	}
	for _, r := range rows {
		if got := describeRule(r.rule, "2026-03-02T22:00:00"); got != r.want {
			t.Errorf("%s: got %q, want %q", r.rule, got, r.want)
		}
	}
}

// FuzzRule holds that no text makes the parser panic or the expansion run away,
// that days come in order and once, and that the plain form is stable.
func FuzzRule(f *testing.F) {
	for _, s := range []string{"FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TU;WKST=SU", "FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=1,-1", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
		"FREQ=YEARLY;BYWEEKNO=53,-1;BYDAY=MO", "FREQ=DAILY;INTERVAL=1000;COUNT=1000", "FREQ=YEARLY;BYYEARDAY=-366", "FREQ=DAILY;UNTIL=00010101", "RRULE:RRULE:FREQ=DAILY", "FREQ=DAILY;\x00=1"} {
		f.Add(s, 19_000)
	}
	f.Fuzz(func(t *testing.T, text string, days int) {
		r, err := parseRule(text)
		if err != nil {
			return
		}
		plain, err := parseRule(r.String())
		if err != nil || plain.String() != r.String() {
			t.Fatalf("%q becomes %q, which becomes %q, %v", text, r, plain, err)
		}
		start := time.Unix(0, 0).UTC().AddDate(0, 0, days%30_000)
		begin := time.Now()
		last := start.AddDate(0, 0, -1)
		n := 0
		for d := range r.dates(start, start.AddDate(lookAhead, 0, 0)) {
			if !d.After(last) {
				t.Fatalf("%q: %s comes after %s", text, d, last)
			}
			last = d
			n++
		}
		if n > 3660 || time.Since(begin) > 2*time.Second {
			t.Fatalf("%q: %d days in %s", text, n, time.Since(begin))
		}
		describeRule(r.String(), start.Format(localLayout))
	})
}
