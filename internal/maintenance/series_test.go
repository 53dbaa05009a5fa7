package maintenance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

// repeat makes a series from 2 March 2026, a Monday, and gives its id.
func (b *bundle) repeat(rule, zone, startAt, endAt string, systemIDs ...string) string {
	b.t.Helper()
	return b.must("createMaintenance", `{"title":"Series","startAt":%q,"endAt":%q,"systemIds":["%s"],"recurrence":{"rule":%q,"timeZone":%q}}`,
		startAt, endAt, strings.Join(systemIDs, `","`), rule, zone)["seriesId"].(string)
}

// of gives the occurrences of a series, soonest first.
func (b *bundle) of(series string) []map[string]any {
	b.t.Helper()
	var all []map[string]any
	cursor := ""
	for {
		page := b.done("listMaintenances", `{"sortOrder":"asc","limit":100,"seriesId":"`+series+`"`+cursor+`}`)
		all = append(all, list(page, "maintenances")...)
		if page["nextCursor"] == nil {
			return all
		}
		cursor = fmt.Sprintf(`,"cursor":%q`, page["nextCursor"])
	}
}

// plan text of an occurrence: start, and what is unusual about it.
func times(rows []map[string]any) string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = strings.TrimSuffix(strings.TrimPrefix(r["startAt"].(string), "2026-"), ":00Z")
		if r["status"] != "scheduled" {
			out[i] += " " + r["status"].(string)
		}
		if r["detached"] == true {
			out[i] += " detached"
		}
	}
	return strings.Join(out, ", ")
}

func TestSeriesMakesOccurrences(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s := b.system("S")
		weekly := b.repeat("FREQ=WEEKLY;COUNT=6", "Europe/Berlin", "2026-03-09T22:00:00+01:00", "2026-03-09T23:00:00+01:00", s)
		if got := times(b.of(weekly)); got != "03-09T21:00, 03-16T21:00, 03-23T21:00, 03-30T20:00, 04-06T20:00, 04-13T20:00" {
			t.Errorf("weekly over the change of the clocks: %s", got)
		}
		daily := b.repeat("FREQ=DAILY", "UTC", "2026-03-02T22:00:00Z", "2026-03-02T23:00:00Z", s)
		if n := len(b.of(daily)); n != horizonDays-1 {
			t.Errorf("daily: %d ahead, want %d", n, horizonDays-1)
		}
		yearly := b.repeat("FREQ=YEARLY", "UTC", "2026-12-24T22:00:00Z", "2026-12-24T23:00:00Z", s)
		if got := times(b.of(yearly)); got != "12-24T22:00" {
			t.Errorf("yearly shows %s, want the next one", got)
		}
		running := b.repeat("FREQ=DAILY;COUNT=5", "UTC", "2026-02-27T11:00:00Z", "2026-02-27T13:00:00Z", s)
		if got := times(b.of(running)); got != "03-01T11:00, 03-02T11:00, 03-03T11:00" {
			t.Errorf("begun in the past: %s, want what is not over", got)
		}
		// A day later the daily one has one more, and nothing comes twice.
		b.clock.set(t, "2026-03-02T23:30:00Z")
		b.tick()
		b.tick()
		rows := b.of(daily)
		if len(rows) != horizonDays+1 || rows[0]["status"] != "completed" || rows[horizonDays]["startAt"] != "2026-05-31T22:00:00Z" {
			t.Errorf("a day later: %d, the first %s, the last %s", len(rows), rows[0]["status"], rows[len(rows)-1]["startAt"])
		}
		// Away for most of a year: the windows in between that were never made
		// did not take place, and the yearly one is made when the last has begun.
		b.clock.set(t, "2026-12-24T22:30:00Z")
		b.tick()
		if rows := b.of(yearly); len(rows) != 2 || rows[1]["startAt"] != "2027-12-24T22:00:00Z" {
			t.Errorf("yearly at its time: %s", times(rows))
		}
		for _, m := range b.of(daily) {
			if at(t, m["endAt"].(string)).After(b.clock.Now()) != (m["status"] == "scheduled" || m["status"] == "in_progress") {
				t.Errorf("daily of %s is %s", m["startAt"], m["status"])
			}
		}
		if series := b.must("getSeries", `{"id":%q}`, weekly); series["endedAt"] != "2026-04-13T21:00:00Z" || series["problem"] != nil {
			t.Errorf("a series whose rule has run out: ended %v, problem %v", series["endedAt"], series["problem"])
		}
		if got := fields(list(b.must("listSeries", `{}`), "series"), "rule"); got != "FREQ=YEARLY, FREQ=DAILY" {
			t.Errorf("series that go on: %s", got)
		}
		page := b.must("listSeries", `{"includeEnded":true,"limit":3}`)
		rest := b.must("listSeries", `{"includeEnded":true,"limit":3,"cursor":%q}`, page["nextCursor"])
		if len(list(page, "series")) != 3 || len(list(rest, "series")) != 1 || rest["nextCursor"] != nil {
			t.Errorf("pages of series: %v, %v", page, rest)
		}
	})
}

func TestOneOccurrenceChangesAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s := b.system("S")
		series := b.repeat("FREQ=WEEKLY;COUNT=6", "UTC", "2026-03-02T22:00:00Z", "2026-03-02T23:00:00Z", s)
		o := b.of(series)
		id := func(i int) string { return o[i]["id"].(string) }
		b.must("updateMaintenance", `{"id":%q,"startAt":"2026-03-10T20:00:00Z","endAt":"2026-03-10T21:00:00Z"}`, id(1))
		if m := b.must("skipOccurrence", `{"id":%q}`, id(2)); m["status"] != "cancelled" {
			t.Errorf("skipped, it is %v", m["status"])
		}
		if _, err := b.call(manager, "skipOccurrence", `{"id":"`+id(2)+`"}`); !problem.Is(err, problem.KindConflict) {
			t.Errorf("skipped twice: %v", err)
		}
		b.must("deleteMaintenance", `{"id":%q}`, id(3))
		b.must("addLink", `{"maintenanceId":%q,"label":"x","url":"https://example.com"}`, id(4))
		want := "03-02T22:00, 03-10T20:00 detached, 03-16T22:00 cancelled, 03-30T22:00 detached, 04-06T22:00"
		if got := times(b.of(series)); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		// The series changes around them.
		b.must("updateSeries", `{"id":%q,"title":"Renamed"}`, series)
		if got := fields(b.of(series), "title"); got != "Renamed, Series, Series, Series, Renamed" {
			t.Errorf("renamed: %s", got)
		}
		b.must("updateSeries", `{"id":%q,"startAt":"2026-03-02T20:00:00Z","endAt":"2026-03-02T21:30:00Z"}`, series)
		want = "03-02T20:00, 03-10T20:00 detached, 03-16T22:00 cancelled, 03-30T22:00 detached, 04-06T20:00"
		if got := times(b.of(series)); got != want {
			t.Errorf("moved: got %s\nwant %s", got, want)
		}
		if got := b.of(series)[0]["id"]; got != id(0) {
			t.Errorf("the first has a new id after it was moved")
		}
	})
}

func TestSeriesChanges(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, input string // ID is the series, O3 its third occurrence
		want        string
		series      string // rule, zone and start afterwards
	}{
		{"another time of day from the third on", `{"id":"ID","fromMaintenanceId":"O3","startAt":"2026-03-16T20:00:00Z","endAt":"2026-03-16T20:30:00Z"}`,
			"03-02T21:00, 03-09T21:00, 03-16T20:00, 03-23T20:00, 03-30T19:00, 04-06T19:00", "FREQ=WEEKLY;COUNT=4 Europe/Berlin 2026-03-16T21:00:00"},
		{"another day of the week", `{"id":"ID","startAt":"2026-03-04T21:00:00Z"}`,
			"03-04T21:00, 03-11T21:00, 03-18T21:00, 03-25T21:00, 04-01T20:00, 04-08T20:00", "FREQ=WEEKLY;COUNT=6 Europe/Berlin 2026-03-04T22:00:00"},
		{"another rule from the third on", `{"id":"ID","fromMaintenanceId":"O3","rule":"FREQ=DAILY;COUNT=3"}`,
			"03-02T21:00, 03-09T21:00, 03-16T21:00, 03-17T21:00, 03-18T21:00", "FREQ=DAILY;COUNT=3 Europe/Berlin 2026-03-16T22:00:00"},
		{"another zone keeps the time on the clock", `{"id":"ID","timeZone":"America/New_York"}`,
			"03-03T03:00, 03-10T02:00, 03-17T02:00, 03-24T02:00, 03-31T02:00, 04-07T02:00", "FREQ=WEEKLY;COUNT=6 America/New_York 2026-03-02T22:00:00"},
		{"longer", `{"id":"ID","endAt":"2026-03-03T05:00:00Z"}`,
			"03-02T21:00, 03-09T21:00, 03-16T21:00, 03-23T21:00, 03-30T20:00, 04-06T20:00", "FREQ=WEEKLY;COUNT=6 Europe/Berlin 2026-03-02T22:00:00"},
		{"what is only repeated is no change", `{"id":"ID","rule":"RRULE:freq=weekly;count=6","timeZone":"europe/berlin","startAt":"2026-03-02T22:00:00+01:00","endAt":"2026-03-02T22:00:00Z"}`,
			"03-02T21:00, 03-09T21:00, 03-16T21:00, 03-23T21:00, 03-30T20:00, 04-06T20:00", "FREQ=WEEKLY;COUNT=6 Europe/Berlin 2026-03-02T22:00:00"},
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s := b.system("S")
		for _, r := range rows {
			series := b.repeat("FREQ=WEEKLY;COUNT=6", "Europe/Berlin", "2026-03-02T21:00:00Z", "2026-03-02T22:00:00Z", s)
			before := b.of(series)
			out := b.done("updateSeries", strings.NewReplacer("ID", series, "O3", before[2]["id"].(string)).Replace(r.input))
			after := b.of(series)
			if got := times(after); got != r.want {
				t.Errorf("%s:\n got %s\nwant %s", r.name, got, r.want)
			}
			if got := fmt.Sprint(out["rule"], " ", out["timeZone"], " ", out["startLocal"]); got != r.series {
				t.Errorf("%s: the series is %s, want %s", r.name, got, r.series)
			}
			for i := range min(len(before), len(after)) {
				if before[i]["id"] != after[i]["id"] {
					t.Errorf("%s: occurrence %d has a new id", r.name, i)
				}
			}
		}

		// Once some have begun, they stay as they are.
		series := b.repeat("FREQ=DAILY;COUNT=4", "UTC", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", s)
		b.clock.set(t, "2026-03-03T10:30:00Z")
		b.tick()
		other := b.system("T")
		b.must("updateSeries", `{"id":%q,"systemIds":[%q],"suppressNotifications":true,"description":"Why"}`, series, other)
		if got := fields(b.of(series), "suppressNotifications"); got != "false, false, true, true" {
			t.Errorf("suppression: %s", got)
		}
		if got := b.of(series)[3]; list(got, "systems")[0]["name"] != "T" || got["description"] != "Why" {
			t.Errorf("systems and description: %v", got)
		}
		if _, err := b.call(manager, "updateSeries", `{"id":"`+series+`","startAt":"2026-03-03T10:00:00Z"}`); !strings.Contains(issue(err, "startAt"), "still to come") {
			t.Errorf("moved into the past: %v", err)
		}
		b.must("updateSeries", `{"id":%q,"rule":"FREQ=DAILY;INTERVAL=2;COUNT=2"}`, series)
		if got := times(b.of(series)); got != "03-02T10:00 completed, 03-03T10:00 in_progress, 03-04T10:00, 03-06T10:00" {
			t.Errorf("another rule under way: %s", got)
		}
	})
}

func TestSeriesEnds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s := b.system("S")
		b.clock.set(t, "2026-03-01T12:00:00Z")
		for _, op := range []string{"endSeries", "deleteSeries"} {
			b.clock.set(t, "2026-03-01T12:00:00Z")
			series := b.repeat("FREQ=DAILY", "UTC", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", s)
			b.clock.set(t, "2026-03-03T10:30:00Z")
			b.tick()
			o := b.of(series)
			b.must("updateMaintenance", `{"id":%q,"title":"By hand"}`, o[5]["id"])
			b.must(op, `{"id":%q}`, series)
			for i, want := range map[int]any{0: "completed", 1: "in_progress", 2: nil, 5: "scheduled", 6: nil} {
				m, err := b.call(manager, "getMaintenance", `{"id":"`+o[i]["id"].(string)+`"}`)
				if m["status"] != want || (want == nil) != problem.Is(err, problem.KindNotFound) {
					t.Errorf("%s: occurrence %d is %v, %v; want %v", op, i, m["status"], err, want)
				}
				if err == nil && (m["seriesId"] == nil) != (op == "deleteSeries") {
					t.Errorf("%s: occurrence %d belongs to %v", op, i, m["seriesId"])
				}
			}
			b.clock.move(24 * time.Hour)
			b.tick()
			if n := len(b.of(series)); op == "endSeries" && n != 3 {
				t.Errorf("%s: %d occurrences, want none to come back", op, n)
			}
			if op == "endSeries" {
				for again, input := range map[string]string{"endSeries": `{"id":"` + series + `"}`, "updateSeries": `{"id":"` + series + `","title":"X"}`} {
					if _, err := b.call(manager, again, input); !problem.Is(err, problem.KindConflict) {
						t.Errorf("%s of an ended series: %v", again, err)
					}
				}
			} else if _, err := b.call(manager, "getSeries", `{"id":"`+series+`"}`); !problem.Is(err, problem.KindNotFound) {
				t.Errorf("deleted, it answers %v", err)
			}
		}
	})
}

// TestFC004_StoredUnknownZone: a zone that this version does not know never stops
// anything else and never becomes UTC; the series is shown as broken, and can be
// mended.
func TestFC004_StoredUnknownZone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s := b.system("S")
		broken := b.repeat("FREQ=DAILY", "Europe/Berlin", "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00", s)
		fine := b.repeat("FREQ=DAILY", "Europe/Berlin", "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00", s)
		if _, err := d.Write.NewRaw("UPDATE maintenance_series SET time_zone = 'Europe/Atlantis' WHERE id = ?", broken).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		shown := func() any { return b.must("getSeries", `{"id":%q}`, broken)["problem"] }
		if got, _ := shown().(string); !strings.Contains(got, "Europe/Atlantis") {
			t.Errorf("before the clock looks: %v, want the zone named", got)
		}
		b.clock.set(t, "2026-03-05T12:00:00Z")
		b.tick()
		if n, m := len(b.of(broken)), len(b.of(fine)); n != horizonDays || m != horizonDays+4 {
			t.Errorf("%d and %d occurrences, want no more of the broken one and %d of the other", n, m, horizonDays+4)
		}
		if got := b.of(broken)[0]["status"]; got != "completed" {
			t.Errorf("what was made before is %v", got)
		}
		if _, err := b.call(reader, "getMaintenance", `{"id":"`+b.of(broken)[5]["id"].(string)+`"}`); err != nil {
			t.Errorf("an occurrence of it: %v", err)
		}
		b.must("updateSeries", `{"id":%q,"timeZone":"Europe/Berlin"}`, broken)
		if got := shown(); got != nil {
			t.Errorf("mended, it says %v", got)
		}
		if got, want := times(b.of(broken)), times(b.of(fine)); got != want {
			t.Errorf("mended:\n%s\n%s", got, want)
		}
	})
}

func TestSeriesLosesItsSystems(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s := b.system("S")
		series := b.repeat("FREQ=DAILY", "UTC", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", s)
		if err := b.catalog.DeleteSystem(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		b.clock.set(t, "2026-03-12T12:00:00Z")
		b.tick()
		if n := len(b.of(series)); n != horizonDays {
			t.Errorf("%d occurrences, want no more for no systems", n)
		}
		if got, _ := b.must("getSeries", `{"id":%q}`, series)["problem"].(string); !strings.Contains(got, "deleted") {
			t.Errorf("shown: %q", got)
		}
		b.must("updateSeries", `{"id":%q,"systemIds":[%q]}`, series, b.system("T"))
		b.tick()
		if n := len(b.of(series)); n != horizonDays+11 {
			t.Errorf("%d occurrences with a system again, want %d", n, horizonDays+11)
		}
	})
}
